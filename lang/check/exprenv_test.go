package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// exprEnv is a small catalog for the tests of expressions. The real one is the standard library.
type exprEnv struct {
	funcs map[string][]*types.Sig
	aggs  map[string]*types.AggSig
	vars  map[string]string
}

func (e *exprEnv) Func(name string) []*types.Sig                                         { return e.funcs[name] }
func (e *exprEnv) Agg(name string) *types.AggSig                                         { return e.aggs[name] }
func (e *exprEnv) Stage(string) *types.StageSig                                          { return nil }
func (e *exprEnv) Conn(string) *types.ConnSig                                            { return nil }
func (e *exprEnv) Source(*types.ConnArgs, *types.Schema) (i types.SourceInfo, err error) { return }
func (e *exprEnv) Pipes(*types.ConnArgs) []types.Pipe                                    { return nil }
func (e *exprEnv) Updating(*types.ConnArgs) bool                                         { return false }
func (e *exprEnv) ReadScript(string) (string, error)                                     { return "", errors.New("none") }
func (e *exprEnv) Getenv(name string) (string, bool)                                     { v, ok := e.vars[name]; return v, ok }
func (e *exprEnv) Names(kind string) []string {
	var names []string
	switch kind {
	case "func":
		for n := range e.funcs {
			names = append(names, n)
		}
	case "agg":
		for n := range e.aggs {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// testType reads a type: a kind, `*` for any value, `[T]`, `{a: T}`, each with an optional `?`.
func testType(s string) types.Type {
	s = strings.TrimSpace(s)
	if t, ok := strings.CutSuffix(s, "?"); ok {
		return testType(t).Null()
	}
	switch {
	case s == "*":
		return types.Type{}
	case strings.HasPrefix(s, "["):
		return types.ListOf(testType(s[1 : len(s)-1]))
	case strings.HasPrefix(s, "{"):
		return types.Type{Kind: types.Record, Fields: testFields(s[1 : len(s)-1])}
	}
	for k := types.Null; k <= types.Any; k++ {
		if k.String() == s {
			return types.T(k)
		}
	}
	panic("no type " + s)
}

// testFields reads `a: T, b: U`.
func testFields(s string) []types.Field {
	var out []types.Field
	depth, from := 0, 0
	add := func(part string) {
		if name, typ, ok := strings.Cut(part, ":"); ok {
			out = append(out, types.Field{Name: strings.Trim(strings.TrimSpace(name), "\""), Type: testType(typ)})
		}
	}
	for i, r := range s {
		switch r {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				add(s[from:i])
				from = i + 1
			}
		}
	}
	add(s[from:])
	return out
}

// testSig reads a signature: `string, int opt -> string`, with `…` behind a parameter that repeats; the result may be
// `same` (as the first argument), `elem` (an element of it, or null), `widest`; and flags after it: vm, loose, volatile.
func testSig(s string) *types.Sig {
	in, out, ok := strings.Cut(s, "->")
	if !ok {
		panic(s)
	}
	sig := &types.Sig{}
	for _, p := range strings.Split(in, ",") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if q, ok := strings.CutSuffix(p, " opt"); ok {
			p = q
			sig.Optional++
		}
		if q, ok := strings.CutSuffix(p, "…"); ok {
			p = q
			sig.Variadic = true
		}
		sig.Params = append(sig.Params, testType(p))
	}
	words := strings.Fields(out)
	for _, w := range words[1:] {
		switch w {
		case "vm":
			sig.VM = true
		case "loose":
			sig.Loose = true
		case "volatile":
			sig.Volatile = true
		default:
			panic(w)
		}
	}
	switch words[0] {
	case "same":
		sig.Infer = func(args []*types.Expr) (types.Type, error) { return args[0].Type.NotNull(), nil }
	case "elem":
		sig.Infer = func(args []*types.Expr) (types.Type, error) {
			if args[0].Type.Kind == types.Any || args[0].Type.Elem.Kind == types.Null {
				return types.T(types.Any).Null(), nil
			}
			return args[0].Type.Elem.Null(), nil
		}
	case "flat":
		sig.Infer = func(args []*types.Expr) (types.Type, error) {
			e := *args[0].Type.Elem
			for e.Kind == types.List {
				e = *e.Elem
			}
			return types.ListOf(e), nil
		}
	case "joined":
		sig.Infer = func(args []*types.Expr) (types.Type, error) {
			u := args[0].Type
			for _, a := range args[1:] {
				v, err := types.Unify(u, a.Type)
				if err != nil {
					return v, fmt.Errorf("the lists have different elements: %s", err)
				}
				u = v
			}
			return u.NotNull(), nil
		}
	case "field":
		sig.Infer = func(args []*types.Expr) (types.Type, error) {
			name, ok := args[1].Value.(string)
			if !ok {
				return types.Type{}, errors.New("the name of the field must be constant")
			}
			if i := args[0].Type.Field(name); i >= 0 {
				return args[0].Type.Fields[i].Type.Null(), nil
			}
			return types.Type{}, fmt.Errorf("there is no field `%s`", name)
		}
	case "keys":
		sig.Result = types.ListOf(types.T(types.String))
	default:
		sig.Result = testType(words[0])
	}
	return sig
}

func testEnv() *exprEnv {
	e := &exprEnv{funcs: map[string][]*types.Sig{}, aggs: map[string]*types.AggSig{}, vars: map[string]string{"HOME": "/home/x"}}
	for name, sigs := range map[string]string{
		"abs": "int -> int; float -> float", "ceil": "float -> float", "floor": "float -> float", "round": "float -> float", "div": "int, int -> int",
		"int": "int -> int; float -> int; string -> int; duration -> int; any -> int", "float": "float -> float; string -> float; any -> float",
		"string": "* -> string loose", "type": "* -> string loose vm", "upper": "string -> string", "lower": "string -> string",
		"trim": "string, string opt -> string", "trimPrefix": "string, string opt -> string", "trimSuffix": "string, string opt -> string",
		"split": "string, string, int opt -> [string]", "splitAfter": "string, string, int opt -> [string]", "replace": "string, string, string, int opt -> string",
		"repeat": "string, int -> string", "join": "[string], string opt -> string", "indexOf": "string, string -> int", "lastIndexOf": "string, string -> int",
		"hasPrefix": "string, string -> bool", "hasSuffix": "string, string -> bool", "substr": "string, int, int opt -> string", "part": "string, string, int -> string?",
		"len": "string -> int; [*] -> int; any -> int; {} -> int", "first": "[*] -> elem; any -> elem", "last": "[*] -> elem; any -> elem",
		"get": "[*], int -> elem; {}, string -> field; any, string -> any?; any, int -> any?", "take": "[*], int -> same vm", "reverse": "[*] -> same vm", "uniq": "[*] -> same vm",
		"concat": "[*]… -> joined vm", "flatten": "[*] -> flat vm", "sort": "[*], string opt -> same vm", "keys": "{} -> keys vm; any -> keys vm", "values": "any -> [any?] vm",
		"min": "int, int… -> int; float, float… -> float; [int] -> int?; [float] -> float?", "max": "int, int… -> int; float, float… -> float; [int] -> int?; [float] -> float?",
		"mean": "[float] -> float; float… -> float", "median": "[float] -> float; float… -> float", "sum": "[int] -> int; [float] -> float",
		"toJSON": "* -> string loose vm", "fromJSON": "string -> any vm", "toBase64": "string -> string vm", "fromBase64": "string -> string vm",
		"duration": "string -> duration", "date": "string, string opt, string opt -> time", "time": "string, string opt -> time",
		"hour": "time, string opt -> int", "format": "time, string, string opt -> string", "truncate": "time, duration -> time; time, string, string opt -> time",
		"extract": "string, string, int -> string?", "random": "-> float volatile",
		"bitand": "int, int -> int", "bitor": "int, int -> int", "bitxor": "int, int -> int", "bitnand": "int, int -> int", "bitshl": "int, int -> int",
		"bitshr": "int, int -> int", "bitushr": "int, int -> int", "bitnot": "int -> int",
	} {
		for i, s := range strings.Split(sigs, ";") {
			sig := testSig(s)
			sig.ID = i
			e.funcs[name] = append(e.funcs[name], sig)
		}
	}
	num := []types.Kind{types.Int, types.Float}
	same := func(args []*types.Expr) (types.Type, error) { return args[0].Type.Null(), nil }
	is := func(t types.Type) func([]*types.Expr) (types.Type, error) {
		return func([]*types.Expr) (types.Type, error) { return t, nil }
	}
	x := types.AggParam{Name: "x"}
	n := types.AggParam{Name: "x", Kinds: num}
	f := types.AggParam{Name: "x", Kinds: []types.Kind{types.Float}}
	for _, a := range []*types.AggSig{
		{Name: "count", Params: []types.AggParam{{Name: "x", Optional: true}}, Result: is(types.T(types.Int))},
		{Name: "sum", Params: []types.AggParam{n}, Result: same},
		{Name: "avg", Params: []types.AggParam{f}, Result: is(types.T(types.Float).Null())},
		{Name: "min", Params: []types.AggParam{x}, Result: same},
		{Name: "max", Params: []types.AggParam{x}, Result: same},
		{Name: "first", Params: []types.AggParam{x}, Result: same, Ordered: true},
		{Name: "any", Params: []types.AggParam{x}, Result: same},
		{Name: "median", Params: []types.AggParam{f}, Result: is(types.T(types.Float).Null())},
		{Name: "distinct", Params: []types.AggParam{x}, Result: is(types.T(types.Int))},
		{Name: "quantile", Params: []types.AggParam{f, {Name: "p", Kinds: []types.Kind{types.Float}, Constant: true}}, Result: func(args []*types.Expr) (types.Type, error) {
			if p := args[1].Value.(float64); p < 0 || p > 1 {
				return types.Type{}, errors.New("`p` lies between 0 and 1")
			}
			return types.T(types.Float).Null(), nil
		}},
		{Name: "count_if", Params: []types.AggParam{{Name: "cond", Kinds: []types.Kind{types.Bool}}}, Result: is(types.T(types.Int))},
		{Name: "sum_if", Params: []types.AggParam{n, {Name: "cond", Kinds: []types.Kind{types.Bool}}}, Result: same},
		{Name: "collect", Params: []types.AggParam{x, {Name: "limit", Kinds: []types.Kind{types.Int}, Constant: true, Optional: true}},
			Result: func(args []*types.Expr) (types.Type, error) { return types.ListOf(args[0].Type.NotNull()), nil }},
		{Name: "lag", Params: []types.AggParam{x, {Name: "n", Kinds: []types.Kind{types.Int}, Constant: true, Optional: true}}, Result: same, Ordered: true},
		{Name: "row_number", Result: is(types.T(types.Int)), Ordered: true},
	} {
		e.aggs[a.Name] = a
	}
	return e
}
