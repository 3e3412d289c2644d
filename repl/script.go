package repl

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// script is what the statements of the session have built so far.
type script struct {
	stmts []statement
	undo  []change // newest last
}

// change is what a script was before a change.
type change struct {
	stmts []statement
	what  string // has been changed
}

// statement is one statement with the comments that belong to it: those before it and those on its last line.
type statement struct {
	key   string // of what it defines; "" for a pipeline that writes what has no name of its own
	what  string // "stream hot", for messages
	name  string // "hot", "" if it names nothing
	text  string
	tight bool // no blank line is before it
}

// text is the script, with more behind it. `ebb run` of it means the same.
func (s *script) text(more ...string) string {
	var out strings.Builder
	for i, x := range s.stmts {
		if i > 0 && !x.tight {
			out.WriteByte('\n')
		}
		out.WriteString(x.text + "\n")
	}
	for _, m := range more {
		out.WriteString("\n" + m + "\n")
	}
	return out.String()
}

// with returns the script with statements added; one that defines a name takes the place of the one that did.
func (s *script) with(add []statement) *script {
	out := &script{stmts: slices.Clone(s.stmts), undo: s.undo}
	var what []string
	for _, a := range add {
		i := out.find(a)
		if i >= 0 {
			a.tight = out.stmts[i].tight
			out.stmts[i] = a
		} else {
			a.tight = a.tight && len(out.stmts) > 0
			out.stmts = append(out.stmts, a)
		}
		what = append(what, a.what)
	}
	out.note(s.stmts, strings.Join(what, ", "))
	return out
}

// note keeps what the script was, so that the change can be undone.
func (s *script) note(before []statement, what string) {
	s.undo = append(slices.Clone(s.undo), change{before, what})
}

// find returns the place of the statement that one would replace, -1 if there is none.
func (s *script) find(a statement) int {
	return slices.IndexFunc(s.stmts, func(x statement) bool {
		if a.key == "" {
			return x.text == a.text
		}
		return x.key == a.key
	})
}

// named returns the statement that defines a name, nil if none does.
func (s *script) named(name string) *statement {
	i := slices.IndexFunc(s.stmts, func(x statement) bool { return x.name == name && name != "" })
	if i < 0 {
		return nil
	}
	return &s.stmts[i]
}

// definitions are the statements without the pipelines that write.
func (s *script) definitions() []statement {
	return slices.DeleteFunc(slices.Clone(s.stmts), func(x statement) bool { return x.writes() })
}

// writes reports whether the statement is a pipeline.
func (x statement) writes() bool { return x.key == "" || strings.HasPrefix(x.key, "into ") }

// describe fills in what a statement defines.
func describe(stmt syntax.Stmt, src *syntax.Source) statement {
	named := func(kind string, name syntax.Ident) statement {
		return statement{key: "name " + name.Name, what: kind + " " + name.Name, name: name.Name}
	}
	switch x := stmt.(type) {
	case *syntax.Use:
		return statement{key: "use " + filepath.Clean(x.Path), what: "use " + strconv.Quote(x.Path)}
	case *syntax.Param:
		return named("param", x.Name)
	case *syntax.Let:
		return named("let", x.Name)
	case *syntax.Fn:
		return named("fn", x.Name)
	case *syntax.Pipe:
		return named("pipe", x.Name)
	case *syntax.SourceStmt:
		return named("source", x.Name)
	case *syntax.SinkStmt:
		return named("sink", x.Name)
	case *syntax.Stream:
		return named("stream", x.Name)
	case *syntax.Set:
		return statement{key: "set " + x.Key.Name, what: "set " + x.Key.Name}
	case *syntax.Test:
		return statement{key: "test " + x.What, what: "test " + strconv.Quote(x.What)}
	case *syntax.PipelineStmt:
		target := lastTarget(x.Pipeline)
		if target == nil {
			return statement{what: "the pipeline"}
		}
		text := strings.Join(strings.Fields(src.Slice(target.Span)), " ")
		if target.Call == nil { // several pipelines may write it
			return statement{what: "the pipeline into " + text}
		}
		return statement{key: "into " + text, what: "the pipeline into " + text}
	}
	return statement{what: fmt.Sprintf("%T", stmt)}
}

// lastTarget is where a pipeline ends, nil if it does not end in an output.
func lastTarget(p *syntax.Pipeline) *syntax.Target {
	if len(p.Stages) == 0 {
		return nil
	}
	if last := p.Stages[len(p.Stages)-1]; last.Name.Name == "into" {
		return last.Target
	}
	return nil
}

// bare reports whether a statement is a pipeline whose rows go nowhere: it is shown.
func bare(stmt syntax.Stmt) bool {
	p, ok := stmt.(*syntax.PipelineStmt)
	if !ok {
		return false
	}
	n := len(p.Pipeline.Stages)
	return n == 0 || p.Pipeline.Stages[n-1].Name.Name != "into" && p.Pipeline.Stages[n-1].Name.Name != "split"
}

// cut cuts a parsed text into its statements.
func cut(tree *syntax.Script) []statement {
	text := tree.Source.Text
	var out []statement
	from := 0
	for i, stmt := range tree.Stmts {
		x := describe(stmt, tree.Source)
		end := stmt.Range().End.Offset
		if rest, _, _ := strings.Cut(text[end:], "\n"); strings.HasPrefix(strings.TrimLeft(rest, " \t"), "//") {
			end += len(rest)
		}
		if i == len(tree.Stmts)-1 {
			end = len(text) // with the comments at the end
		}
		piece := text[from:end]
		blank := piece[:len(piece)-len(strings.TrimLeft(piece, " \t\n"))]
		x.tight = i > 0 && strings.Count(blank, "\n") < 2
		x.text = strings.TrimSpace(piece)
		out = append(out, x)
		from = end
	}
	return out
}
