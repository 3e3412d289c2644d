package eval_test

import (
	"math"
	"strings"
	"testing"

	"github.com/expr-lang/expr/ast"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// table makes a batch and the terms of its columns.
func table(fields []types.Field, rows ...[]any) (*vec.Batch, map[string]term) {
	s := types.NewSchema(fields...)
	cols := map[string]term{}
	for i, f := range fields {
		cols[f.Name] = term{f.Name, types.ColRef(s, i)}
	}
	return vec.FromRows(s, rows), cols
}

func lit(v any) term {
	switch x := v.(type) {
	case int:
		return term{"", types.Const(tInt, int64(x))}
	case float64:
		return term{"", types.Const(tFloat, x)}
	case string:
		return term{"", types.Const(tString, x)}
	case bool:
		return term{"", types.Const(tBool, x)}
	}
	return term{"", types.Const(types.T(types.Null), nil)}
}

func node(o types.Op, t types.Type, args ...term) term {
	x := &types.Expr{Op: o, Type: t}
	for _, a := range args {
		x.Args = append(x.Args, a.Expr)
	}
	return term{"", x}
}

func values(t testing.TB, x term, b *vec.Batch) ([]any, []eval.Fail) {
	t.Helper()
	p, err := eval.Compile(x.Expr, lib{})
	require.NoError(t, err)
	var ctx eval.Ctx
	c := p.Eval(&ctx, b, nil)
	var out []any
	for i := range b.Rows() {
		out = append(out, c.Value(b.Row(i)))
	}
	return out, ctx.Failed()
}

// TestRanges compares every relation with constants at the ends of what there is.
func TestRanges(t *testing.T) {
	ints := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	floats := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, 0.5, math.MaxFloat64, math.Inf(1), math.NaN()}
	holds := map[string]func(a, b float64) bool{"<": func(a, b float64) bool { return a < b }, "<=": func(a, b float64) bool { return a <= b },
		"==": func(a, b float64) bool { return a == b }, "!=": func(a, b float64) bool { return a != b }, ">=": func(a, b float64) bool { return a >= b }, ">": func(a, b float64) bool { return a > b }}
	cmpInt := map[string]func(a, b int64) bool{"<": func(a, b int64) bool { return a < b }, "<=": func(a, b int64) bool { return a <= b },
		"==": func(a, b int64) bool { return a == b }, "!=": func(a, b int64) bool { return a != b }, ">=": func(a, b int64) bool { return a >= b }, ">": func(a, b int64) bool { return a > b }}
	var rows [][]any
	for _, i := range ints {
		for _, f := range floats {
			rows = append(rows, []any{i, f})
		}
	}
	b, cols := table([]types.Field{{Name: "i", Type: tInt}, {Name: "f", Type: tFloat}}, rows...)
	b2 := b.Select([]uint32{0, 3, 5, 9, 20, 33, 68})
	check := func(x term, want func(row int) bool) {
		for _, b := range []*vec.Batch{b, b2} {
			p, err := eval.Compile(x.Expr, lib{})
			require.NoError(t, err)
			var ctx eval.Ctx
			got := p.Eval(&ctx, b, nil)
			var sel []uint32
			for k := range b.Rows() {
				row := b.Row(k)
				require.Equal(t, want(row), got.Bools[row], "%s at row %d: %v", x, row, rows[row])
				if want(row) {
					sel = append(sel, uint32(row))
				}
			}
			require.ElementsMatch(t, sel, p.Filter(&ctx, b, nil), "%s", x)
		}
	}
	for name := range holds {
		for _, c := range ints {
			check(op(tBool, name, "", cols["i"], term{"", types.Const(tInt, c)}), func(r int) bool { return cmpInt[name](rows[r][0].(int64), c) })
			check(op(tBool, name, "", term{"", types.Const(tInt, c)}, cols["i"]), func(r int) bool { return cmpInt[name](c, rows[r][0].(int64)) })
			for other := range holds {
				for _, d := range ints {
					x, y := op(tBool, name, "", cols["i"], term{"", types.Const(tInt, c)}), op(tBool, other, "", cols["i"], term{"", types.Const(tInt, d)})
					check(node(types.OpAnd, tBool, x, y), func(r int) bool { i := rows[r][0].(int64); return cmpInt[name](i, c) && cmpInt[other](i, d) })
					check(node(types.OpOr, tBool, x, y), func(r int) bool { i := rows[r][0].(int64); return cmpInt[name](i, c) || cmpInt[other](i, d) })
				}
			}
		}
		for _, c := range floats {
			check(op(tBool, name, "", cols["f"], term{"", types.Const(tFloat, c)}), func(r int) bool { return holds[name](rows[r][1].(float64), c) })
			check(op(tBool, name, "", widen(cols["i"]), term{"", types.Const(tFloat, c)}), func(r int) bool { return holds[name](float64(rows[r][0].(int64)), c) })
			for _, d := range floats {
				x, y := op(tBool, name, "", cols["f"], term{"", types.Const(tFloat, c)}), op(tBool, "<", "", cols["f"], term{"", types.Const(tFloat, d)})
				check(node(types.OpAnd, tBool, x, y), func(r int) bool { f := rows[r][1].(float64); return holds[name](f, c) && f < d })
				check(node(types.OpOr, tBool, x, y), func(r int) bool { f := rows[r][1].(float64); return holds[name](f, c) || f < d })
			}
		}
	}
}

func TestModulo(t *testing.T) {
	var rows [][]any
	for _, x := range []int64{0, 1, 2, 122, 123, 124, 1<<32 - 1, 5, -1, -123, math.MaxInt64, math.MinInt64, 1 << 32} {
		rows = append(rows, []any{x})
	}
	for _, n := range []int{8, len(rows)} { // small values alone, and mixed with others
		b, cols := table([]types.Field{{Name: "x", Type: tInt}}, rows[:n]...)
		for _, c := range []int64{1, 2, 3, 7, 123, 1<<32 - 1, 1 << 32, -1, -5, math.MaxInt64, math.MinInt64} {
			m := op(tInt, "%", "", cols["x"], term{"", types.Const(tInt, c)})
			got, fails := values(t, m, b)
			require.Empty(t, fails)
			is, _ := values(t, total("==", "", m, lit(1)), b)
			isNot, _ := values(t, total("!=", "", m, lit(1)), b)
			for i := range n {
				want := rows[i][0].(int64) % c
				require.Equal(t, want, got[i], "%d %% %d", rows[i][0], c)
				require.Equal(t, want == 1, is[i])
				require.Equal(t, want != 1, isNot[i])
			}
		}
	}
}

// TestGuards: a row that a condition keeps away from an operation does not fail by it.
func TestGuards(t *testing.T) {
	b, cols := table([]types.Field{{Name: "x", Type: tInt.Null()}, {Name: "y", Type: tInt}}, []any{int64(0), int64(7)}, []any{int64(2), int64(7)}, []any{nil, int64(7)}, []any{int64(7), int64(7)})
	zero := op(tBool, "==", "", op(tInt, "%", "", cols["y"], cols["x"]), lit(0))
	zero.Type = tBool
	guarded := node(types.OpAnd, tBool, total("!=", "", cols["x"], lit(0)), zero)
	got, fails := values(t, guarded, b)
	require.Empty(t, fails)
	require.Equal(t, []any{false, false, false, true}, got)

	got, fails = values(t, zero, b)
	require.Len(t, fails, 1)
	require.Equal(t, 0, fails[0].Row)
	require.ErrorContains(t, fails[0], "division by zero")
	require.Equal(t, []any{false, false, true}, got[1:])

	choice := node(types.OpIf, tInt.Null(), total("==", "", cols["x"], lit(0)), lit(-1), op(tInt, "%", "", cols["y"], cols["x"]))
	got, fails = values(t, choice, b)
	require.Empty(t, fails)
	require.Equal(t, []any{int64(-1), int64(1), nil, int64(0)}, got)

	// A part behind a null may fail, whether a value is asked for or a selection.
	null := node(types.OpAnd, tBool.Null(), op(tBool, ">", "", cols["x"], lit(0)), op(tBool, "==", "", op(tInt, "%", "", lit(1), op(tInt, "-", "", cols["y"], lit(7))), lit(0)))
	p, err := eval.Compile(null.Expr, lib{})
	require.NoError(t, err)
	var a, c eval.Ctx
	p.Eval(&a, b, nil)
	require.Empty(t, p.Filter(&c, b, nil))
	require.Equal(t, a.Failed(), c.Failed())
	require.Len(t, a.Failed(), 3)
}

func TestDrop(t *testing.T) {
	x := eval.Ctx{Fails: []eval.Fail{{Row: 5}, {Row: 1}, {Row: 5}}}
	require.Equal(t, []uint32{0, 2, 3, 4}, x.Drop(nil, 6))
	require.Equal(t, []uint32{2, 6}, x.Drop([]uint32{1, 2, 5, 6}, 8))
	x.Reset(3)
	require.Nil(t, x.Drop(nil, 6))
	require.Equal(t, int64(3), x.Now)
}

func TestFold(t *testing.T) {
	_, cols := table([]types.Field{{Name: "x", Type: tInt}, {Name: "b", Type: tBool}}, []any{int64(1), true})
	for _, c := range []struct {
		x    term
		want string
	}{
		{op(tInt, "+", "", lit(1), op(tInt, "*", "", lit(2), lit(3))), "7"},
		{op(tInt, "%", "", lit(1), lit(0)), "(1 % 0)"},
		{op(tInt, "+", "", cols["x"], op(tInt, "+", "", lit(1), lit(1))), "(x + 2)"},
		{node(types.OpAnd, tBool, lit(true), cols["b"]), "b"},
		{node(types.OpAnd, tBool, lit(false), cols["b"]), "false"},
		{node(types.OpOr, tBool, lit(false), cols["b"]), "b"},
		{node(types.OpIf, tInt, lit(false), lit(1), cols["x"]), "x"},
		{node(types.OpCoalesce, tInt, lit(nil), cols["x"]), "x"},
		{node(types.OpCoalesce, tInt, lit(4), cols["x"]), "4"},
		{op(tString, "upper", "", lit("ab")), `"AB"`},
		{total("in", "", lit(2), node(types.OpList, tInts, lit(1), lit(2))), "true"},
		{total("in", "", cols["x"], node(types.OpList, tInts, lit(1), lit(2))), "(x in [1, 2])"},
		{op(tInt, "neg", "", term{"", &types.Expr{Op: types.OpNow, Type: tTime}}), "-now()"},
		{total("==", "", lit(nil), lit(nil)), "true"},
		{total("!=", "", lit(nil), lit(1)), "true"},
		{node(types.OpCast, tFloat, lit(2)), "2.0"},
	} {
		x := c.x.Expr
		require.Equal(t, c.want, eval.Fold(x, lib{}, eval.MostFolded).String())
	}
}

// TestSharing: what expressions have in common is computed once, and what they give out stays what it is.
func TestSharing(t *testing.T) {
	b, cols := table([]types.Field{{Name: "s", Type: tString}}, []any{"Ab"}, []any{"c"})
	up := op(tString, "upper", "", cols["s"])
	es := []*types.Expr{up.Expr, total("==", "", up, lit("AB")).Expr, op(tString, "+", "", up, up).Expr,
		{Op: types.OpRecord, Type: types.RecordOf(types.Field{Name: "u", Type: tString}), Names: []string{"u"}, Args: []*types.Expr{up.Expr}}}
	calls := 0
	p, err := eval.CompileAll(es, counting{&calls})
	require.NoError(t, err)
	var x eval.Ctx
	out, again := make([]*vec.Column, len(es)), make([]*vec.Column, len(es))
	p.EvalAll(&x, b, nil, out)
	require.Equal(t, 1, calls)
	other, _ := table([]types.Field{{Name: "s", Type: tString}}, []any{"xx"}, []any{"yy"})
	p.EvalAll(&x, other, nil, again)
	require.Equal(t, `AB, true, ABAB, map[u:AB]
C, false, CC, map[u:C]
`, b.With(out).String())
}

type counting struct{ n *int }

func (l counting) Kernel(name string, sig *types.Sig) eval.Kernel {
	k := lib{}.Kernel(name, sig)
	return func(c *eval.Call) { *l.n++; k(c) }
}

func TestJSON(t *testing.T) {
	tAny := types.T(types.Any).Null()
	b, cols := table([]types.Field{{Name: "j", Type: tAny}, {Name: "k", Type: tInt}}, []any{` {"a" : {"b\"c":[1, "x,}", null]}, "a":2, "é":"}"}`, int64(1)}, []any{`[10,[20],{"a":30}]`, int64(-1)}, []any{nil, int64(0)}, []any{`"text"`, int64(0)}, []any{`{"a`, int64(0)})
	member := func(x term, name string) term {
		m := node(types.OpField, tAny, x)
		m.Expr.Name = name
		return m
	}
	for _, c := range []struct {
		x    term
		want []any
	}{
		{member(cols["j"], "a"), []any{"2", nil, nil, nil, nil}},
		{member(cols["j"], "é"), []any{`"}"`, nil, nil, nil, nil}},
		{node(types.OpIndex, tAny, cols["j"], cols["k"]), []any{nil, `{"a":30}`, nil, nil, nil}},
		{member(node(types.OpIndex, tAny, cols["j"], lit(-1)), "a"), []any{nil, "30", nil, nil, nil}},
		{node(types.OpIndex, tAny, cols["j"], lit("a")), []any{"2", nil, nil, nil, nil}},
		{total("in", "", lit("a"), cols["j"]), []any{true, false, false, false, false}},
		{total("in", "", lit(10), cols["j"]), []any{false, true, false, false, false}},
		{total("==", "", member(cols["j"], "a"), lit(2.0)), []any{true, false, false, false, false}},
		{total("==", "", cols["j"], lit("text")), []any{false, false, false, true, false}},
	} {
		got, fails := values(t, c.x, b)
		require.Empty(t, fails)
		require.Equal(t, c.want, got, "%s", c.x)
	}
	for _, s := range []string{"", "{", `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, "[", "[1", "[1,", `["`, "}", `{"a":[[[`, `{"\u`, `{"a\`} {
		eval.JSONMember(s, "a")
		eval.JSONElement(s, -1)
		eval.JSONElement(s, 5)
	}
}

// FuzzJSON: whatever the text is, the functions that look into it end.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a":[1,{"b":"\"}"}],"c":null}`)
	f.Add(`[[1,2],"x"]`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range eval.JSONMembers(s) {
			eval.JSONMember(v, "a")
		}
		for e := range eval.JSONElements(s) {
			if !strings.Contains(s, e) {
				t.Error("no part of the text")
			}
		}
		eval.JSONElement(s, -1)
	})
}

func TestRecordsAndLists(t *testing.T) {
	rec := types.RecordOf(types.Field{Name: "n", Type: tInt}, types.Field{Name: "s", Type: tString.Null()})
	b, cols := table([]types.Field{{Name: "r", Type: rec.Null()}, {Name: "xs", Type: tInts.Null()}, {Name: "b", Type: tBool.Null()}},
		[]any{map[string]any{"n": int64(1), "s": nil}, []any{int64(1), int64(2)}, true}, []any{nil, nil, nil}, []any{map[string]any{"n": int64(3), "s": "x"}, []any{}, false})
	field := func(name string, u types.Type) term {
		m := node(types.OpField, u, cols["r"])
		m.Expr.Name = name
		return m
	}
	for _, c := range []struct {
		x    term
		want []any
	}{
		{field("n", tInt.Null()), []any{int64(1), nil, int64(3)}},
		{field("s", tString.Null()), []any{nil, nil, "x"}},
		{total("==", "", cols["r"], lit(nil)), []any{false, true, false}},
		{total("==", "", cols["r"], cols["r"]), []any{true, true, true}},
		{total("in", "", lit("n"), cols["r"]), []any{true, false, true}},
		{total("in", "", lit("q"), cols["r"]), []any{false, false, false}},
		{node(types.OpIf, rec.Null(), cols["b"], cols["r"], lit(nil)), []any{map[string]any{"n": int64(1), "s": nil}, nil, nil}},
		{node(types.OpIf, tInts.Null(), cols["b"], node(types.OpList, tInts, lit(9)), cols["xs"]), []any{[]any{int64(9)}, nil, []any{}}},
		{node(types.OpCoalesce, tInts, cols["xs"], node(types.OpList, tInts, lit(7), lit(8))), []any{[]any{int64(1), int64(2)}, []any{int64(7), int64(8)}, []any{}}},
		{node(types.OpCast, types.ListOf(tFloat).Null(), cols["xs"]), []any{[]any{1.0, 2.0}, nil, []any{}}},
		{op(tInts, "slice", "", cols["xs"], lit(-1), lit(9)), []any{[]any{int64(2)}, nil, []any{}}},
	} {
		got, fails := values(t, c.x, b)
		require.Empty(t, fails)
		require.Equal(t, c.want, got, "%s", c.x)
	}
	_, fails := values(t, node(types.OpIndex, tInt.Null(), cols["xs"], lit(0)), b)
	require.Len(t, fails, 1)
	require.Equal(t, 2, fails[0].Row)
}

// TestIsland runs nodes of the VM.
func TestIsland(t *testing.T) {
	b, cols := table([]types.Field{{Name: "xs", Type: tInts.Null()}, {Name: "n", Type: tInt}, {Name: "at", Type: tTime}}, []any{[]any{int64(1), int64(2)}, int64(10), int64(0)}, []any{nil, int64(1), int64(1)}, []any{[]any{int64(3)}, int64(0), int64(2)})
	island := func(u types.Type, n ast.Node, args ...term) term {
		x := node(types.OpIsland, u, args...)
		x.Expr.Node = n
		x.Expr.Names = []string{"a0", "a1"}[:len(args)]
		return x
	}
	name := func(s string) ast.Node { return &ast.IdentifierNode{Value: s} }
	each := &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{name("a0"), &ast.PredicateNode{Node: &ast.BinaryNode{Operator: "%", Left: &ast.PointerNode{}, Right: name("a1")}}}}
	got, fails := values(t, island(tInts.Null(), each, cols["xs"], cols["n"]), b)
	require.Equal(t, []any{[]any{int64(1), int64(2)}, nil}, got[:2])
	require.Len(t, fails, 1)
	require.Equal(t, 2, fails[0].Row)
	require.ErrorContains(t, fails[0], "integer divide by zero")

	thousand := &ast.BinaryNode{Operator: "..", Left: &ast.IntegerNode{Value: 1}, Right: &ast.IntegerNode{Value: 1000}}
	nested := &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{thousand, &ast.PredicateNode{Node: &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{thousand, &ast.PredicateNode{Node: name("a0")}}}}}}
	_, fails = values(t, island(types.ListOf(tInts).Null(), nested, cols["n"]), b)
	require.Len(t, fails, 3)
	require.ErrorContains(t, fails[0], "more than 1000000 list elements are made for one row; shorten the lists")

	is := island(tBool, &ast.BinaryNode{Operator: "==", Left: name("a0"), Right: &ast.NilNode{}}, cols["xs"])
	is.Expr.Loose = true
	got, fails = values(t, is, b)
	require.Empty(t, fails)
	require.Equal(t, []any{false, true, false}, got)

	got, fails = values(t, island(tTime, name("a0"), cols["at"]), b)
	require.Empty(t, fails)
	require.Equal(t, []any{int64(0), int64(1), int64(2)}, got)

	_, fails = values(t, island(tString, name("a0"), cols["n"]), b) // the type is wrong: each row says so
	require.Len(t, fails, 3)
	require.ErrorContains(t, fails[0], "the value 10 is no string")
}

func TestCompileErrors(t *testing.T) {
	_, cols := table([]types.Field{{Name: "s", Type: tString}, {Name: "n", Type: tInt}}, []any{"", int64(0)})
	for _, c := range []struct {
		x    *types.Expr
		want string
	}{
		{&types.Expr{Op: types.OpCall, Name: "matches", Type: tBool, Args: []*types.Expr{cols["s"].Expr, types.Const(tString, "a(")}}, "bad regular expression"},
		{&types.Expr{Op: types.OpCall, Name: "-", Type: tInt, Args: []*types.Expr{cols["s"].Expr, cols["n"].Expr}}, "`-` does not take string and int"},
		{&types.Expr{Op: types.OpCall, Name: "nope", Type: tInt}, "was not resolved"},
		{&types.Expr{Op: types.OpField, Name: "a", Type: tInt, Args: []*types.Expr{cols["n"].Expr}}, "has no fields"},
		{&types.Expr{Op: types.OpCall, Name: "<", Type: tBool, Args: []*types.Expr{{Op: types.OpList, Type: tInts}, cols["n"].Expr}, Pos: types.Place{File: "f", Line: 1, Column: 2}}, "f:1:2: `<` does not take"},
	} {
		_, err := eval.Compile(c.x, lib{})
		require.ErrorContains(t, err, c.want)
	}
}

// TestTimeRange: a time that none can hold fails the row; a difference is cut.
func TestTimeRange(t *testing.T) {
	b, cols := table([]types.Field{{Name: "t", Type: tTime}, {Name: "d", Type: tDuration}, {Name: "f", Type: tFloat}}, []any{int64(math.MaxInt64 - 5), int64(10), 1e300}, []any{int64(5), int64(10), 0.5}, []any{int64(math.MinInt64 + 5), int64(-10), math.NaN()})
	got, fails := values(t, op(tTime, "+", "", cols["t"], cols["d"]), b)
	require.Len(t, fails, 2)
	require.Equal(t, int64(15), got[1])
	got, fails = values(t, op(tDuration, "-", "", cols["t"], term{"", types.Const(tTime, int64(-100))}), b)
	require.Empty(t, fails)
	require.Equal(t, []any{int64(math.MaxInt64), int64(105), int64(math.MinInt64 + 105)}, got)
	for _, sign := range []string{"*", "/"} {
		got, fails = values(t, op(tDuration, sign, "", cols["d"], cols["f"]), b)
		require.Equal(t, 2, fails[len(fails)-1].Row)
		require.Equal(t, map[string]any{"*": int64(5), "/": int64(20)}[sign], got[1])
	}
	_, fails = values(t, op(tDuration, "/", "", cols["d"], lit(0)), b)
	require.Len(t, fails, 3)
}

// TestAllocations: a warm program allocates what it gives out and little else.
func TestAllocations(t *testing.T) {
	rows := make([][]any, 4096)
	for i := range rows {
		rows[i] = []any{int64(i), float64(i), "Word"}
	}
	b, cols := table([]types.Field{{Name: "i", Type: tInt}, {Name: "f", Type: tFloat}, {Name: "s", Type: tString}}, rows...)
	x := node(types.OpAnd, tBool, op(tBool, ">", "", op(tFloat, "*", "", cols["f"], widen(cols["i"])), lit(5.5)),
		node(types.OpOr, tBool, total("==", "", cols["s"], lit("Word")), op(tBool, "<", "", op(tInt, "%", "", cols["i"], lit(7)), lit(3))))
	p, err := eval.Compile(x.Expr, lib{})
	require.NoError(t, err)
	var ctx eval.Ctx
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() { p.Filter(&ctx, b, nil) }), 2.0)
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() { p.Eval(&ctx, b, nil) }), 3.0)
	y, err := eval.Compile(op(tString, "upper", "", cols["s"]).Expr, lib{})
	require.NoError(t, err)
	require.LessOrEqual(t, testing.AllocsPerRun(50, func() { y.Eval(&ctx, b, nil) }), 6.0)
}
