package repl

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
)

// statements takes up what was typed: definitions and pipelines with an output become part of the script, those without
// are shown.
func (s *Session) statements(text string) error {
	if s.extends(text) {
		text = s.typed + "\n" + text
	}
	tree, diags := syntax.Parse(typedName, text)
	if broken := wrong(diags, tree.Source); broken != nil {
		return broken
	}
	text = tree.Source.Text
	if len(tree.Stmts) == 0 {
		s.comment = strings.TrimSpace(s.comment + "\n" + strings.TrimSpace(text)) // goes with the next statement
		return nil
	}
	parts := cut(tree)
	if s.comment != "" {
		parts[0].text = s.comment + "\n" + parts[0].text
		s.comment = ""
	}
	var add []statement
	for i, stmt := range tree.Stmts {
		if parts[i].name == "_" {
			return errors.New("`_` is the last result: give it another name")
		}
		if !bare(stmt) {
			x, err := s.expanded(stmt, parts[i])
			if err != nil {
				return err
			}
			add = append(add, x)
		}
	}
	if len(add) > 0 {
		if err := s.define(blank(tree, func(i int) bool { return !bare(tree.Stmts[i]) }), add); err != nil {
			return err
		}
	}
	for i, stmt := range tree.Stmts {
		if !bare(stmt) {
			continue
		}
		if err := s.preview(blank(tree, func(k int) bool { return k == i }), stmt, tree.Source); err != nil {
			return err
		}
	}
	if !bare(tree.Stmts[len(tree.Stmts)-1]) {
		s.typed = add[len(add)-1].text
	}
	return nil
}

// extends reports whether a text goes on with the statement before it: it begins with |> or, as one line, with a blank.
func (s *Session) extends(text string) bool {
	if s.typed == "" {
		return false
	}
	if strings.HasPrefix(text, "|>") {
		return true
	}
	if text == "" || text[0] != ' ' && text[0] != '\t' || strings.Contains(strings.TrimSpace(text), "\n") {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return !slices.Contains(syntax.Statements, word)
}

// blank returns the text of a script with blanks in the place of some statements: what is left keeps its lines.
func blank(tree *syntax.Script, keep func(i int) bool) string {
	text := []byte(tree.Source.Text)
	for i, stmt := range tree.Stmts {
		if keep(i) {
			continue
		}
		at := stmt.Range()
		for k := at.Start.Offset; k < at.End.Offset; k++ {
			if text[k] != '\n' {
				text[k] = ' '
			}
		}
	}
	return string(text)
}

// define makes statements part of the script if it is still right with them, and tells what came of it. typed is the text
// they came with.
func (s *Session) define(typed string, add []statement) error {
	var fresh []statement
	for _, a := range add {
		if i := s.script.find(a); i >= 0 && s.script.stmts[i].text == a.text {
			s.Screen.Note(a.what + " is the same as before")
			continue
		}
		fresh = append(fresh, a)
	}
	if len(fresh) == 0 {
		return nil
	}
	next := s.script.with(add)
	var rest []statement // all others
	for _, x := range next.stmts {
		if !slices.ContainsFunc(add, func(a statement) bool { return a.text == x.text && a.key == x.key }) {
			rest = append(rest, x)
		}
	}
	if _, err := s.compile(typed, s.withLast(typed, rest), s.opts.Plan); err != nil {
		return s.refuse(err, fresh)
	}
	before := s.script
	s.script = *next
	looks := s.looks(fresh)
	for i, a := range fresh {
		s.Screen.Note(s.news(&before, a, looks[i]))
	}
	s.changed()
	return nil
}

// refuse says of which statements the errors are when a new definition does not suit those that use it.
func (s *Session) refuse(err error, add []statement) error {
	e, ok := errors.AsType[*ScriptError](err)
	if !ok || e.typedOnly() {
		return err
	}
	what := add[0].what
	if len(add) > 1 {
		what = "the new text"
	}
	e.Lead = fmt.Sprintf("%s does not suit what uses it; nothing was changed", what)
	e.Help = "change both in one go: paste them together, or use .edit; .streams lists what there is"
	return err
}

// news tells what a statement did; look is what is known of it.
func (s *Session) news(before *script, a statement, look string) string {
	text := a.what
	if look != "" {
		text += ": " + look
	}
	if a.writes() {
		text += " is part of the script; .run starts it"
	}
	if before.find(a) < 0 {
		return text
	}
	if a.writes() {
		return text + " (it replaces the one before)"
	}
	users := s.script.users(a.name)
	switch len(users) {
	case 0:
		return text + " (changed)"
	case 1:
		return fmt.Sprintf("%s (changed; 1 other uses it and is still right)", text)
	}
	return fmt.Sprintf("%s (changed; %d others use it and are still right)", text, len(users))
}

// expanded is a statement whose pipeline begins with `_`, with the last result in its place.
func (s *Session) expanded(stmt syntax.Stmt, x statement) (statement, error) {
	p := pipelineOf(stmt)
	if p == nil || p.From == nil || p.From.Name != "_" {
		return x, nil
	}
	if s.last == "" {
		return x, errors.New("`_` is the last result, and there is none yet: type a pipeline first")
	}
	// The head is the first `_` of the pipeline: what is before it is a keyword, a name and comments.
	own, _ := syntax.Parse(typedName, x.text)
	if len(own.Stmts) != 1 || pipelineOf(own.Stmts[0]) == nil {
		return x, nil
	}
	head := pipelineOf(own.Stmts[0]).From.Span
	rest := x.text[head.End.Offset:]
	last := strings.ReplaceAll(s.last, "\n", "\n    ")
	if rest != "" && !strings.HasPrefix(rest, "\n") {
		rest = "\n    " + strings.TrimLeft(rest, " \t")
	}
	x.text = x.text[:head.Start.Offset] + last + rest
	return x, nil
}

// pipelineOf is the pipeline of a stream or of a bare pipeline.
func pipelineOf(stmt syntax.Stmt) *syntax.Pipeline {
	switch x := stmt.(type) {
	case *syntax.Stream:
		return x.Pipeline
	case *syntax.PipelineStmt:
		return x.Pipeline
	}
	return nil
}

// withLast adds what `_` stands for where a text speaks of it.
func (s *Session) withLast(typed string, others []statement) []statement {
	if s.last == "" || !strings.Contains(typed, "_") {
		return others
	}
	tree, _ := syntax.Parse(typedName, typed)
	for _, stmt := range tree.Stmts {
		if p := pipelineOf(stmt); p != nil && p.From != nil && p.From.Name == "_" {
			return append(slices.Clone(others), statement{what: "_", text: "stream _ = " + strings.ReplaceAll(s.last, "\n", "\n    ")})
		}
	}
	return others
}

// compileScript compiles the whole script of the session.
func (s *Session) compileScript(o planner.Options) (*planner.Compiled, error) {
	return s.compile("", s.script.stmts, o)
}

// rebase changes the path of a `use` in a text that moves from one folder to another.
func rebase(text, from, to string) string {
	tree, _ := syntax.Parse(typedName, text)
	for i := len(tree.Stmts) - 1; i >= 0; i-- {
		u, ok := tree.Stmts[i].(*syntax.Use)
		if !ok || u.Path == "" || filepath.IsAbs(u.Path) {
			continue
		}
		path, err := filepath.Rel(to, filepath.Join(from, u.Path))
		if err != nil {
			continue
		}
		text = text[:u.PathAt.Start.Offset] + fmt.Sprintf("%q", filepath.ToSlash(path)) + text[u.PathAt.End.Offset:]
	}
	return text
}
