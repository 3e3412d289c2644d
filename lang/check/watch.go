package check

import (
	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Watch is told what the checker understands, as it goes, for those who say more of a script than whether it is right: a
// linter, an editor. What is nil is not called. What is wrong is not told of.
type Watch struct {
	// Expr gets each expression, once for each use: the stages of a pipe are checked wherever it is called. The body of a
	// fn comes once, with its parameters as columns.
	Expr func(*Seen)
	// Stage gets each stage, once for each use, and the text that it stands in. made.In and made.Out are its rows; a stage that
	// ends its pipeline has no Out.
	Stage func(src *syntax.Source, s *syntax.Stage, made *Stage)
	// Use gets each `use` of the script itself that could be read: what the statements of that file define, and what it has
	// from the files that it uses, by name: param, let, fn, pipe, source, sink or stream.
	Use func(u *syntax.Use, own, further map[string]string)
}

// Seen is an expression as the checker understood it.
type Seen struct {
	Expr *syntax.Expr
	Tree ast.Node // what expr's parser made of it; names that it does not know are replaced, so ask Written for the text of a node
	t    *typer
}

// Type gives a node of Tree with its type, nil where none was needed (a part of a list that is taken as a whole, a closure).
func (s *Seen) Type(n ast.Node) *types.Expr {
	x, _ := s.t.memo.get(n)
	return x
}

// Any reports whether something is so for what a node of Tree is, or for what that is made of.
func (s *Seen) Any(is func(*types.Expr) bool) bool {
	for x := range s.t.memo.all() {
		if x.Any(is) {
			return true
		}
	}
	return false
}

// Span is where a node of Tree stands in the text of its script, from its first to its last operand.
func (s *Seen) Span(n ast.Node) syntax.Span { return s.t.text.span(s.t.closed(n)) }

// Operator is where the operator of a node stands, or the name of the function that it calls.
func (s *Seen) Operator(n ast.Node) syntax.Span { return s.t.text.span(n.Location()) }

// Written is the text of a node as it stands in the script.
func (s *Seen) Written(n ast.Node) string { return s.Expr.Source.Slice(s.Span(n)) }

// used tells who watches of the files that the script uses.
func (c *checker) used(main *unit) {
	if w := c.opts.Watch; w == nil || w.Use == nil {
		return
	}
	for u, f := range main.by {
		own, further := map[string]string{}, map[string]string{}
		for _, d := range c.decls {
			switch {
			case d.name == "" || d.stmt == nil:
			case d.file == f:
				own[d.name] = d.kind
			case f.sees[d.file]:
				further[d.name] = d.kind
			}
		}
		c.opts.Watch.Use(u, own, further)
	}
}

// seen tells who watches of an expression that is right.
func (t *typer) seen() {
	if w := t.c.opts.Watch; w != nil && w.Expr != nil && len(t.c.calls) == 0 && t.c.quiet == 0 {
		w.Expr(&Seen{Expr: t.text.expr, Tree: t.tree, t: t})
	}
}

// seen tells who watches of a stage that is right.
func (u *stageUse) seen() {
	if w := u.c.opts.Watch; w != nil && w.Stage != nil && u.ok && u.c.quiet == 0 {
		w.Stage(u.c.frame.file.src, u.stage, u.made)
	}
}
