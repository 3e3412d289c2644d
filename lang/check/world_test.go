package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// world is an Env of a size that tests can see through: the real catalog is not known here.
type world struct {
	files map[string]string
	env   map[string]string
	stage map[string]*types.StageSig
	conn  map[string]*types.ConnSig
	fn    map[string][]*types.Sig
	agg   map[string]*types.AggSig
	opens int // calls of Source
}

func (w *world) Func(name string) []*types.Sig     { return w.fn[name] }
func (w *world) Agg(name string) *types.AggSig     { return w.agg[name] }
func (w *world) Stage(name string) *types.StageSig { return w.stage[name] }
func (w *world) Conn(name string) *types.ConnSig   { return w.conn[name] }

func (w *world) Names(kind string) []string {
	var names []string
	add := func(n string) { names = append(names, n) }
	switch kind {
	case "func":
		for n := range w.fn {
			add(n)
		}
	case "agg":
		for n := range w.agg {
			add(n)
		}
	case "stage":
		for n := range w.stage {
			add(n)
		}
	case "conn":
		for n := range w.conn {
			add(n)
		}
	}
	slices.Sort(names)
	return names
}

var bidSchema = types.NewSchema(types.Field{Name: "auction", Type: types.T(types.Int)}, types.Field{Name: "bidder", Type: types.T(types.Int)},
	types.Field{Name: "price", Type: types.T(types.Int)}, types.Field{Name: "channel", Type: types.T(types.String)},
	types.Field{Name: "url", Type: types.T(types.String)}, types.Field{Name: "date_time", Type: types.T(types.Time)},
	types.Field{Name: "extra", Type: types.T(types.String)})

var auctionSchema = types.NewSchema(types.Field{Name: "id", Type: types.T(types.Int)}, types.Field{Name: "item_name", Type: types.T(types.String)},
	types.Field{Name: "initial_bid", Type: types.T(types.Int)}, types.Field{Name: "date_time", Type: types.T(types.Time)},
	types.Field{Name: "expires", Type: types.T(types.Time)}, types.Field{Name: "seller", Type: types.T(types.Int)},
	types.Field{Name: "category", Type: types.T(types.Int)})

func (w *world) Source(a *types.ConnArgs, declared *types.Schema) (types.SourceInfo, error) {
	w.opens++
	switch a.Name {
	case "nexmark":
		if declared != nil {
			return types.SourceInfo{}, &types.StageError{Clause: "schema", Message: "`nexmark` brings its own schema"}
		}
		info := types.SourceInfo{Time: "date_time", Lag: 1e9, Bounded: a.Args["events"] != nil}
		switch a.Args["kind"] {
		case "bid":
			info.Schema = bidSchema
		case "auction":
			info.Schema = auctionSchema
		default:
			return info, &types.StageError{Clause: "kind", Message: fmt.Sprintf("there are no events %q", a.Args["kind"]), Help: "they are \"bid\" and \"auction\""}
		}
		return info, nil
	case "rows":
		t := a.Types["rows"]
		if declared != nil {
			return types.SourceInfo{Schema: *declared, Bounded: true}, nil
		}
		if t.Kind != types.List || t.Elem.Kind != types.Record {
			return types.SourceInfo{}, &types.StageError{Message: "`rows` takes a list of records"}
		}
		return types.SourceInfo{Schema: types.Schema{Fields: t.Elem.Fields}, Bounded: true}, nil
	}
	if declared != nil {
		return types.SourceInfo{Schema: *declared, Bounded: a.Args["follow"] != true, Updating: a.Args["changes"] == true}, nil
	}
	path := ""
	if list, ok := a.Args["path"].([]any); ok {
		path, _ = list[0].(string)
	}
	if strings.Contains(path, "missing") {
		return types.SourceInfo{}, fmt.Errorf("open %s: no such file or directory", path)
	}
	return types.SourceInfo{Schema: types.NewSchema(
		types.Field{Name: "id", Type: types.T(types.Int).Null()}, types.Field{Name: "customer", Type: types.T(types.String).Null()},
		types.Field{Name: "amount", Type: types.T(types.Float).Null()}, types.Field{Name: "at", Type: types.T(types.Time).Null()}),
		Bounded: a.Args["follow"] != true, Updating: a.Args["changes"] == true, Inferred: true, Note: "schema inferred from the first 1000 rows of " + path}, nil
}

func (w *world) Pipes(a *types.ConnArgs) []types.Pipe {
	list, _ := a.Args["path"].([]any)
	if path, _ := a.Args["path"].(string); path == "-" || slices.Contains(list, any("-")) {
		return []types.Pipe{{ID: "-", Name: "standard input"}}
	}
	return nil
}

func (w *world) Updating(a *types.ConnArgs) bool {
	return a.Name == "console" || a.Name == "blackhole" || a.Args["changes"] == true
}

func (w *world) ReadScript(path string) (string, error) {
	if text, ok := w.files[path]; ok {
		return text, nil
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("no such file or directory")}
}

func (w *world) Getenv(name string) (string, bool) { v, ok := w.env[name]; return v, ok }

func newWorld(files map[string]string) *world {
	return &world{files: files, env: map[string]string{"HOME": "/home/ada"}, stage: testStages(), conn: testConnectors(), fn: testFunctions(), agg: testAggregates()}
}

func testConnectors() map[string]*types.ConnSig {
	str, boolean := types.T(types.String), types.T(types.Bool)
	path := types.ConnParam{Name: "path", Type: types.ListOf(str), Required: true, Place: true, Text: "the file"}
	return map[string]*types.ConnSig{
		"csv": {Name: "csv", Source: true, Sink: true, Params: []types.ConnParam{path, {Name: "header", Type: boolean, Default: true},
			{Name: "follow", Type: boolean}, {Name: "delimiter", Type: str}, {Name: "changes", Type: boolean}, {Name: "partition_by", Row: true}}},
		"jsonl": {Name: "jsonl", Source: true, Sink: true, Params: []types.ConnParam{path, {Name: "follow", Type: boolean},
			{Name: "changes", Type: boolean}, {Name: "every", Type: types.T(types.Duration)}, {Name: "ratio", Type: types.T(types.Float)}}},
		"nexmark": {Name: "nexmark", Source: true, Params: []types.ConnParam{{Name: "kind", Type: str, Required: true, Text: "\"bid\" or \"auction\""},
			{Name: "events", Type: types.T(types.Int)}, {Name: "rate", Type: types.T(types.Int), Default: int64(0)}}},
		"rows":      {Name: "rows", Source: true, Params: []types.ConnParam{{Name: "rows", Literal: true, Required: true, Text: "a list of records"}}},
		"console":   {Name: "console", Sink: true},
		"blackhole": {Name: "blackhole", Sink: true},
		"raw":       {Name: "raw", Sink: true, Params: []types.ConnParam{path}},
	}
}

func unchanged(in []types.Stream, _ *types.StageArgs) (types.Stream, error) { return in[0], nil }

func testStages() map[string]*types.StageSig {
	list := []*types.StageSig{
		{Name: "where", Items: types.Condition, Output: unchanged},
		{Name: "assert", Items: types.Condition, Output: unchanged},
		{Name: "limit", Items: types.Count, Output: unchanged},
		{Name: "sample", Items: types.Fraction, Output: unchanged},
		{Name: "tee", Items: types.Sink, Output: unchanged},
		{Name: "into", Items: types.Sink, Ends: true, Output: unchanged},
		{Name: "split", Items: types.Branches, Ends: true, Output: unchanged},
		{Name: "derive", Items: types.Assign, Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			out.Schema.Fields = slices.Clone(out.Schema.Fields)
			for _, it := range a.Items {
				if i := out.Schema.Index(it.Name); i >= 0 {
					out.Schema.Fields[i].Type = it.Expr.Type
				} else {
					out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: it.Name, Type: it.Expr.Type})
				}
			}
			return out, nil
		}},
		{Name: "select", Items: types.Project, Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			out.Schema = types.Schema{}
			for _, it := range a.Items {
				out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: it.Name, Type: it.Expr.Type})
			}
			return out, nil
		}},
		{Name: "drop", Items: types.ColumnList, Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			out.Schema.Fields = slices.DeleteFunc(slices.Clone(out.Schema.Fields), func(f types.Field) bool { return hasItem(a.Items, f.Name) })
			if len(out.Schema.Fields) == 0 {
				return out, &types.StageError{Message: "`drop` leaves no column"}
			}
			return out, nil
		}},
		{Name: "rename", Items: types.Renames, Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			out.Schema.Fields = slices.Clone(out.Schema.Fields)
			for _, it := range a.Items {
				out.Schema.Fields[it.Expr.Col].Name = it.Name
			}
			return out, nil
		}},
		{Name: "unnest", Items: types.ListAs, Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			out := in[0]
			field := types.Field{Name: a.Items[0].Name, Type: *a.Items[0].Expr.Type.Elem}
			out.Schema.Fields = slices.Clone(out.Schema.Fields)
			if i := out.Schema.Index(field.Name); i >= 0 {
				out.Schema.Fields[i] = field
			} else {
				out.Schema.Fields = append(out.Schema.Fields, field)
			}
			return out, nil
		}},
		{Name: "union", Items: types.StreamList, Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
			for i, s := range in[1:] {
				if diff := difference(in[0].Schema, s.Schema); diff != "" {
					return in[0], &types.StageError{Clause: fmt.Sprintf("item:%d", i), Message: fmt.Sprintf("`%s` has other columns: %s", a.Inputs[i], diff)}
				}
			}
			return in[0], nil
		}},
		{Name: "sort", Items: types.NoItems, Clauses: []string{"by", "window"}, Required: []string{"by"}, Sorts: "asc",
			Output: func(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
				if !in[0].Bounded && a.Window == nil && !in[0].Windowed {
					return in[0], &types.StageError{Code: "W412", Message: "`sort` of an input that never ends needs a window", Help: "add `window tumbling(1m)`"}
				}
				return in[0], nil
			}},
		{Name: "aggregate", Items: types.Aggregates, Clauses: []string{"by", "window", "emit", "late", "retain"}, Output: aggregateOutput},
		// Stages that use the forms which no stage of this version does.
		{Name: "recent", Items: types.NoItems, Clauses: []string{"within", "rows", "keep", "per"}, Required: []string{"within"}, Output: unchanged},
		{Name: "odd", Items: types.NoItems, Clauses: []string{"on"}, Output: unchanged},
	}
	m := map[string]*types.StageSig{}
	for _, s := range list {
		m[s.Name] = s
	}
	return m
}

func aggregateOutput(in []types.Stream, a *types.StageArgs) (types.Stream, error) {
	switch {
	case a.Late.Set && a.Window == nil:
		return in[0], &types.StageError{Code: "W425", Clause: "late", Message: "`late` goes with a window", Help: "add `window tumbling(1m)`"}
	case a.Retain.Set && a.Window != nil:
		return in[0], &types.StageError{Code: "W426", Clause: "retain", Message: "a windowed aggregate needs no `retain`"}
	}
	var out types.Stream
	for _, k := range a.By {
		out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: k.Name, Type: k.Expr.Type})
	}
	if a.Window != nil {
		out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: "window", Type: types.WindowType})
	}
	for _, it := range a.Post {
		out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: it.Name, Type: it.Expr.Type})
	}
	out.Bounded = in[0].Bounded
	out.Windowed = a.Window != nil
	out.Time = a.Window != nil
	out.Updating = a.Emit.Changes || a.Late.Allow > 0 || a.Window == nil && !in[0].Bounded && !(a.Emit.Set && !a.Emit.Changes)
	return out, nil
}

func testFunctions() map[string][]*types.Sig {
	b, i, f, s, tm, d := types.T(types.Bool), types.T(types.Int), types.T(types.Float), types.T(types.String), types.T(types.Time), types.T(types.Duration)
	any := types.Type{}
	sig := func(result types.Type, params ...types.Type) *types.Sig {
		return &types.Sig{Params: params, Result: result}
	}
	list := func(t types.Type) types.Type { return types.ListOf(t) }
	return map[string][]*types.Sig{
		"lower": {sig(s, s)}, "upper": {sig(s, s)}, "trim": {sig(s, s)},
		"len":     {sig(i, s), sig(i, list(any))},
		"split":   {sig(list(s), s, s)},
		"part":    {sig(s.Null(), s, s, i)},
		"extract": {sig(s.Null(), s, s, i)},
		"format":  {{Params: []types.Type{tm, s, s}, Optional: 1, Result: s}},
		"hour":    {{Params: []types.Type{tm, s}, Optional: 1, Result: i}},
		"abs":     {sig(i, i), sig(f, f), sig(d, d)},
		"int":     {sig(i, f), sig(i, s), sig(i, d)}, "float": {sig(f, i), sig(f, s)},
		"string": {{Params: []types.Type{any}, Result: s, Loose: true}},
		"time":   {sig(tm, s), sig(tm, s, s), sig(tm, i, s)},
		"isBig":  {sig(b, f)},
	}
}

func testAggregates() map[string]*types.AggSig {
	typ := func(f func(t types.Type) types.Type) func([]*types.Expr) (types.Type, error) {
		return func(args []*types.Expr) (types.Type, error) { return f(args[0].Type), nil }
	}
	fixed := func(t types.Type) func([]*types.Expr) (types.Type, error) {
		return func([]*types.Expr) (types.Type, error) { return t, nil }
	}
	numbers := []types.Kind{types.Int, types.Float}
	ordered := []types.Kind{types.Int, types.Float, types.String, types.Time, types.Duration}
	x := types.AggParam{Name: "x"}
	of := func(kinds []types.Kind) types.AggParam { return types.AggParam{Name: "x", Kinds: kinds} }
	list := []*types.AggSig{
		{Name: "count", Params: []types.AggParam{{Name: "x", Optional: true}}, Result: fixed(types.T(types.Int)), Retracts: true},
		{Name: "sum", Params: []types.AggParam{of(numbers)}, Result: typ(func(t types.Type) types.Type { return t.Null() }), Retracts: true},
		{Name: "avg", Params: []types.AggParam{of(numbers)}, Result: fixed(types.T(types.Float).Null()), Retracts: true},
		{Name: "min", Params: []types.AggParam{of(ordered)}, Result: typ(func(t types.Type) types.Type { return t.Null() })},
		{Name: "max", Params: []types.AggParam{of(ordered)}, Result: typ(func(t types.Type) types.Type { return t.Null() })},
		{Name: "first", Params: []types.AggParam{x}, Result: typ(func(t types.Type) types.Type { return t.Null() }), Ordered: true},
		{Name: "distinct", Params: []types.AggParam{x}, Result: fixed(types.T(types.Int))},
		{Name: "count_if", Params: []types.AggParam{of([]types.Kind{types.Bool})}, Result: fixed(types.T(types.Int))},
		{Name: "quantile", Params: []types.AggParam{of(numbers), {Name: "p", Kinds: []types.Kind{types.Float}, Constant: true}}, Result: fixed(types.T(types.Float).Null())},
		{Name: "collect", Params: []types.AggParam{x, {Name: "limit", Kinds: []types.Kind{types.Int}, Constant: true, Optional: true}},
			Result: typ(func(t types.Type) types.Type { return types.ListOf(t).Null() })},
	}
	m := map[string]*types.AggSig{}
	for _, a := range list {
		m[a.Name] = a
	}
	return m
}
