package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/complete"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// Complete returns what may stand at the end of a text that is typed, sorted, and from which byte on it would stand there.
func (s *Session) Complete(text string) (from int, words []string) {
	if IsCommand(text) || text == "." {
		from, words = s.completeCommand(text)
	} else {
		from, words = s.completeStatement(text)
	}
	typed := text[from:]
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, typed) })
	slices.Sort(words)
	return from, slices.Compact(words)
}

// completeStatement offers what the grammar has a place for behind the text.
func (s *Session) completeStatement(text string) (int, []string) {
	from, items := complete.At(text, completing{s.lib, s})
	if line := strings.TrimLeft(text, " \t"); line != text && len(line) == len(text)-from && s.typed != "" {
		return from, nil // goes on with the statement before
	}
	words := make([]string, len(items))
	for i, x := range items {
		words[i] = x.Text
	}
	return from, words
}

// completing is what completion asks of a session.
type completing struct {
	*stdlib.Catalog
	s *Session
}

func (c completing) Named(keyword string) []string       { return c.s.named(keyword) }
func (c completing) Columns(before string) []types.Field { return c.s.columns(before) }
func (c completing) Files(typed string) []string {
	_, files := c.s.completeFile(typed, 0, nil)
	return files
}

// completeCommand offers commands, flags, and what the command says of its arguments.
func (s *Session) completeCommand(text string) (int, []string) {
	name, rest, args := strings.Cut(text, " ")
	if !args {
		if strings.HasPrefix(text, "?") {
			return 1, Topics(s.lib)
		}
		var out []string
		for _, c := range Commands() {
			out = append(out, "."+c.Name)
		}
		return 0, out
	}
	c := findCommand(strings.TrimPrefix(name, "."))
	if c == nil {
		return len(text), nil
	}
	start := len(text) - len(rest)
	var list []string
	last, from := "", len(text)
	for at := start; at < len(text); {
		for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
		word, after, quoted, err := cutWord(text[at:])
		if err != nil { // in quotes
			return s.completeFile(text, at+1, nil)
		}
		end := len(text) - len(after)
		if end == len(text) && !quoted && word != "" {
			last, from = word, at
			break
		}
		if word != "" {
			list = append(list, word)
		}
		at = end
	}
	if strings.HasPrefix(last, "-") {
		var out []string
		for _, f := range c.Flags {
			out = append(out, f.Name)
		}
		return from, out
	}
	if n := len(list); n > 0 {
		if f := c.flag(list[n-1]); f != nil && f.Value == "JOB" {
			return from, s.jobNames()
		}
	}
	var out []string
	if c.Complete != nil {
		out = c.Complete(s, append(list, last))
	}
	if strings.Contains(c.Args, "FILE") {
		return s.completeFile(text, from, out)
	}
	return from, out
}

// completeFile adds the files that a path may go on with.
func (s *Session) completeFile(text string, from int, more []string) (int, []string) {
	dir, base := filepath.Split(text[from:])
	folder := dir
	if folder == "" {
		folder = "."
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return from, more
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		more = append(more, dir+name)
	}
	return from, more
}

// columns are those behind what stands before a stage.
func (s *Session) columns(before string) []types.Field {
	if strings.HasPrefix(before, "stream ") {
		if _, after, ok := strings.Cut(before, "="); ok {
			before = after
		}
	}
	before = strings.TrimSpace(before)
	if before == "" || strings.HasPrefix(before, "|>") {
		before = strings.TrimSpace(s.typed + "\n" + before)
	}
	if before == "" {
		return nil
	}
	if s.known.text != before || s.known.script != len(s.script.undo) {
		s.known.text, s.known.script, s.known.columns = before, len(s.script.undo), nil
		c, err := s.compile(before, s.withLast(before, s.script.definitions()), planner.Options{Parallelism: 1, Set: s.opts.Plan.Set, Only: printedOnly})
		if err != nil {
			return nil
		}
		i := slices.IndexFunc(c.Script.Writes, func(w *check.Write) bool { return w.Conn == nil })
		if i < 0 {
			return nil
		}
		s.known.columns = c.Script.Writes[i].In.Schema.Fields
	}
	return slices.Clone(s.known.columns)
}

// known is what was looked up for the last completion.
type known struct {
	text    string
	script  int
	columns []types.Field
}

// named are the names that statements of a kind define.
func (s *Session) named(kind string) []string {
	var out []string
	for _, x := range s.script.stmts {
		if rest, ok := strings.CutPrefix(x.what, kind+" "); ok {
			out = append(out, rest)
		}
	}
	return out
}
