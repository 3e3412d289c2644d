package op

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Stage{
	Doc: spec.Doc{Name: "aggregate", Group: "groups", Signature: "aggregate [NAME =] EXPR, … [by KEYS] [window W] [emit final|changes [every D]] [late L] [retain D]",
		Text: "Make one row of each group: its keys, the column `window` if there is one, and expressions over aggregates. " +
			"With a window each group comes out when its window has closed; without one at the end of a bounded input, else as a changelog, one revision a batch. " +
			"A row is late for a window that had closed when it was read: `late drop` (the default) counts it, `late into` sends it elsewhere, `late allow 1m` keeps windows open that long and revises them. " +
			"`retain 1h` ends a key that has had no row for so long; a later row starts it anew.",
		Examples: []spec.Example{
			{Code: `rows([{k: "a", n: 1}, {k: "b", n: 5}, {k: "a", n: 2}])
    |> aggregate total = sum(n), rows = count() by k
    |> sort by k`,
				Want: "{\"k\":\"a\",\"total\":3,\"rows\":2}\n{\"k\":\"b\",\"total\":5,\"rows\":1}"},
			{Code: `rows([{n: 1}, {n: 3}]) |> aggregate mean = sum(n) / count()`, Want: `{"mean":2}`},
		}},
	StageSig: types.StageSig{Items: types.Aggregates, Clauses: []string{"by", "window", "emit", "late", "retain"}, Output: aggregateOutput},
	Traits:   aggregateTraits,
	New:      newAggregate,
	Partial:  newPartial,
})

// aggregateOutput says what flows out, and refuses clauses that do not go together.
func aggregateOutput(ins []types.Stream, a *types.StageArgs) (types.Stream, error) {
	in, w := ins[0], a.Window
	out := types.Stream{Bounded: in.Bounded}
	for _, k := range a.By {
		out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: k.Name, Type: k.Expr.Type})
	}
	out.Updating = a.Emit.Changes || a.Late.Allow > 0
	if w == nil {
		out.Updating = a.Emit.Changes || !a.Emit.Set && !in.Bounded
	} else {
		t := types.WindowType
		if w.Kind == types.CountWindow && !in.Time {
			t = t.Null() // rows in the order of arrival have no times
		}
		out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: "window", Type: t})
		out.Time = !w.Processing && in.Time
		out.Windowed = out.Time && !out.Updating
	}
	for _, it := range a.Post {
		out.Schema.Fields = append(out.Schema.Fields, types.Field{Name: it.Name, Type: it.Expr.Type})
	}
	if name := out.Schema.Duplicate(); name != "" {
		return out, &types.StageError{Code: "N105", Message: fmt.Sprintf("two columns are named `%s`", name), Help: "give one of them another name: `other = …`"}
	}
	return out, aggregateMisuse(in, out, a)
}

func aggregateMisuse(in, out types.Stream, a *types.StageArgs) error {
	w := a.Window
	fail := func(code, clause, message, help string) error {
		return &types.StageError{Code: code, Clause: clause, Message: message, Help: help}
	}
	ordered := w != nil && (w.Kind == types.CountWindow || w.Kind == types.Session && w.Max > 0)
	retains := a.Retain.Set && !a.Retain.Forever
	switch {
	case a.Late.Set && w == nil:
		return fail("W425", "late", "`late` goes with a window: without one no row is late", "add `window tumbling(1m)`, or leave `late` out")
	case a.Retain.Set && w != nil:
		return fail("W426", "retain", "a windowed aggregate needs no `retain`: a window ends by itself", "leave `retain` out")
	case w != nil && w.Processing && a.Late.Set:
		return fail("W425", "late", "no row is late for a window by the machine's clock", "leave `late` out")
	case w != nil && !w.Processing && !in.Time && w.Kind != types.CountWindow:
		return fail("W401", "window", "the window needs an event time, and the rows have none", "give the source a `time` clause, or take `clock: \"processing\"`")
	case a.Late.Set && !in.Time:
		return fail("W425", "late", "no row is late where rows have no event time", "leave `late` out")
	case w != nil && w.Processing && w.Kind == types.Session && w.Max > 0:
		return fail("W422", "window", "`max` does not go with sessions by the machine's clock", "leave `max` or `clock` out")
	case w != nil && w.Processing && w.Kind == types.CountWindow:
		return fail("W422", "window", "a window of n rows has no clock", "leave `clock` out")
	case ordered && a.Emit.Changes:
		return fail("W413", "emit", "windows that follow the order of rows come out once, when they are complete", "leave `emit changes` out")
	case ordered && a.Late.Allow > 0:
		return fail("W413", "late", "windows that follow the order of rows take no late ones", "write `late into TARGET`, or a larger `lag` at the source")
	case in.Updating && w != nil && (w.Kind == types.CountWindow || w.Kind == types.Session):
		return fail("W410", "window", "rows that are taken back cannot be taken out of a session or a window of n rows", "take a tumbling window, or `emit final` in the stage before")
	case in.Updating && retains:
		return fail("W410", "retain", "`retain` cannot end keys of an updating input", "write `retain forever`, or `emit final` in the stage before")
	case retains && !in.Time:
		return fail("W426", "retain", "`retain` for a time needs an event time, and the rows have none", "give the source a `time` clause, or write `retain forever`")
	case w == nil && a.Emit.Set && !a.Emit.Changes && !in.Bounded && !retains:
		return fail("W414", "emit", "without a window the final rows of an input that never ends would never come", "add a `window` or `retain 1h`, or write `emit changes`")
	case w != nil && w.Processing && in.Updating:
		return fail("W410", "window", "a row and what takes it back may come at different times of the machine's clock", "take a window in event time")
	}
	return nil
}

func aggregateTraits(in []types.Stream, a *types.StageArgs) spec.Traits {
	w := a.Window
	t := spec.Traits{Spread: spec.ByKey, Keys: a.By, Bound: "keys", Mark: in[0].Time && (w != nil || a.Retain.For > 0)}
	t.Pos = a.Retain.For > 0 // rows behind their mark are taken in the order in which they were read
	t.Copies = (w == nil || w.Kind != types.CountWindow && w.Kind != types.Session) && a.Retain.For == 0 && a.Late.Target == "" && !in[0].Updating
	if len(a.By) == 0 {
		t.Spread, t.Bound = spec.Once, "one group"
	}
	for _, c := range a.Aggs {
		if c.Sig.Ordered {
			t.Pos, t.Arrival = true, t.Arrival || !in[0].Time
		}
	}
	names := make([]string, len(a.By))
	for i, k := range a.By {
		names[i] = types.QuoteName(k.Name)
	}
	calls := make([]string, len(a.Aggs))
	for i, c := range a.Aggs {
		calls[i] = c.Name
	}
	t.State = strings.Join(calls, ", ")
	if len(names) > 0 {
		t.State += " by " + strings.Join(names, ", ")
	}
	switch {
	case w != nil:
		t.State += ", " + w.String()
		t.Bound = "keys in open windows"
		if w.Kind == types.CountWindow || w.Kind == types.Session && w.Max > 0 {
			t.Pos, t.Arrival = true, t.Arrival || !in[0].Time
			t.Bound += ", and rows behind the watermark"
		}
		if w.Kind == types.CountWindow {
			t.Bound = "keys, and rows behind the watermark"
		}
	case !a.Retain.Set && len(names) > 0:
		t.Grows = "a row for each `" + strings.Join(names, "`, `") + "`"
	case a.Retain.For > 0:
		t.Bound = "keys of the last " + types.FormatDuration(a.Retain.For)
	}
	return t
}

// newAggregate makes the operator of one task.
func newAggregate(c *spec.StageContext) (exec.Operator, error) {
	cs, args, err := newCalls(c)
	if err != nil {
		return nil, err
	}
	in, err := newInputs(c, args)
	if err != nil {
		return nil, err
	}
	out, err := newOutputs(c)
	if err != nil {
		return nil, err
	}
	w := c.Args.Window
	switch {
	case w == nil && c.Args.Retain.For > 0:
		return newSession(c, in, cs, out), nil
	case w == nil:
		return newGroupAll(c, in, cs, out), nil
	case w.Kind == types.CountWindow || w.Kind == types.Session && w.Max > 0:
		return newOrdered(c, in, cs, out), nil
	case w.Kind == types.Session:
		return newSession(c, in, cs, out), nil
	}
	return newSliced(c, in, cs, out), nil
}
