package repl

import (
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
)

// script is what the statements of the session have built so far.
type script struct {
	stmts []statement
	undo  [][]statement // what it was before each change
}

type statement struct {
	key  string // kind and name of what it defines; "" for a pipeline
	text string
}

// text is the script, with more behind it.
func (s *script) text(more ...string) string {
	var out []string
	for _, x := range s.stmts {
		out = append(out, x.text)
	}
	return strings.Join(append(out, more...), "\n\n") + "\n"
}

// with returns the script with statements added; one that defines a name takes the place of the one that did.
func (s *script) with(add []statement) *script {
	out := &script{stmts: slices.Clone(s.stmts), undo: s.undo}
	for _, a := range add {
		i := -1
		if a.key != "" {
			i = slices.IndexFunc(out.stmts, func(x statement) bool { return x.key == a.key })
		}
		if i >= 0 {
			out.stmts[i] = a
		} else {
			out.stmts = append(out.stmts, a)
		}
	}
	out.undo = append(out.undo, s.stmts)
	return out
}

// key names what a statement defines.
func key(stmt syntax.Stmt) string {
	switch x := stmt.(type) {
	case *syntax.Use:
		return "use " + x.Path
	case *syntax.Param:
		return "name " + x.Name.Name
	case *syntax.Let:
		return "name " + x.Name.Name
	case *syntax.Fn:
		return "fn " + x.Name.Name
	case *syntax.Pipe:
		return "pipe " + x.Name.Name
	case *syntax.SourceStmt:
		return "name " + x.Name.Name
	case *syntax.SinkStmt:
		return "sink " + x.Name.Name
	case *syntax.Stream:
		return "name " + x.Name.Name
	case *syntax.Set:
		return "set " + x.Key.Name
	case *syntax.Test:
		return "test " + x.What
	}
	return ""
}

// statements takes up what was typed: definitions and pipelines with an output become part of the script, a bare pipeline
// is shown.
func (s *Session) statements(text string) error {
	tree, diags := syntax.Parse("<session>", text)
	if broken := wrong(diags, tree.Source); broken != nil {
		return broken
	}
	var add []statement
	for _, stmt := range tree.Stmts {
		at := stmt.Range()
		part := strings.TrimSpace(text[at.Start.Offset:at.End.Offset])
		if p, ok := stmt.(*syntax.PipelineStmt); ok && bare(p.Pipeline) {
			if err := s.define(add); err != nil {
				return err
			}
			add, s.last = nil, part
			if err := s.preview(part); err != nil {
				return err
			}
			continue
		}
		add = append(add, statement{key(stmt), part})
	}
	return s.define(add)
}

// bare reports whether a pipeline ends without an output.
func bare(p *syntax.Pipeline) bool {
	return len(p.Stages) == 0 || p.Stages[len(p.Stages)-1].Name.Name != "into"
}

// define makes statements part of the script if it is still right with them.
func (s *Session) define(add []statement) error {
	if len(add) == 0 {
		return nil
	}
	next := s.script.with(add)
	if _, err := s.compile(next.text()); err != nil {
		return err
	}
	s.script = *next
	return nil
}

// compile compiles a text with the options of the session.
func (s *Session) compile(text string) (*planner.Compiled, error) {
	c, diags, err := planner.Compile("<session>", text, s.lib, s.env(), s.opts.Plan)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, &ScriptError{diags}
	}
	return c, nil
}

func wrong(diags []syntax.Diagnostic, src *syntax.Source) error {
	var out []check.Diagnostic
	for _, d := range diags {
		if d.Severity == syntax.SevError {
			out = append(out, check.Diagnostic{Diagnostic: d, Source: src})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &ScriptError{out}
}

// definitions is the text of the script without its pipelines that write.
func (s *script) definitions() string {
	var out strings.Builder
	for _, x := range s.stmts {
		if x.key != "" {
			out.WriteString(x.text + "\n\n")
		}
	}
	return out.String()
}
