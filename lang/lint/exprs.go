package lint

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// X: what expressions say that was hardly meant. Conditions that say nothing are in exprs_truth.go.
var _ = define(
	Rule{
		Code: "X302", Name: "float-equality", Severity: syntax.SevWarn,
		Text: "`==` or `!=` compares a computed float, or a fraction.",
		Why: "A computed float is rarely exactly the one that is expected: `0.1 + 0.2 == 0.3` is false. Compare with a tolerance, round both " +
			"sides, or count in ints, for example in cents. Values that nobody has computed may be compared, and so may whole numbers such as `0.0`.",
		Bad:   "csv(\"orders.csv\") |> where amount == 10.1\n",
		Good:  "csv(\"orders.csv\") |> where abs(amount - 10.1) < 0.005\n",
		Check: func(p *Pass) { p.everyUse(floatEquality) },
	},
	Rule{
		Code: "X303", Name: "division-by-zero", Severity: syntax.SevError,
		Text: "A number is divided by a literal zero.",
		Why:  "`%` and `div` by zero fail for every row, and `/` gives infinity or NaN for every row. None of it can be meant.",
		Bad:  "csv(\"orders.csv\") |> derive rest = id % 0\n",
		Good: "csv(\"orders.csv\") |> derive rest = id % 10\n",
		Check: func(p *Pass) {
			p.everyUse(func(r *reading) []hint {
				found := divisionByZero(r)
				for _, d := range p.Errors { // the checker computes constants, and has said it
					if d.Code == "X303" && d.Source == p.Tree.Source && d.Span.Start.Offset >= r.Expr.Start.Offset && d.Span.End.Offset <= r.Expr.End.Offset {
						return nil
					}
				}
				return found
			})
		},
	},
	Rule{
		Code: "X304", Name: "bad-regex", Severity: syntax.SevError,
		Text: "A constant regular expression does not compile.",
		Why:  "It could match nothing. The syntax is RE2's: there are no look-around and no back-references.",
		Bad:  "jsonl(\"logs.jsonl\") |> where service matches \"(api|web\"\n",
		Good: "jsonl(\"logs.jsonl\") |> where service matches \"(api|web)\"\n",
	},
	Rule{
		Code: "X305", Name: "pattern-from-rows", Severity: syntax.SevWarn, Fix: Unsafe,
		Text: "The regular expression of `matches` or `extract` comes from the row.",
		Why: "It is compiled anew wherever it changes, which costs far more than to match it, and one that does not compile fails the row. A text that is looked for as it is " +
			"stands behind `contains`, `startsWith` or `endsWith`.",
		Bad:   "csv(\"orders.csv\") |> where customer matches string(id)\n",
		Good:  "csv(\"orders.csv\") |> where customer contains string(id)\n",
		Check: func(p *Pass) { p.everyUse(p.patternFromRows) },
	},
	Rule{
		Code: "X306", Name: "needless-default", Severity: syntax.SevWarn, Fix: Safe,
		Text:  "`??` stands behind a value that is never null.",
		Why:   "The default is never taken. Either it is needless, or another value was meant.",
		Bad:   "rows([{a: 1}]) |> select b = a ?? 0\n",
		Good:  "rows([{a: 1}]) |> select b = a\n",
		Check: func(p *Pass) { p.everyUse(p.needlessDefault) },
	},
	Rule{
		Code: "X307", Name: "not-binds-tighter", Severity: syntax.SevError, Fix: Safe,
		Text: "`not x in y` is read as `(not x) in y`, and `x` is no bool.",
		Why:  "`not` and `!` bind tighter than all comparisons. `x not in y`, `x not contains y`, `x != y` and `not (x < y)` say what is meant.",
		Bad:  "csv(\"orders.csv\") |> where not customer in [\"ada\", \"bob\"]\n",
		Good: "csv(\"orders.csv\") |> where customer not in [\"ada\", \"bob\"]\n",
		Mend: mendNot,
	},
	Rule{
		Code: "X308", Name: "record-in-a-closure", Severity: syntax.SevError, Fix: Safe,
		Text: "The braces of a record are read as those of a closure.",
		Why:  "Where a closure is wanted, as in `map`, a `{` opens the closure. A record has braces of its own inside: `{{name: value}}`.",
		Bad:  "jsonl(\"logs.jsonl\") |> select pairs = map(tags ?? [], {tag: #})\n",
		Good: "jsonl(\"logs.jsonl\") |> select pairs = map(tags ?? [], {{tag: #}})\n",
		Mend: mendRecord,
	},
	Rule{
		Code: "X311", Name: "int-overflow", Severity: syntax.SevInfo,
		Text: "A sum or product of ints may not fit into 64 bits.",
		Why: "Ints wrap around without an error: the largest is about 9.2e18. Nanoseconds since 1970 are about 1.8e18 each, so six of them are too much for a `sum`. " +
			"Compute with floats, with durations, or with a coarser unit.",
		Bad:   "csv(\"orders.csv\") |> aggregate total = sum(int(at))\n",
		Good:  "csv(\"orders.csv\") |> aggregate total = sum(div(int(at), 1_000_000_000))\n",
		Check: func(p *Pass) { p.everyUse(overflow) },
	},
)

// floatEquality finds comparisons of floats for equality. Whole numbers are exact, columns are as they were read, and
// `x != x` finds NaN.
func floatEquality(r *reading) (found []hint) {
	r.each(func(n ast.Node) {
		b, ok := n.(*ast.BinaryNode)
		if !ok || b.Operator != "==" && b.Operator != "!=" && b.Operator != "in" {
			return
		}
		sides := []ast.Node{b.Left, b.Right}
		if list, ok := b.Right.(*ast.ArrayNode); ok && b.Operator == "in" {
			sides = append(sides[:1:1], list.Nodes...)
		} else if b.Operator == "in" {
			return
		}
		float, inexact := false, false
		for _, s := range sides {
			k := r.kind(s)
			if k != types.Float && k != types.Int && k != types.Null {
				return
			}
			x := r.literal(s)
			float = float || k == types.Float && x == nil
			if x != nil {
				v, isFloat := x.Value.(float64)
				if isFloat && v == math.Trunc(v) || x.Value == nil || x.Type.Kind == types.Int && len(sides) == 2 {
					if len(sides) == 2 {
						return // a whole number, or nil
					}
					continue
				}
				inexact = inexact || isFloat
			} else {
				inexact = inexact || k == types.Float && r.computed(s)
			}
		}
		if float && inexact && r.text(b.Left) != r.text(b.Right) {
			help := fmt.Sprintf("write `abs(%s - %s) < 0.001` with the tolerance that is right", r.operand(b.Left), r.operand(b.Right))
			if b.Operator == "!=" {
				help = strings.Replace(help, ") <", ") >=", 1)
			}
			if b.Operator == "in" {
				help = "compare with a tolerance, or round first"
			}
			found = append(found, hint{at: r.Span(n), message: fmt.Sprintf("`%s` compares floats for equality", b.Operator), help: help})
		}
	})
	return found
}

// operand is a node as an operand of `-`.
func (r *reading) operand(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "*" || n.Operator == "/" || n.Operator == "%" {
			return r.short(n)
		}
		return "(" + r.short(n) + ")"
	case *ast.ConditionalNode:
		return "(" + r.short(n) + ")"
	}
	return r.short(n)
}

// computed reports whether a float is made by arithmetic, and not by rounding to a whole number.
func (r *reading) computed(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		return n.Operator != "??" || r.computed(n.Left) || r.computed(n.Right)
	case *ast.UnaryNode:
		return r.computed(n.Node)
	case *ast.ConditionalNode:
		return r.computed(n.Exp1) || r.computed(n.Exp2)
	case *ast.CallNode, *ast.BuiltinNode:
		name, args := r.call(n)
		switch name {
		case "round", "floor", "ceil", "min", "max", "first", "last", "any", "float", "get", "sign", "arg_max", "arg_min":
			return false // of a value as it is
		case "abs":
			return len(args) == 1 && r.computed(args[0])
		}
		return true
	}
	return false
}

func divisionByZero(r *reading) (found []hint) {
	zero := func(n ast.Node) bool {
		x := r.literal(n)
		return x != nil && (x.Value == int64(0) || x.Value == 0.0)
	}
	r.each(func(n ast.Node) {
		var by ast.Node
		what := "it fails for every row"
		if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "%" || b.Operator == "/") {
			by = b.Right
			if b.Operator == "/" && r.kind(n) == types.Float {
				what = "it gives infinity or NaN for every row"
			}
		} else if name, args := r.call(n); name == "div" && len(args) == 2 {
			by = args[1]
		}
		if by != nil && zero(by) {
			help := ""
			if b, ok := n.(*ast.BinaryNode); ok && r.literal(b.Left) != nil && r.kind(n) == types.Float {
				help = "NaN is written `float(\"NaN\")`, infinity `float(\"+Inf\")`"
			}
			found = append(found, hint{at: r.Span(n), message: "`" + r.short(n) + "` divides by zero: " + what, help: help})
		}
	})
	return found
}

// patternFromRows finds patterns that are not constant. Those in the body of a fn are what its callers make of them.
func (p *Pass) patternFromRows(r *reading) (found []hint) {
	fns := map[string]bool{}
	for _, s := range p.Tree.Stmts {
		if f, ok := s.(*syntax.Fn); ok {
			fns[f.Name.Name] = true
			if f.Body == r.Expr {
				return nil
			}
		}
	}
	const why, help = "comes from the row and is compiled wherever it changes", "a pattern is best a constant"
	r.each(func(n ast.Node) {
		x := r.Type(n)
		if x == nil {
			return
		}
		if b, ok := n.(*ast.BinaryNode); ok && b.Operator == "matches" && r.Type(b.Right) != nil && !r.Type(b.Right).Fixed() {
			found = append(found, hint{at: r.Span(b.Right), message: fmt.Sprintf("the pattern `%s` %s", r.short(b.Right), why),
				help: "a text is looked for by `contains`; " + help, fix: replace(r.Operator(n), "contains", Unsafe, "write `contains`")})
		}
		name, args := r.call(n)
		switch {
		case name == "extract" && len(args) > 1 && r.Type(args[1]) != nil && !r.Type(args[1]).Fixed():
			found = append(found, hint{at: r.Span(args[1]), message: fmt.Sprintf("the pattern `%s` %s", r.short(args[1]), why), help: help})
		case fns[name]:
			x.Walk(func(y *types.Expr) bool {
				matches := y.Op == types.OpCall && (y.Name == "matches" || y.Name == "extract") && !y.Args[1].Fixed()
				if matches {
					found = append(found, hint{at: r.Span(n), message: fmt.Sprintf("a pattern in `%s` %s", name, why), help: help})
				}
				return !matches
			})
		}
	})
	return found
}

func (p *Pass) needlessDefault(r *reading) (found []hint) {
	r.each(func(n ast.Node) {
		b, ok := n.(*ast.BinaryNode)
		if !ok || b.Operator != "??" {
			return
		}
		x, whole := r.Type(b.Left), r.Type(n)
		if x == nil || whole == nil || x.Type.Nullable || x.Type.Kind == types.Null || x.Op == types.OpConst && r.literal(b.Left) == nil {
			return // what a constant is may change: it is a param, or the environment
		}
		unset := false
		ast.Find(b.Left, func(k ast.Node) bool { // env("X") is null elsewhere
			name, _ := r.call(k)
			unset = unset || name == "env"
			return unset
		})
		if unset {
			return
		}
		h := hint{at: r.Span(n), message: fmt.Sprintf("`%s` is never null: `%s` is never taken", r.short(b.Left), r.short(b.Right))}
		if m, ok := b.Left.(*ast.MemberNode); ok && x.Op == types.OpIndex && r.kind(m.Node) == types.List {
			get := fmt.Sprintf("get(%s, %s)", r.Written(m.Node), r.Written(m.Property))
			h.help = fmt.Sprintf("past the end of the list it fails; `%s` is null there", get)
			h.fix = replace(r.Span(m), get, Unsafe, "write `"+get+"`")
		} else if whole.Type.Equal(x.Type) {
			at := syntax.Span{Start: r.before(r.Operator(n).Start), End: r.Span(n).End}
			h.fix = p.cut(at, Safe, "take away the default")
		}
		found = append(found, h)
	})
	return found
}

// tooLarge is the first int that there is not.
var tooLarge = new(big.Int).Lsh(big.NewInt(1), 63)

// overflow finds constants that wrap, products with a constant that leaves little room, and sums of nanoseconds.
func overflow(r *reading) (found []hint) {
	inside := map[ast.Node]bool{}
	r.each(func(n ast.Node) {
		if name, args := r.call(n); name == "sum" && len(args) == 1 && r.kind(args[0]) == types.Int && r.nanos(args[0]) {
			found = append(found, hint{at: r.Span(n), message: "a `sum` of nanoseconds since 1970 does not fit into an int: six of them are too many",
				help: "sum durations, or a coarser unit: `div(…, 1_000_000_000)`"})
		}
		b, ok := n.(*ast.BinaryNode)
		if !ok || inside[n] || r.kind(n) != types.Int || b.Operator != "*" && b.Operator != "+" && b.Operator != "-" {
			return
		}
		if v, known := r.exact(n, inside); known {
			if v.Cmp(tooLarge) >= 0 || v.Cmp(new(big.Int).Neg(tooLarge)) < 0 {
				found = append(found, hint{at: r.Span(n), message: fmt.Sprintf("`%s` is %s, which does not fit into an int", r.short(n), v), help: "write one factor as a float"})
			}
			return
		}
		if b.Operator != "*" {
			return
		}
		constant, row := big.NewInt(1), false
		r.factors(n, inside, func(k ast.Node) {
			if v, known := r.exact(k, inside); known {
				constant.Mul(constant, v)
			} else {
				row = true
			}
		})
		// What is left for the rest of the product is less than ten million.
		if constant.Abs(constant); row && constant.Cmp(big.NewInt(1_000_000_000_000)) >= 0 {
			found = append(found, hint{at: r.Span(n), message: fmt.Sprintf("`%s` may not fit into an int", r.short(n)),
				help: fmt.Sprintf("it does for values up to %s", new(big.Int).Div(tooLarge, constant))})
		}
	})
	return found
}

// nanos reports whether a node is a time as a number of nanoseconds.
func (r *reading) nanos(n ast.Node) bool {
	name, args := r.call(n)
	return name == "int" && len(args) == 1 && r.kind(args[0]) == types.Time
}

// factors calls f for each factor of a product of ints.
func (r *reading) factors(n ast.Node, inside map[ast.Node]bool, f func(ast.Node)) {
	if b, ok := n.(*ast.BinaryNode); ok && b.Operator == "*" && r.kind(n) == types.Int {
		inside[n] = true
		r.factors(b.Left, inside, f)
		r.factors(b.Right, inside, f)
		return
	}
	f(n)
}

// exact computes ints that stand in the text.
func (r *reading) exact(n ast.Node, inside map[ast.Node]bool) (*big.Int, bool) {
	if x := r.literal(n); x != nil {
		v, ok := x.Value.(int64)
		return big.NewInt(v), ok && x.Type.Kind == types.Int
	}
	b, ok := n.(*ast.BinaryNode)
	if !ok || r.kind(n) != types.Int {
		return nil, false
	}
	left, okL := r.exact(b.Left, inside)
	right, okR := r.exact(b.Right, inside)
	if !okL || !okR || left.BitLen() > 1000 || right.BitLen() > 1000 {
		return nil, false
	}
	inside[b.Left], inside[b.Right] = true, true
	switch b.Operator {
	case "*":
		return left.Mul(left, right), true
	case "+":
		return left.Add(left, right), true
	case "-":
		return left.Sub(left, right), true
	}
	return nil, false
}

// tokensIn lists the tokens of a span of a text, without blanks and comments.
func tokensIn(src *syntax.Source, at syntax.Span) (list []syntax.Token) {
	all, _ := syntax.Lex(src)
	for _, t := range all {
		if !t.Trivia() && t.Span.Start.Offset >= at.Start.Offset && t.Span.End.Offset <= at.End.Offset {
			list = append(list, t)
		}
	}
	return list
}

// mendNot writes what was meant by `not x in y`. The finding is at the whole of it.
func mendNot(_ *Script, d check.Diagnostic) *Fix {
	tokens := tokensIn(d.Source, d.Span)
	if len(tokens) < 4 {
		return nil
	}
	not, rest := tokens[0], tokens[1:]
	gone := Edit{Span: syntax.Span{Start: not.Span.Start, End: rest[0].Span.Start}}
	for i, t := range rest {
		if i == 0 || rest[i-1].Text == "." || rest[i-1].Text == "?." || depth(rest[:i]) != 0 {
			continue
		}
		switch t.Text {
		case "in", "contains", "matches", "startsWith", "endsWith":
			if rest[i-1].Text == "not" {
				return nil // two of them
			}
			return &Fix{Safe, "write `not " + t.Text + "`", []Edit{gone, {syntax.Span{Start: t.Span.Start, End: t.Span.Start}, "not "}}}
		case "==", "!=":
			other := map[string]string{"==": "!=", "!=": "=="}[t.Text]
			return &Fix{Safe, "write `" + other + "`", []Edit{gone, {t.Span, other}}}
		case "<", "<=", ">", ">=":
			start, end := rest[0].Span.Start, d.Span.End
			return &Fix{Safe, "put the comparison into brackets", []Edit{{syntax.Span{Start: start, End: start}, bracket(not, rest[0])}, {syntax.Span{Start: end, End: end}, ")"}}}
		}
	}
	return nil
}

// bracket is an opening bracket behind a `not`, with the blank that stands between them.
func bracket(not, next syntax.Token) string {
	if not.Text == "not" && not.Span.End == next.Span.Start {
		return " ("
	}
	return "("
}

// depth counts the brackets that are open behind some tokens.
func depth(tokens []syntax.Token) (n int) {
	for _, t := range tokens {
		switch t.Kind {
		case syntax.KindOpen:
			n++
		case syntax.KindClose:
			n--
		}
	}
	return n
}

// mendRecord gives a record braces of its own. The finding is at the braces.
func mendRecord(_ *Script, d check.Diagnostic) *Fix {
	at := func(p syntax.Pos) syntax.Span { return syntax.Span{Start: p, End: p} }
	return &Fix{Safe, "write `{{…}}`", []Edit{{at(d.Span.Start), "{"}, {at(d.Span.End), "}"}}}
}
