package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
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

// completeStatement offers what the grammar has a place for behind the text.
func (s *Session) completeStatement(text string) (int, []string) {
	tokens, _ := syntax.Lex(syntax.NewSource("", text))
	tokens = slices.DeleteFunc(tokens, func(t syntax.Token) bool { return t.Kind == syntax.KindSpace || t.Kind == syntax.KindEOF })
	from := len(text)
	if n := len(tokens); n > 0 {
		last := tokens[n-1]
		switch {
		case last.Kind == syntax.KindComment && (strings.HasPrefix(last.Text, "//") && last.Span.End.Offset == len(text) || !strings.HasSuffix(last.Text, "*/")):
			return from, nil
		case last.Kind == syntax.KindBad && strings.IndexByte("'\"`", last.Text[0]) >= 0:
			return s.completeFile(text, last.Span.Start.Offset+1, nil)
		case last.Kind == syntax.KindIdent && last.Span.End.Offset == len(text):
			from, tokens = last.Span.Start.Offset, tokens[:n-1]
		}
	}
	tokens = slices.DeleteFunc(tokens, syntax.Token.Trivia)
	at := place{from: from}
	at.look(text, tokens)
	switch n := len(tokens); {
	case at.call != "": // within the brackets of a connector
		if tokens[n-1].Text != ":" {
			return from, append(s.connOptions(at.call), s.constants()...)
		}
		return from, append([]string{"true", "false"}, s.constants()...)
	case n == 0:
		if extends := s.typed != "" && text != "" && (text[0] == ' ' || text[0] == '\t'); extends {
			return from, nil
		}
		return from, slices.Concat(syntax.Statements, s.inputs())
	case tokens[n-1].Kind == syntax.KindPipe:
		return from, s.stageWords()
	case slices.Contains([]string{"into", "tee"}, tokens[n-1].Text) && at.stage != "aggregate":
		return from, slices.Concat(s.conns(false), s.named("sink"))
	case at.head:
		switch {
		case tokens[0].Text == "set":
			return from, nil
		case tokens[n-1].Kind == syntax.KindAssign && (tokens[0].Text == "stream" || tokens[0].Text == "source" || tokens[0].Text == "sink"):
			if tokens[0].Text == "stream" {
				return from, s.inputs()
			}
			return from, s.conns(tokens[0].Text == "source")
		case tokens[0].Text == "source":
			return from, []string{"schema", "time", "lag", "idle", "key", "on_error"}
		}
		return from, slices.Concat(s.lib.Names("func"), s.constants())
	case tokens[n-1].Text == "join" || at.stage == "union":
		return from, s.inputs()
	}
	return from, s.inStage(text, tokens, at)
}

// place is where in a statement a text ends.
type place struct {
	from  int
	head  bool   // before the first `|>`
	pipe  int    // byte of the last `|>`
	stage string // first word of the stage
	call  string // the connector whose brackets are open, "" if it is none
}

func (p *place) look(text string, tokens []syntax.Token) {
	p.head = true
	var open []int
	for i, t := range tokens {
		switch t.Kind {
		case syntax.KindPipe:
			p.head, p.pipe, p.stage, open = false, t.Span.Start.Offset, "", nil
			if i+1 < len(tokens) {
				p.stage = tokens[i+1].Text
			}
		case syntax.KindOpen:
			open = append(open, i)
		case syntax.KindClose:
			open = open[:max(0, len(open)-1)]
		}
	}
	if n := len(open); n > 0 && open[n-1] > 0 && tokens[open[n-1]].Text == "(" {
		i := open[n-1] - 1
		before := ""
		if i > 0 {
			before = tokens[i-1].Text
		}
		starts := i == 0 || tokens[i].Lead == syntax.LeadMargin || slices.Contains([]string{"=", "into", "tee", "join", "union"}, before)
		if starts && tokens[i].Kind == syntax.KindIdent && tokens[0].Text != "let" && tokens[0].Text != "fn" {
			p.call = tokens[i].Text
		}
	}
}

// inStage offers the columns that reach a stage, functions and clauses.
func (s *Session) inStage(text string, tokens []syntax.Token, at place) []string {
	last := tokens[len(tokens)-1]
	if last.Text == "." {
		return nil
	}
	out := slices.Concat(s.columns(text[:at.pipe]), s.lib.Names("func"), s.constants())
	if at.stage == "aggregate" {
		out = append(out, s.lib.Names("agg")...)
	}
	if last.Kind != syntax.KindComma && last.Kind != syntax.KindOp && last.Kind != syntax.KindOpen && last.Kind != syntax.KindAssign && last.Text != at.stage {
		out = append(out, syntax.Labels...)
		out = append(out, "and", "or", "in", "not")
	}
	return out
}

// columns are those behind what stands before a stage.
func (s *Session) columns(before string) []string {
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
		for _, f := range c.Script.Writes[i].In.Schema.Fields {
			s.known.columns = append(s.known.columns, types.QuoteName(f.Name))
		}
	}
	return slices.Clone(s.known.columns)
}

// known is what was looked up for the last completion.
type known struct {
	text    string
	script  int
	columns []string
}

// stageWords are what follows `|>`.
func (s *Session) stageWords() []string {
	out := slices.Concat(s.lib.Names("stage"), []string{"left join", "full join", "semi join", "anti join", "split", "into", "tee", "union", "pattern"})
	return append(out, s.named("pipe")...)
}

// inputs are what a pipeline begins with.
func (s *Session) inputs() []string { return slices.Concat(s.script.streams(), s.conns(true)) }

func (s *Session) conns(source bool) []string {
	var out []string
	for _, name := range s.lib.Names("conn") {
		if sig := s.lib.Conn(name); source && sig.Source || !source && sig.Sink {
			out = append(out, name)
		}
	}
	return out
}

func (s *Session) connOptions(name string) []string {
	sig := s.lib.Conn(name)
	if sig == nil {
		return nil
	}
	var out []string
	for _, p := range sig.Params {
		out = append(out, p.Name+":")
	}
	return out
}

// constants are the params, lets and functions of the session.
func (s *Session) constants() []string {
	return slices.Concat(s.named("param"), s.named("let"), s.named("fn"))
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
