package types

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
)

// Op is the form of an expression node.
type Op uint8

// The forms. Every operator and function that is strict in its operands is a Call; the others decide themselves which
// operands a row needs.
const (
	OpCol       Op = iota // column Col of the input
	OpConst               // Value
	OpCall                // Name(Args…), resolved to Sig; operators are called by their sign: "+", "==", "in", "neg", "not"
	OpAnd                 // Args[0] and Args[1], three-valued; the right side runs only where the left is not false
	OpOr                  // Args[0] or Args[1], three-valued
	OpCoalesce            // Args[0] ?? Args[1]
	OpIf                  // Args[0] ? Args[1] : Args[2]; a null condition takes the else branch
	OpField               // field Name of the record Args[0]; null if the record is null
	OpIndex               // Args[0][Args[1]] of a list, -1 is the last; out of range is a row error; of a null list null
	OpList                // [Args…]
	OpRecord              // {Names: Args}
	OpCast                // Args[0] coerced to Type (int to float, anything to its nullable self, null to a typed null)
	OpIsland              // Node, run by expr's VM with Names bound to Args; strict: null if an argument that is not nullable-aware is null
	OpEventTime           // event_time()
	OpNow                 // now()
)

// Expr is a typed expression. Trees are immutable once checked: a rule that rewrites one makes new nodes.
type Expr struct {
	Op    Op
	Type  Type
	Args  []*Expr
	Col   int      // OpCol
	Value any      // OpConst: nil bool int64 float64 string []byte-as-string time→int64 duration→int64, []any, map[string]any
	Name  string   // OpCall, OpField; for OpCol the column's name
	Names []string // OpRecord, OpIsland
	Sig   *Sig     // OpCall: the overload that was chosen
	Node  ast.Node // OpIsland: over identifiers Names
	Loose bool     // OpIsland: sees nulls as nil instead of being strict in them
	Pos   Place    // where it stands in the script
}

// Place is a place in a script, for run-time errors: `FILE:LINE:COL`.
type Place struct {
	File         string
	Line, Column int
}

func (p Place) String() string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// ColRef returns a reference to column i of the schema.
func ColRef(s Schema, i int) *Expr {
	return &Expr{Op: OpCol, Type: s.Fields[i].Type, Col: i, Name: s.Fields[i].Name}
}

// Const returns a literal of the type.
func Const(t Type, v any) *Expr { return &Expr{Op: OpConst, Type: t, Value: v} }

// Walk calls f for e and all below it, parents first; f returning false skips what is below.
func (e *Expr) Walk(f func(*Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, a := range e.Args {
		a.Walk(f)
	}
}

// Any reports whether something is so for e or for what is below it.
func (e *Expr) Any(is func(*Expr) bool) bool {
	if e == nil {
		return false
	}
	if is(e) {
		return true
	}
	for _, a := range e.Args {
		if a.Any(is) {
			return true
		}
	}
	return false
}

// Rewrite returns e with f applied bottom-up; nodes that do not change are shared.
func (e *Expr) Rewrite(f func(*Expr) *Expr) *Expr {
	if e == nil {
		return nil
	}
	var args []*Expr
	for i, a := range e.Args {
		b := a.Rewrite(f)
		if b != a && args == nil {
			args = append([]*Expr(nil), e.Args...)
		}
		if args != nil {
			args[i] = b
		}
	}
	if args != nil {
		c := *e
		c.Args = args
		e = &c
	}
	return f(e)
}

// Columns adds the columns that e reads to the set.
func (e *Expr) Columns(set map[int]bool) {
	e.Walk(func(x *Expr) bool {
		if x.Op == OpCol {
			set[x.Col] = true
		}
		return true
	})
}

// Shift returns e with every column c replaced by to(c).
func (e *Expr) Shift(to func(int) int) *Expr {
	return e.Rewrite(func(x *Expr) *Expr {
		if x.Op != OpCol || to(x.Col) == x.Col {
			return x
		}
		c := *x
		c.Col = to(x.Col)
		return &c
	})
}

// Pure reports whether e gives the same value at every evaluation over the same row.
func (e *Expr) Pure() bool {
	return !e.Any((*Expr).Volatile)
}

// Fixed reports whether e has the same value for every row.
func (e *Expr) Fixed() bool {
	return !e.Any(func(x *Expr) bool { return x.Op == OpCol || x.Op == OpEventTime || x.Volatile() })
}

// Volatile reports whether this node, not what is below it, may give another value the next time.
func (e *Expr) Volatile() bool {
	return e.Op == OpNow || e.Op == OpCall && e.Sig != nil && e.Sig.Volatile
}

// Fails reports whether what the data hold may make a row fail at this node, not below it.
func (e *Expr) Fails() bool {
	switch e.Op {
	case OpCall:
		return e.Sig != nil && e.Sig.Fails != nil && e.Sig.Fails(e.Args)
	case OpIndex:
		return true
	}
	return false
}

// NestsLists reports whether e writes out a list of lists or records: it may be larger than a value may be.
func (e *Expr) NestsLists() bool {
	return e.Op == OpList && (e.Type.Elem.Kind == List || e.Type.Elem.Kind == Record)
}

// Infallible reports whether e, folded, gives a value for every row.
func (e *Expr) Infallible() bool {
	return !e.Any(func(x *Expr) bool {
		return x.Op == OpIsland || x.Fails() || x.Op == OpCall && (x.Sig == nil || x.Sig.Rare || x.Sig.Fails != nil && x.onConstants()) || x.NestsLists()
	})
}

// onConstants reports whether all operands are constants: folding left the call since it fails.
func (e *Expr) onConstants() bool {
	return !slices.ContainsFunc(e.Args, func(a *Expr) bool { return a.Op != OpConst })
}

var infix = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "**": true, "==": true, "!=": true, "<": true, "<=": true,
	">": true, ">=": true, "in": true, "contains": true, "startsWith": true, "endsWith": true, "matches": true, "..": true}

// String prints e in the language's own notation, for plans and tests.
func (e *Expr) String() string {
	if e == nil {
		return "<none>"
	}
	args := func() string {
		parts := make([]string, len(e.Args))
		for i, a := range e.Args {
			parts[i] = a.String()
		}
		return strings.Join(parts, ", ")
	}
	two := func(op string) string { return "(" + e.Args[0].String() + " " + op + " " + e.Args[1].String() + ")" }
	switch e.Op {
	case OpCol:
		return QuoteName(e.Name)
	case OpConst:
		return FormatConst(e.Type, e.Value)
	case OpCall:
		switch {
		case infix[e.Name] && len(e.Args) == 2:
			return two(e.Name)
		case e.Name == "neg":
			return "-" + e.Args[0].String()
		case e.Name == "not":
			return "not " + e.Args[0].String()
		}
		return e.Name + "(" + args() + ")"
	case OpAnd:
		return two("and")
	case OpOr:
		return two("or")
	case OpCoalesce:
		return two("??")
	case OpIf:
		return "(" + e.Args[0].String() + " ? " + e.Args[1].String() + " : " + e.Args[2].String() + ")"
	case OpField:
		return e.Args[0].String() + "." + QuoteName(e.Name)
	case OpIndex:
		return e.Args[0].String() + "[" + e.Args[1].String() + "]"
	case OpList:
		return "[" + args() + "]"
	case OpRecord:
		parts := make([]string, len(e.Args))
		for i, a := range e.Args {
			parts[i] = QuoteName(e.Names[i]) + ": " + a.String()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case OpCast:
		if e.Args[0].Type.Kind == e.Type.Kind || e.Args[0].Type.Kind == Null {
			return e.Args[0].String()
		}
		return e.Type.NotNull().String() + "(" + e.Args[0].String() + ")"
	case OpIsland:
		parts := make([]string, len(e.Args))
		for i, a := range e.Args {
			parts[i] = e.Names[i] + " = " + a.String()
		}
		s := e.Node.String()
		if len(parts) > 0 {
			s += " with " + strings.Join(parts, ", ")
		}
		return "vm(" + s + ")"
	case OpEventTime:
		return "event_time()"
	case OpNow:
		return "now()"
	}
	panic(fmt.Sprintf("unknown expression form %d", e.Op))
}

// QuoteName prints a column's name as a script must write it.
func QuoteName(s string) string {
	plain := s != ""
	for i, r := range s {
		if !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9') {
			plain = false
		}
	}
	switch s {
	case "and", "or", "not", "in", "if", "else", "let", "matches", "contains", "startsWith", "endsWith", "true", "false", "nil":
		plain = false
	}
	if plain {
		return s
	}
	return "@" + strconv.Quote(s)
}

// FormatConst prints a literal as a script writes it.
func FormatConst(t Type, v any) string {
	switch x := v.(type) {
	case nil:
		return "nil"
	case bool:
		return strconv.FormatBool(x)
	case int64:
		switch t.Kind {
		case Time:
			return "@" + time.Unix(0, x).UTC().Format("2006-01-02T15:04:05.999999999Z")
		case Duration:
			return FormatDuration(x)
		}
		return strconv.FormatInt(x, 10)
	case float64:
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	case string:
		return strconv.Quote(x)
	case []any:
		parts := make([]string, len(x))
		for i, y := range x {
			parts[i] = FormatConst(*t.Elem, y)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = QuoteName(f.Name) + ": " + FormatConst(f.Type, x[f.Name])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}
