package repl

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// A written is an output path that a script says in plain text.
type written struct {
	at   syntax.Span // of the text, with its quotes
	path string
}

// writtenPaths returns the paths of the outputs of a script. An output whose path is computed is an error: it cannot be
// changed.
func writtenPaths(text string) ([]written, error) {
	tree, diags := syntax.Parse("<session>", text)
	if broken := wrong(diags, tree.Source); broken != nil {
		return nil, broken
	}
	var out []written
	var err error
	call := func(c *syntax.Call) {
		if c == nil {
			return
		}
		for i, a := range c.Args {
			if i > 0 && a.Name == nil || a.Name != nil && a.Name.Name != "path" || a.Expr == nil {
				continue
			}
			path, ok := strconv.Unquote(a.Expr.Text)
			if ok != nil {
				err = fmt.Errorf("the path of the output %s is computed; only one that stands in the script as a text can be changed", a.Expr.Text)
				return
			}
			out = append(out, written{a.Expr.Span, path})
			return
		}
	}
	pipe := func(p *syntax.Pipeline) {
		for _, st := range p.Stages {
			targets := []*syntax.Target{st.Target}
			for _, c := range st.Clauses {
				targets = append(targets, c.Target)
			}
			for _, c := range st.Cases {
				targets = append(targets, c.Target)
			}
			for _, t := range targets {
				if t != nil {
					call(t.Call)
				}
			}
		}
	}
	for _, x := range tree.Stmts {
		switch x := x.(type) {
		case *syntax.SinkStmt:
			call(x.Call)
		case *syntax.Stream:
			pipe(x.Pipeline)
		case *syntax.PipelineStmt:
			pipe(x.Pipeline)
		}
	}
	slices.SortFunc(out, func(a, b written) int { return a.at.Start.Offset - b.at.Start.Offset })
	return out, err
}

// beside is the path of a fork's output beside that of its job: a/out.csv.gz becomes a/out.NAME.csv.gz.
func beside(path, name string) string {
	dir, file := filepath.Split(path)
	stem, ext, ok := strings.Cut(file, ".")
	if stem == "" && ok { // a hidden file
		stem, ext, ok = strings.Cut(ext, ".")
		stem = "." + stem
	}
	if ok {
		ext = "." + ext
	}
	return dir + stem + "." + name + ext
}

// withOutputs returns a script whose outputs are beside those it has now, and the paths, old and new.
func withOutputs(text, name string, fsys exec.FS) (changed string, moved [][2]string, err error) {
	paths, err := writtenPaths(text)
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	at := 0
	for _, p := range paths {
		if exec.Passing(p.path, fsys) {
			continue
		}
		b.WriteString(text[at:p.at.Start.Offset])
		b.WriteString(strconv.Quote(beside(p.path, name)))
		at = p.at.End.Offset
		moved = append(moved, [2]string{p.path, beside(p.path, name)})
	}
	b.WriteString(text[at:])
	return b.String(), moved, nil
}
