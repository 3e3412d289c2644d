package lint

import (
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// T: types that do not go together, and conversions that lose something.
var _ = define(
	Rule{
		Code: "T201", Name: "type-mismatch", Severity: syntax.SevError,
		Text: "A value has another type than the operator, condition, list or statement takes.",
		Why:  "Nothing is converted silently but an int to a float. `int(x)`, `string(x)`, `time(x, \"layout\")` convert, and a value is no condition: compare it.",
		Bad:  "csv(\"orders.csv\") |> where customer\n",
		Good: "csv(\"orders.csv\") |> where customer != \"\"\n",
	},
	Rule{
		Code: "T202", Name: "null-where-none-may-be", Severity: syntax.SevError, Fix: Unsafe,
		Text: "A value that may be null stands where none may be.",
		Why: "Columns of inferred inputs may be null, and so may what is computed of them. `??` gives a value in the place of null; which one is right only you know. " +
			"Or say in the `schema` of the source that the column is never null.",
		Bad:  "fn cents(x: float) = round(x * 100)\ncsv(\"orders.csv\") |> select c = cents(amount)\n",
		Good: "fn cents(x: float) = round(x * 100)\ncsv(\"orders.csv\") |> select c = cents(amount ?? 0.0)\n",
		Mend: mendNull,
	},
	Rule{
		Code: "T203", Name: "lossy-cast", Severity: syntax.SevWarn,
		Text: "A conversion loses a part of the number.",
		Why: "`int` of a float cuts toward zero, so 2.9 becomes 2 and -2.9 becomes -2; `int(round(x))`, `int(floor(x))` or `int(ceil(x))` say what is wanted, and `div(a, b)` divides " +
			"ints. A float holds ints exactly only up to 2^53.",
		Bad:   "csv(\"orders.csv\") |> select euros = int(amount)\n",
		Good:  "csv(\"orders.csv\") |> select euros = int(floor(amount))\n",
		Check: func(p *Pass) { p.everyUse(lossyCast) },
	},
	Rule{
		Code: "T204", Name: "schemaless-value", Severity: syntax.SevInfo,
		Text: "A column has the type `any`.",
		Why: "Nothing is known of such a value before the run: it has no arithmetic, and mistakes show as failed rows. Convert it, as in `string(x)` or `int(x)`, or give the source a " +
			"`schema` that says what is in the record.",
		Bad:   "rows([{body: \"{}\"}]) |> select user = fromJSON(body).user\n",
		Good:  "rows([{body: \"{}\"}]) |> select user = string(fromJSON(body).user)\n",
		Check: schemaless,
	},
	Rule{
		Code: "T205", Name: "misfit-of-a-sink", Severity: syntax.SevError,
		Text: "The rows do not fit the schema of the sink.",
		Why:  "A sink with a `schema` promises its readers these columns. Bring the rows into that form by `select`, or change the schema.",
		Bad:  "sink out = jsonl(\"out.jsonl\") schema { id: int?, total: float? }\ncsv(\"orders.csv\") |> select id, amount |> into out\n",
		Good: "sink out = jsonl(\"out.jsonl\") schema { id: int?, total: float? }\ncsv(\"orders.csv\") |> select id, total = amount |> into out\n",
	},
)

// mendNull puts a value into the place of null.
func mendNull(_ *Script, d check.Diagnostic) *Fix {
	with := "false"                                          // what an `assert` makes of null
	bound := strings.HasPrefix(d.Help, "`??` binds tighter") // there is a `??`, at the wrong place
	if i := strings.LastIndex(d.Help, " ?? "); i >= 0 && (bound || strings.HasPrefix(d.Help, "give a value in its place: ")) {
		with = strings.TrimSuffix(d.Help[i+len(" ?? "):], "`")
	} else if !strings.HasPrefix(d.Message, "`assert` ") {
		return nil
	}
	if with == "…" || strings.ContainsAny(with, "`)") {
		return nil
	}
	at := func(p syntax.Pos) syntax.Span { return syntax.Span{Start: p, End: p} }
	tokens := tokensIn(d.Source, d.Span)
	if bound {
		for i := len(tokens) - 1; i > 0; i-- {
			if tokens[i].Text == "??" && depth(tokens[i:]) == 0 {
				return &Fix{Unsafe, "put what `??` stands behind into brackets", []Edit{{at(d.Span.Start), "("}, {at(tokens[i-1].Span.End), ")"}}}
			}
		}
		return nil
	}
	text := "write `?? " + with + "`"
	if operand(tokens) {
		return &Fix{Unsafe, text, []Edit{{at(d.Span.End), " ?? " + with}}}
	}
	return &Fix{Unsafe, text, []Edit{{at(d.Span.Start), "("}, {at(d.Span.End), ") ?? " + with}}}
}

// operand reports whether tokens are one operand, to which an operator can be written without brackets: a name, a path, a call.
func operand(tokens []syntax.Token) bool {
	for i, t := range tokens {
		if depth(tokens[:i]) != 0 || t.Kind == syntax.KindClose || t.Text == "." || t.Text == "?." {
			continue
		}
		if i > 0 && t.Kind != syntax.KindOpen && tokens[i-1].Text != "." && tokens[i-1].Text != "?." {
			return false
		}
		switch t.Text {
		case "-", "+", "!", "not", "let", "if":
			return false
		}
	}
	return true
}

func lossyCast(r *reading) (found []hint) {
	r.each(func(n ast.Node) {
		name, args := r.call(n)
		switch {
		case name == "int" && len(args) == 1 && r.kind(args[0]) == types.Float && !r.whole(args[0]):
			help := fmt.Sprintf("say how it is rounded: `int(round(%s))`, `int(floor(%s))` or `int(ceil(%s))`", r.short(args[0]), r.short(args[0]), r.short(args[0]))
			if b, ok := args[0].(*ast.BinaryNode); ok && b.Operator == "/" && r.kind(b.Left) == types.Int && r.kind(b.Right) == types.Int {
				help = fmt.Sprintf("ints are divided by `div(%s, %s)`", r.short(b.Left), r.short(b.Right))
			}
			found = append(found, hint{at: r.Span(n), message: fmt.Sprintf("`%s` cuts off the fraction of a float", r.short(n)), help: help})
		case name == "float" && len(args) == 1 && (r.large(args[0]) || r.nanos(args[0])):
			found = append(found, hint{at: r.Span(n), message: fmt.Sprintf("`%s` loses digits: a float holds ints exactly up to 2^53", r.short(n)),
				help: "compute with ints, or with a coarser unit"})
		}
		b, ok := n.(*ast.BinaryNode)
		if !ok || b.Operator == "in" {
			return
		}
		for _, sides := range [][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
			if r.large(sides[0]) && (r.kind(sides[1]) == types.Float || b.Operator == "/" || b.Operator == "**" || b.Operator == "^") {
				found = append(found, hint{at: r.Span(sides[0]), message: fmt.Sprintf("`%s` becomes a float here and loses digits: a float holds ints exactly up to 2^53", r.short(sides[0])),
					help: "compute with ints"})
			}
		}
	})
	return found
}

// whole reports whether a float is plainly a whole number.
func (r *reading) whole(n ast.Node) bool {
	switch name, args := r.call(n); name {
	case "round":
		return len(args) == 1
	case "floor", "ceil", "sign":
		return true
	case "abs", "max", "min":
		for _, a := range args {
			if r.kind(a) != types.Int && !r.whole(a) {
				return false
			}
		}
		return true
	}
	if b, ok := n.(*ast.BinaryNode); ok {
		switch b.Operator {
		case "+", "-", "*", "??":
			return r.whole(b.Left) && r.whole(b.Right)
		}
	}
	if x := r.literal(n); x != nil {
		v, ok := x.Value.(float64)
		return !ok || v == math.Trunc(v)
	}
	return r.kind(n) == types.Int
}

// large reports whether a node is an int in the text that no float is equal to.
func (r *reading) large(n ast.Node) bool {
	x := r.literal(n)
	if x == nil || x.Type.Kind != types.Int {
		return false
	}
	v, ok := x.Value.(int64)
	if !ok {
		return false
	}
	f := float64(v)
	return f >= 1<<63 || int64(f) != v
}

// schemaless finds columns that a stage makes of schemaless values, not those that go through it.
func schemaless(p *Pass) {
	made := map[*syntax.Expr]*syntax.Item{}
	for _, s := range p.Stages {
		if k := s.Checked.Sig.Items; k == types.Assign || k == types.Project || k == types.Aggregates {
			for _, it := range s.Tree.Items {
				made[it.Expr] = it
			}
		}
		for _, c := range s.Tree.Clauses {
			if c.Label == "by" || c.Label == "per" {
				for _, it := range c.Items {
					made[it.Expr] = it
				}
			}
		}
	}
	p.everyUse(func(r *reading) []hint {
		x := r.Type(r.Tree)
		if _, name := r.Tree.(*ast.IdentifierNode); made[r.Expr] == nil || x == nil || name || !holdsAny(x.Type) {
			return nil
		}
		s := r.short(r.Tree)
		help := "convert it, or give the source a schema"
		if x.Type.Kind == types.Any {
			help = fmt.Sprintf("say what it is, for example `string(%s)`", s)
		}
		return []hint{{at: r.Expr.Span, message: fmt.Sprintf("the type of `%s` is `%s`: nothing is known of it before the run", s, x.Type), help: help}}
	})
}

func holdsAny(t types.Type) bool {
	return t.Kind == types.Any || t.Kind == types.List && t.Elem != nil && holdsAny(*t.Elem)
}
