package eval_test

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	vmtypes "github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/fn"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// TestAgainstVM compares kernels with expr's VM over random typed expressions and random batches. Where the VM gives a
// value ours is the same; where it fails for another reason than null the row fails; where it stumbles over null ours is
// null, or what three-valued logic makes of it. EBB_SEED=n repeats a run.
func TestAgainstVM(t *testing.T) {
	seed := time.Now().UnixNano()
	if s := os.Getenv("EBB_SEED"); s != "" {
		seed, _ = strconv.ParseInt(s, 10, 64)
	}
	d := &differ{t: t, g: &gen{Rand: rand.New(rand.NewSource(seed))}}
	for d.rows < 200_000 && !t.Failed() {
		d.one()
	}
	t.Logf("%d rows: %d values, %d nulls of the VM's failures, %d of them values, %d failures", d.rows, d.values, d.nulls, d.logic, d.fails)
	if t.Failed() {
		t.Logf("repeat with EBB_SEED=%d", seed)
	}
	if d.values < d.rows/3 || d.fails == 0 || d.nulls == 0 {
		t.Errorf("the expressions are one-sided")
	}
}

type differ struct {
	t                                 *testing.T
	g                                 *gen
	rows, values, nulls, logic, fails int
	kept                              []given
}

// columns of the random batches; those that start with n are nullable.
var diffSchema = types.NewSchema(
	types.Field{Name: "i", Type: types.T(types.Int)}, types.Field{Name: "j", Type: types.T(types.Int)}, types.Field{Name: "ni", Type: types.T(types.Int).Null()},
	types.Field{Name: "f", Type: types.T(types.Float)}, types.Field{Name: "nf", Type: types.T(types.Float).Null()},
	types.Field{Name: "s", Type: types.T(types.String)}, types.Field{Name: "ns", Type: types.T(types.String).Null()}, types.Field{Name: "mns", Type: types.T(types.String).Null()},
	types.Field{Name: "b", Type: types.T(types.Bool)}, types.Field{Name: "nb", Type: types.T(types.Bool).Null()}, types.Field{Name: "mnb", Type: types.T(types.Bool).Null()},
	types.Field{Name: "t", Type: types.T(types.Time)}, types.Field{Name: "nt", Type: types.T(types.Time).Null()},
	types.Field{Name: "d", Type: types.T(types.Duration)}, types.Field{Name: "nd", Type: types.T(types.Duration).Null()},
	types.Field{Name: "xs", Type: types.ListOf(types.T(types.Int))}, types.Field{Name: "nxs", Type: types.ListOf(types.T(types.Int).Null()).Null()},
	types.Field{Name: "ws", Type: types.ListOf(types.T(types.String))},
)

type gen struct {
	*rand.Rand
	pool []term // what was made for this expression, to be used again
}

// term is an expression as text and as tree.
type term struct {
	text string
	*types.Expr
}

var (
	tInt, tFloat, tString, tBool = types.T(types.Int), types.T(types.Float), types.T(types.String), types.T(types.Bool)
	tTime, tDuration             = types.T(types.Time), types.T(types.Duration)
	tInts, tNullInts, tStrings   = types.ListOf(tInt), types.ListOf(tInt.Null()), types.ListOf(tString)
	words                        = []string{"", "a", "A", "b", "ab", "aB", "xyz", "Ärger", "ß", "abcabc", "10", "3", "longer than sixteen bytes"}
	numbers                      = []int64{0, 0, 1, -1, 2, 3, 7, 10, 100, -13, math.MaxInt64, math.MinInt64 + 1, 1 << 53, 4294967296}
	reals                        = []float64{0, 1, -1, 0.5, 2.5, -2.5, 1e9, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), 9007199254740993}
)

// make returns an expression of the kind (nullable or not), at most depth deep.
func (g *gen) make(t types.Type, depth int) term {
	if g.Intn(6) == 0 {
		var fit []term
		for _, p := range g.pool {
			if p.Type.NotNull().Equal(t.NotNull()) {
				fit = append(fit, p)
			}
		}
		if len(fit) > 0 {
			return fit[g.Intn(len(fit))]
		}
	}
	x := g.fresh(t.NotNull(), depth)
	g.pool = append(g.pool, x)
	return x
}

func (g *gen) leaf(t types.Type) term {
	if g.Intn(3) > 0 || t.Kind == types.Time || t.Kind == types.List && g.Intn(2) == 0 {
		var fit []int
		for i, f := range diffSchema.Fields {
			if f.Type.Kind == t.Kind && (t.Kind != types.List || f.Type.Elem.Same(*t.Elem) && f.Type.Elem.Nullable == t.Elem.Nullable) {
				fit = append(fit, i)
			}
		}
		if len(fit) > 0 {
			i := fit[g.Intn(len(fit))]
			return term{diffSchema.Fields[i].Name, types.ColRef(diffSchema, i)}
		}
	}
	lit := func(text string, v any) term { return term{text, types.Const(t, v)} }
	switch t.Kind {
	case types.Int:
		n := int64(g.Intn(12))
		return lit(strconv.FormatInt(n, 10), n)
	case types.Float:
		f := float64(g.Intn(40)) / 4
		return lit(strconv.FormatFloat(f, 'f', 2, 64), f)
	case types.String:
		s := words[g.Intn(len(words))]
		return lit(strconv.Quote(s), s)
	case types.Bool:
		v := g.Intn(2) == 0
		return lit(strconv.FormatBool(v), v)
	case types.Duration:
		d := time.Duration(g.Intn(5000)) * time.Second / 7
		return lit(fmt.Sprintf("duration(%q)", d.String()), int64(d))
	case types.List:
		var parts []string
		var args []*types.Expr
		for range 1 + g.Intn(12) {
			e := g.leaf(t.Elem.NotNull())
			parts, args = append(parts, e.text), append(args, cast(e.Expr, *t.Elem))
		}
		x := &types.Expr{Op: types.OpList, Type: t, Args: args}
		for _, a := range args { // what could be null would need a list of nullables
			if a.Type.Nullable && !t.Elem.Nullable {
				return g.leaf(t)
			}
		}
		return term{"[" + strings.Join(parts, ", ") + "]", x}
	}
	return g.leaf(t)
}

func cast(x *types.Expr, t types.Type) *types.Expr {
	if x.Type.Equal(t) {
		return x
	}
	if x.Op == types.OpConst && x.Type.Kind == t.Kind {
		return types.Const(t, x.Value)
	}
	return &types.Expr{Op: types.OpCast, Type: t, Args: []*types.Expr{x}}
}

// op makes a strict call; the result is nullable if an argument is.
func op(result types.Type, name, text string, args ...term) term {
	es := make([]*types.Expr, len(args))
	texts := make([]any, len(args))
	for i, a := range args {
		es[i], texts[i] = a.Expr, a.text
		result = result.OrNull(a.Type.Nullable)
	}
	return term{"(" + fmt.Sprintf(text, texts...) + ")", &types.Expr{Op: types.OpCall, Name: name, Type: result, Args: es, Sig: sigOf(name, es)}}
}

// total makes a call that is never null.
func total(name, text string, args ...term) term {
	x := op(tBool, name, text, args...)
	x.Type = tBool
	return x
}

func widen(x term) term {
	if x.Type.Kind == types.Float {
		return x
	}
	return term{x.text, cast(x.Expr, tFloat.OrNull(x.Type.Nullable))}
}

func (g *gen) fresh(t types.Type, depth int) term {
	if depth <= 0 || g.Intn(8) == 0 {
		return g.leaf(t)
	}
	depth--
	switch g.Intn(7) { // what every type has
	case 0:
		c, a, b := g.make(tBool, depth), g.make(t, depth), g.make(t, depth)
		u := t.OrNull(a.Type.Nullable || b.Type.Nullable)
		return term{"(" + c.text + " ? " + a.text + " : " + b.text + ")",
			&types.Expr{Op: types.OpIf, Type: u, Args: []*types.Expr{c.Expr, cast(a.Expr, u), cast(b.Expr, u)}}}
	case 1:
		a, b := g.make(t, depth), g.make(t, depth)
		u := t.OrNull(b.Type.Nullable)
		return term{"(" + a.text + " ?? " + b.text + ")", &types.Expr{Op: types.OpCoalesce, Type: u, Args: []*types.Expr{a.Expr, b.Expr}}}
	}
	number := func() term {
		if g.Intn(2) == 0 {
			return g.make(tInt, depth)
		}
		return g.make(tFloat, depth)
	}
	switch t.Kind {
	case types.Int:
		switch g.Intn(8) {
		case 0:
			return op(tInt, "len", "len(%s)", g.make(tString, depth))
		case 1:
			return op(tInt, "len", "len(%s)", g.make(tInts, depth))
		case 2:
			return op(tInt, "%", "%s %% %s", g.make(tInt, depth), g.make(tInt, depth))
		case 3:
			return op(tInt, "neg", "-%s", g.make(tInt, depth))
		case 4:
			return op(tInt, "abs", "abs(%s)", g.make(tInt, depth))
		case 5:
			a, k := g.make(tInts, depth), g.make(tInt, depth)
			return term{a.text + "[" + k.text + "]", &types.Expr{Op: types.OpIndex, Type: tInt.OrNull(a.Type.Nullable || k.Type.Nullable), Args: []*types.Expr{a.Expr, k.Expr}}}
		}
		sign := []string{"+", "-", "*"}[g.Intn(3)]
		return op(tInt, sign, "%s "+sign+" %s", g.make(tInt, depth), g.make(tInt, depth))
	case types.Float:
		switch g.Intn(7) {
		case 0:
			return op(tFloat, "floor", "floor(%s)", widen(number()))
		case 1:
			return op(tFloat, "**", "%s ** %s", widen(number()), widen(g.leaf(tInt)))
		case 2:
			return op(tFloat, "neg", "-%s", g.make(tFloat, depth))
		case 3:
			return op(tFloat, "/", "%s / %s", widen(number()), widen(number()))
		case 4:
			return op(tFloat, "round", "round(%s)", g.make(tFloat, depth))
		}
		sign := []string{"+", "-", "*"}[g.Intn(3)]
		return op(tFloat, sign, "%s "+sign+" %s", widen(g.make(tFloat, depth)), widen(number()))
	case types.String:
		switch g.Intn(6) {
		case 0:
			return op(tString, "upper", "upper(%s)", g.make(tString, depth))
		case 1:
			return op(tString, "lower", "lower(%s)", g.make(tString, depth))
		case 2:
			a, lo, hi := g.make(tString, depth), g.leaf(tInt), g.leaf(tInt)
			return op(tString, "slice", "%s[%s:%s]", a, lo, hi)
		case 3:
			return op(tString, "trim", "trim(%s, %s)", g.make(tString, depth), g.make(tString, depth))
		}
		return op(tString, "+", "%s + %s", g.make(tString, depth), g.make(tString, depth))
	case types.Bool:
		switch k := g.Intn(12); k {
		case 0, 1, 2:
			a, b := g.make(tBool, depth), g.make(tBool, depth)
			x := &types.Expr{Op: types.OpAnd, Type: tBool.OrNull(a.Type.Nullable || b.Type.Nullable), Args: []*types.Expr{a.Expr, b.Expr}}
			word := " and "
			if g.Intn(2) == 0 {
				x.Op, word = types.OpOr, " or "
			}
			return term{"(" + a.text + word + b.text + ")", x}
		case 3:
			return op(tBool, "not", "not %s", g.make(tBool, depth))
		case 4:
			return total("in", "%s in %s", g.make(tInt, depth), g.make([]types.Type{tInts, tNullInts}[g.Intn(2)], depth))
		case 5:
			return total("in", "%s in %s", g.make(tString, depth), g.make(tStrings, depth))
		case 6:
			name := []string{"contains", "startsWith", "endsWith"}[g.Intn(3)]
			return total(name, "%s "+name+" %s", g.make(tString, depth), g.make(tString, depth))
		case 7:
			p := []string{"^a", "b$", "[A-Z]+", "a(b|c)", "xyz", "^$"}[g.Intn(6)]
			return total("matches", "%s matches %s", g.make(tString, depth), term{strconv.Quote(p), types.Const(tString, p)})
		case 8:
			kinds := []types.Type{tInt, tFloat, tString, tBool, tTime, tDuration, tInts, tStrings}
			u := kinds[g.Intn(len(kinds))]
			name := []string{"==", "!="}[g.Intn(2)]
			b := g.make(u, depth)
			if g.Intn(3) == 0 {
				b = term{"nil", types.Const(types.T(types.Null), nil)}
			}
			return total(name, "%s "+name+" %s", g.make(u, depth), b)
		}
		name := []string{"<", "<=", ">", ">=", "==", "!="}[g.Intn(6)]
		var a, b term
		switch g.Intn(5) {
		case 0:
			a, b = g.make(tString, depth), g.make(tString, depth)
		case 1:
			a, b = g.make(tTime, depth), g.make(tTime, depth)
		case 2:
			a, b = g.make(tDuration, depth), g.make(tDuration, depth)
		default:
			a, b = number(), number()
			if a.Type.Kind != b.Type.Kind {
				a, b = widen(a), widen(b)
			}
		}
		if name == "==" || name == "!=" {
			return total(name, "%s "+name+" %s", a, b)
		}
		return op(tBool, name, "%s "+name+" %s", a, b)
	case types.Time:
		sign := []string{"+", "-"}[g.Intn(2)]
		return op(tTime, sign, "%s "+sign+" %s", g.make(tTime, depth), g.make(tDuration, depth))
	case types.Duration:
		switch g.Intn(4) {
		case 0:
			return op(tDuration, "-", "%s - %s", g.make(tTime, depth), g.make(tTime, depth))
		case 1:
			n := int64(g.Intn(12)) // small: the VM's times and durations overflow in their own ways
			return op(tDuration, "*", "%s * %s", g.make(tDuration, depth), term{strconv.FormatInt(n, 10), types.Const(tInt, n)})
		}
		sign := []string{"+", "-"}[g.Intn(2)]
		return op(tDuration, sign, "%s "+sign+" %s", g.make(tDuration, depth), g.make(tDuration, depth))
	case types.List:
		switch g.Intn(4) {
		case 0:
			if t.Elem.Kind == types.Int && !t.Elem.Nullable {
				lo := g.leaf(tInt)
				hi := op(tInt, "%", "%s %% %s", term{"j", types.ColRef(diffSchema, 1)}, term{"20", types.Const(tInt, int64(20))})
				lo = op(tInt, "%", "%s %% %s", lo, term{"9", types.Const(tInt, int64(9))})
				return op(t, "..", "%s .. %s", lo, hi)
			}
		case 1:
			return op(t, "reverse", "reverse(%s)", g.make(t, depth))
		case 2:
			return op(t, "slice", "%s[%s:%s]", g.make(t, depth), g.leaf(tInt), g.leaf(tInt))
		}
		return g.leaf(t)
	}
	panic(t)
}

var funcs = func() map[string]*spec.Func {
	m := map[string]*spec.Func{}
	for _, f := range fn.All() {
		m[f.Name] = f
	}
	return m
}()

type lib struct{}

func (lib) Kernel(name string, sig *types.Sig) eval.Kernel {
	return funcs[name].Overloads[sig.ID].Kernel
}

// sigOf finds the overload with the kinds of the arguments.
func sigOf(name string, args []*types.Expr) *types.Sig {
	f := funcs[name]
	if f == nil {
		return nil
	}
	for i := range f.Overloads {
		s := &f.Overloads[i].Sig
		if len(s.Params) == len(args) && slices.EqualFunc(s.Params, args, func(p types.Type, a *types.Expr) bool { return p.Kind == a.Type.Kind }) {
			s.ID = i
			return s
		}
	}
	panic(name)
}

// batch makes random rows. A nullable column has many nulls, few or none.
func (g *gen) batch() *vec.Batch {
	n := 1 + g.Intn(150)
	b := &vec.Batch{N: n}
	for _, f := range diffSchema.Fields {
		bd := vec.NewBuilder(f.Type)
		share := []int{0, 2, 20}[g.Intn(3)]
		for range n {
			bd.Append(g.value(f.Type, share))
		}
		b.Cols = append(b.Cols, bd.Column())
	}
	switch g.Intn(3) {
	case 0:
		b.Sel = []uint32{}
		keep := 1 + g.Intn(10)
		for i := range n {
			if g.Intn(11) < keep {
				b.Sel = append(b.Sel, uint32(i))
			}
		}
	}
	return b
}

func (g *gen) value(t types.Type, share int) any {
	if t.Nullable && share > 0 && g.Intn(share) == 0 {
		return nil
	}
	switch t.Kind {
	case types.Int:
		if g.Intn(4) == 0 {
			return numbers[g.Intn(len(numbers))]
		}
		return int64(g.Intn(12)) - 2
	case types.Float:
		if g.Intn(4) == 0 {
			return reals[g.Intn(len(reals))]
		}
		return float64(g.Intn(40)) / 4
	case types.String:
		return words[g.Intn(len(words))]
	case types.Bool:
		return g.Intn(2) == 0
	case types.Time:
		return int64(1.7e18) + int64(g.Intn(100))*1e9
	case types.Duration:
		return int64(g.Intn(5000)) * 1e9 / 7
	}
	xs := []any{}
	for range g.Intn(5) {
		xs = append(xs, g.value(*t.Elem, 3))
	}
	return xs
}

func (d *differ) one() {
	g := d.g
	g.pool = nil
	kinds := []types.Type{tInt, tFloat, tString, tBool, tBool, tBool, tTime, tDuration, tInts}
	x := g.make(kinds[g.Intn(len(kinds))], 1+g.Intn(5))
	env := vmtypes.Map{}
	for _, f := range diffSchema.Fields {
		env[f.Name] = vmtypes.Any
	}
	prog, err := expr.Compile(x.text, expr.Env(env), expr.Optimize(false))
	if err != nil {
		if strings.Contains(err.Error(), "cannot use nil") || strings.Contains(err.Error(), "mismatched types") {
			return
		}
		d.t.Fatalf("%s\n%s", x.text, err)
	}
	p, err := eval.Compile(x.Expr, lib{})
	if err != nil {
		d.t.Fatalf("%s\n%s", x.text, err)
	}
	for range 3 {
		b := g.batch()
		if len(d.kept) > 4 {
			d.kept = d.kept[1:]
		}
		d.compare(x, prog, p, b)
		for _, k := range d.kept { // what was given out before must not have changed
			if s := k.b.String(); s != k.text {
				d.t.Errorf("%s\na result was changed later:\n%s\nnow\n%s", k.expr, k.text, s)
			}
		}
	}
}

// given is a result and what it was when it was given out.
type given struct {
	expr, text string
	b          *vec.Batch
}

func (d *differ) compare(x term, prog *vm.Program, p *eval.Prog, b *vec.Batch) {
	var ctx eval.Ctx
	got := p.Eval(&ctx, b, nil)
	if sel := ctx.Drop(b.Sel, b.N); len(sel) > 0 || sel == nil {
		g := given{expr: x.text, b: b.With([]*vec.Column{got}).Select(sel)}
		g.text = g.b.String()
		d.kept = append(d.kept, g)
	}
	failed := map[int]error{}
	for _, f := range ctx.Failed() {
		failed[f.Row] = f.Err
	}
	var machine vm.VM
	env := map[string]any{}
	var want []uint32
	for k := range b.Rows() {
		row := b.Row(k)
		for i, f := range diffSchema.Fields {
			env[f.Name] = eval.Box(b.Cols[i], row)
		}
		v, err := machine.Run(prog, env)
		ours := any(nil)
		if failed[row] == nil {
			ours = eval.Box(got, row)
		}
		d.rows++
		bad := ""
		switch {
		case err == nil && failed[row] != nil:
			bad = "fails: " + failed[row].Error()
		case err == nil && !alike(v, ours):
			bad = fmt.Sprintf("gives %#v", ours)
		case err == nil:
			d.values++
		case strings.Contains(err.Error(), "divide by zero") || strings.Contains(err.Error(), "index out of range"):
			if failed[row] == nil {
				bad = fmt.Sprintf("gives %#v", ours)
			}
			d.fails++
		case failed[row] != nil:
			d.fails++
		case ours == nil:
			d.nulls++
		case !logical(x.Expr):
			bad = fmt.Sprintf("gives %#v instead of null", ours)
		default:
			d.logic++
		}
		if bad != "" {
			d.t.Errorf("%s\nrow %d of %d: the VM gives %#v %v, ours %s\ncolumns %v", x.text, row, b.N, v, err, bad, env)
			return
		}
		if failed[row] == nil && ours == true {
			want = append(want, uint32(row))
		}
	}
	if x.Type.Kind != types.Bool {
		return
	}
	var again eval.Ctx
	kept := p.Filter(&again, b, nil)
	if !slices.Equal(kept, want) {
		d.t.Errorf("%s\nFilter gives %v, Eval is true on %v", x.text, kept, want)
	}
	if !slices.EqualFunc(again.Failed(), ctx.Failed(), func(a, b eval.Fail) bool { return a.Row == b.Row }) {
		d.t.Errorf("%s\nFilter fails on %v, Eval on %v", x.text, again.Failed(), ctx.Failed())
	}
}

// logical reports whether e can make a value of nulls.
func logical(e *types.Expr) bool {
	found := false
	e.Walk(func(x *types.Expr) bool {
		switch x.Op {
		case types.OpAnd, types.OpOr, types.OpIf, types.OpCoalesce, types.OpList:
			found = true
		case types.OpCall:
			found = found || x.Type.Kind == types.Bool && !x.Type.Nullable || x.Name == "slice" || x.Name == "reverse"
		}
		return !found
	})
	return found
}

// alike reports whether a value of the VM and ours are the same; an int of the VM may be our float.
func alike(v, ours any) bool {
	switch x := v.(type) {
	case nil:
		return ours == nil
	case int:
		if f, ok := ours.(float64); ok {
			return f == float64(x)
		}
	case float64:
		f, ok := ours.(float64)
		return ok && (f == x || math.IsNaN(f) && math.IsNaN(x))
	case time.Time:
		t, ok := ours.(time.Time)
		return ok && t.Equal(x)
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Slice {
		list, ok := ours.([]any)
		if !ok || len(list) != rv.Len() {
			return false
		}
		for i := range list {
			if !alike(rv.Index(i).Interface(), list[i]) {
				return false
			}
		}
		return true
	}
	return v == ours
}
