package lint

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// reading is an expression of the script and what the rules ask of its nodes.
type reading struct {
	*check.Seen
	nodes    []ast.Node // parents first
	said     []nameUse  // its names, once they are asked for
	texts    map[ast.Node]string
	formulae []*formula // its conditions, once they are asked for
	judged   bool
}

// hint is what a rule finds in one use of an expression.
type hint struct {
	at            syntax.Span
	message, help string
	fix           *Fix
}

// everyUse reports what is found in an expression at each of its uses: what the stages of a pipe or the body of a fn say may
// be needed by one caller and not by another.
func (p *Pass) everyUse(find func(*reading) []hint) {
	for _, uses := range p.uses() {
		var agreed []hint
		for i, r := range uses {
			found := find(r)
			if i == 0 {
				agreed = found
				continue
			}
			both := agreed[:0:0]
			for _, h := range agreed {
				for _, g := range found {
					if g.at == h.at {
						if !sameFix(h.fix, g.fix) {
							h.fix = nil
						}
						both = append(both, h)
						break
					}
				}
			}
			agreed = both
		}
		for _, h := range agreed {
			p.Report(h.at, h.message, h.help, h.fix)
		}
	}
}

func sameFix(a, b *Fix) bool {
	if a == nil || b == nil || a.Applicability != b.Applicability || len(a.Edits) != len(b.Edits) {
		return a == b
	}
	for i := range a.Edits {
		if a.Edits[i] != b.Edits[i] {
			return false
		}
	}
	return true
}

// uses groups the expressions of the script by where they are written, in the order in which they were checked.
func (s *Script) uses() [][]*reading {
	if s.readings != nil {
		return s.readings
	}
	at := make(map[*syntax.Expr]int, len(s.Exprs))
	all := make([][]*reading, 0, len(s.Exprs))
	made := make([]reading, len(s.Exprs))
	first := make([]*reading, len(s.Exprs)) // nearly all have one use
	for k, e := range s.Exprs {
		made[k].Seen, first[k] = e, &made[k]
		if i, known := at[e.Expr]; known {
			all[i] = append(all[i], &made[k])
		} else {
			at[e.Expr], all = len(all), append(all, first[k:k+1:k+1])
		}
	}
	s.readings = all
	return all
}

// each calls f for every node, parents first, once for those that the tree shares.
func (r *reading) each(f func(ast.Node)) {
	if r.nodes == nil {
		var been map[ast.Node]bool
		r.collect(r.Tree, &been)
	}
	for _, n := range r.nodes {
		f(n)
	}
}

// collect enters a node and all below it. been holds those that are known, once there are so many that looking for one takes long.
func (r *reading) collect(n ast.Node, been *map[ast.Node]bool) {
	if n == nil || (*been)[n] || *been == nil && slices.Contains(r.nodes, n) {
		return
	}
	if *been == nil && len(r.nodes) == 32 {
		*been = map[ast.Node]bool{}
		for _, m := range r.nodes {
			(*been)[m] = true
		}
	}
	if *been != nil {
		(*been)[n] = true
	}
	r.nodes = append(r.nodes, n)
	for _, k := range check.Below(n) {
		if call, is := n.(*ast.CallNode); is && k == call.Callee {
			continue // a name that is no value
		}
		r.collect(k, been)
	}
}

// text is a node as it stands in the script but for blanks, comments and needless quotes: equal texts in one scope mean the same.
func (r *reading) text(n ast.Node) string {
	if s, known := r.texts[n]; known {
		return s
	}
	if r.texts == nil {
		r.texts = map[ast.Node]string{}
	}
	var b strings.Builder
	at := r.Span(n)
	for _, t := range r.Expr.Tokens {
		if t.Span.Start.Offset < at.Start.Offset || t.Span.End.Offset > at.End.Offset {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if name := tokenName(t); t.Kind == syntax.KindQuoted && plainName(name) {
			b.WriteString(name)
		} else {
			b.WriteString(t.Text)
		}
	}
	s := b.String()
	r.texts[n] = s
	return s
}

// tokenName is the name that a token stands for.
func tokenName(t syntax.Token) string {
	if t.Kind == syntax.KindQuoted {
		return syntax.Unquote(strings.TrimPrefix(t.Text, "@"))
	}
	return t.Text
}

// plainName reports whether a name in quotes needs none.
func plainName(name string) bool {
	tokens, _ := syntax.Lex(syntax.NewSource("", name))
	return len(tokens) > 0 && tokens[0].Kind == syntax.KindIdent && tokens[0].Text == name && !slices.Contains(operatorWords, name)
}

var operatorWords = []string{"and", "or", "not", "in", "matches", "contains", "startsWith", "endsWith", "if", "else", "let", "true", "false", "nil"}

// short is a node for a message: in one line, without comments, and not too long.
func (r *reading) short(n ast.Node) string {
	var b strings.Builder
	at := r.Span(n)
	end := at.Start.Offset
	for _, t := range r.Expr.Tokens {
		if t.Span.Start.Offset < at.Start.Offset || t.Span.End.Offset > at.End.Offset {
			continue
		}
		if t.Span.Start.Offset > end {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
		end = t.Span.End.Offset
	}
	s := []rune(b.String())
	if len(s) > 60 {
		return string(s[:59]) + "…"
	}
	return string(s)
}

// literal is the value that a node is by its very text; nil if it names anything.
func (r *reading) literal(n ast.Node) *types.Expr {
	switch n := n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return r.Type(n)
	case *ast.UnaryNode:
		if (n.Operator == "-" || n.Operator == "+") && r.literal(n.Node) != nil {
			if x := r.Type(n); x != nil && x.Op == types.OpConst {
				return x
			}
		}
	case *ast.IdentifierNode: // durations and times
		s := strings.TrimPrefix(r.Written(n), "@")
		if x := r.Type(n); x != nil && x.Op == types.OpConst && s != "" && s[0] >= '0' && s[0] <= '9' {
			return x
		}
	}
	return nil
}

// call gives the name of the function that a node calls, and its arguments; "" if it is no call.
func (r *reading) call(n ast.Node) (string, []ast.Node) {
	switch n := n.(type) {
	case *ast.BuiltinNode:
		return n.Name, n.Arguments
	case *ast.CallNode:
		if _, ok := n.Callee.(*ast.IdentifierNode); ok {
			return r.Expr.Source.Slice(r.Operator(n)), n.Arguments
		}
	}
	return "", nil
}

// steady reports whether a node gives the same value wherever it stands in one row.
func (r *reading) steady(n ast.Node) bool {
	x := r.Type(n)
	return x != nil && x.Pure()
}

// kind is the kind of a node's values, Invalid if it has none of its own.
func (r *reading) kind(n ast.Node) types.Kind {
	if x := r.Type(n); x != nil {
		return x.Type.Kind
	}
	return types.Invalid
}

// before is the end of the token in front of a place.
func (r *reading) before(at syntax.Pos) syntax.Pos {
	end := r.Expr.Start
	for _, t := range r.Expr.Tokens {
		if t.Span.Start.Offset >= at.Offset {
			break
		}
		end = t.Span.End
	}
	return end
}

// after is the start of the token behind a place.
func (r *reading) after(at syntax.Pos) syntax.Pos {
	for _, t := range r.Expr.Tokens {
		if t.Span.Start.Offset >= at.Offset {
			return t.Span.Start
		}
	}
	return r.Expr.End
}

// cut is a fix that takes a span away; nil if a comment would go with it.
func (s *Script) cut(at syntax.Span, a Applicability, text string) *Fix {
	for _, c := range s.Tree.Comments {
		if c.Span.Start.Offset < at.End.Offset && at.Start.Offset < c.Span.End.Offset {
			return nil
		}
	}
	return replace(at, "", a, text)
}

// unfailing reports whether a typed expression has a value for every row.
func unfailing(x *types.Expr) bool {
	ok := x != nil
	x.Walk(func(y *types.Expr) bool {
		switch y.Op {
		case types.OpIsland, types.OpIndex:
			ok = false
		case types.OpCall:
			switch y.Name {
			case "==", "!=", "<", "<=", ">", ">=", "in", "not", "neg", "+", "-", "*", "/", "contains", "startsWith", "endsWith",
				"lower", "upper", "len", "trim", "abs", "round", "floor", "ceil", "hour", "minute", "second", "day", "month", "year", "weekday":
			case "matches":
				ok = ok && y.Args[1].Op == types.OpConst
			default:
				ok = false
			}
		}
		return ok
	})
	return ok
}
