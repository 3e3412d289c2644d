package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// clauseExample shows how a clause is written.
var clauseExample = map[string]string{"by": "by customer", "per": "per customer", "on": "on id == o.id", "as": "as tag", "within": "within 10m",
	"window": "window tumbling(1m)", "emit": "emit changes", "late": "late drop", "retain": "retain 1d", "keep": "keep first", "rows": "rows 10",
	"on_error": "on_error drop"}

// evaluates reports whether rows can fail in a stage, so that it takes `on_error`.
func evaluates(sig *types.StageSig) bool {
	switch sig.Items {
	case types.Condition, types.Assign, types.Project, types.Aggregates, types.ListAs, types.Branches:
		return true
	}
	return slices.Contains(sig.Clauses, "by") || slices.Contains(sig.Clauses, "per") || slices.Contains(sig.Clauses, "on") ||
		slices.Contains(sig.Clauses, "on_error")
}

// clauses checks the clauses of the stage and fills in the arguments that they stand for.
func (u *stageUse) clauses() {
	taken := slices.Clone(u.sig.Clauses)
	if evaluates(u.sig) && !slices.Contains(taken, "on_error") {
		taken = append(taken, "on_error")
	}
	required := u.sig.Required
	if u.sig.Items == types.ListAs && !slices.Contains(taken, "as") {
		taken, required = append(taken, "as"), append(slices.Clone(required), "as")
	}
	name := u.stage.Name.Name
	for _, k := range u.stage.Clauses {
		label := syntax.Span{Start: k.Span.Start, End: k.Span.Start}
		label.End.Offset += len(k.Label)
		label.End.Column += len(k.Label)
		switch {
		case !slices.Contains(taken, k.Label) && slices.Contains(languageClauses[name], k.Label):
			u.bad(label, "C302", fmt.Sprintf("this version does not have `%s` in `%s` yet", k.Label, name), "")
			u.in.ok = false // with the clause the expressions may name more
			continue
		case !slices.Contains(taken, k.Label):
			help := "`" + name + "` takes no clauses"
			if len(taken) > 0 {
				help = "`" + name + "` takes the clauses " + strings.Join(taken, ", ")
			}
			if k.Label == "as" && slices.Contains([]string{"select", "derive", "aggregate", "rename"}, name) {
				help = "columns get their names with `=`: `name = expression`"
			}
			u.bad(label, "C303", fmt.Sprintf("`%s` takes no clause `%s`", name, k.Label), help)
			continue
		}
		u.one(k)
	}
	for _, label := range required {
		if u.clause(label) == nil {
			u.bad(u.stage.Name.Span, "C304", fmt.Sprintf("`%s` needs the clause `%s`", name, label), "for example `"+clauseExample[label]+"`")
		}
	}
}

// one checks one clause that the stage takes.
func (u *stageUse) one(k *syntax.Clause) {
	c, a := u.c, u.args
	switch k.Label {
	case "by":
		a.By = u.keys(k, u.sig.Sorts)
	case "per":
		a.Per = u.keys(k, "")
	case "window":
		if k.Call != nil {
			w, ok := c.window(k.Call)
			u.need(ok)
			a.Window = w
			if ok && u.in.ok && !u.in.rows.Time && !w.Processing && w.Kind != types.CountWindow {
				u.noTime(k)
			}
		}
	case "emit":
		a.Emit = types.Emit{Set: true, Changes: k.Word == "changes"}
		if k.Every != nil {
			d, ok := c.duration(k.Every, "the time after `every`", 1)
			u.need(ok)
			a.Emit.Every = d
		}
	case "late":
		a.Late.Set = true
		if k.Word == "allow" {
			d, ok := c.duration(k.Items[0].Expr, "the time after `late allow`", 1)
			u.need(ok)
			a.Late.Allow = d
		}
	case "retain":
		a.Retain = types.Retain{Set: true, Forever: k.Word == "forever"}
		if !a.Retain.Forever {
			d, ok := c.duration(k.Items[0].Expr, "the time after `retain`", 1)
			u.need(ok)
			a.Retain.For = d
		}
	case "within":
		u.within(k)
	case "keep":
		a.Keep = k.Word
	case "rows":
		n, ok := c.number(k.Items[0].Expr, "the number of rows", 1)
		u.need(ok)
		a.Rows = n
	case "as", "on_error": // of the arguments, and of what leaves the stage
		if k.Label == "on_error" {
			a.OnError.Mode = k.Word
		}
	default:
		u.bad(k.Span, "C302", fmt.Sprintf("this version does not have `%s` yet", k.Label), "")
	}
}

// within checks `within DUR`, which reaches as far back as ahead, or `within [FROM, TO]`.
func (u *stageUse) within(k *syntax.Clause) {
	switch len(k.Items) {
	case 1:
		d, ok := u.c.duration(k.Items[0].Expr, "the time after `within`", 1)
		u.need(ok)
		u.args.Within = &types.Interval{Lo: -d, Hi: d}
	case 2:
		var ends [2]int64
		for i, item := range k.Items {
			x := u.c.constantOf(item.Expr, "an end of the interval", types.Duration)
			if x == nil {
				u.ok = false
				return
			}
			ends[i], _ = x.Value.(int64)
		}
		if ends[0] > ends[1] {
			u.bad(k.Span, "W424", "the interval is empty: it ends before it starts", "write the earlier end first: `within [-1m, 5m]`")
			return
		}
		u.args.Within = &types.Interval{Lo: ends[0], Hi: ends[1]}
	}
}

// noTime reports a window over rows without an event time.
func (u *stageUse) noTime(k *syntax.Clause) {
	help := "say in the source what the event time is, for example `time at lag 5s`; or take the machine's clock: `window " +
		k.Call.Name.Name + "(…, clock: \"processing\")`"
	for i := len(u.run.stream.Stages) - 1; i >= 0; i-- {
		if s := u.run.stream.Stages[i]; len(s.In) > 0 && s.In[0].Time {
			help = fmt.Sprintf("the rows lose their event time in `%s` at %s: give that a window, too", s.Sig.Name, s.Args.Pos)
			break
		}
	}
	u.bad(k.Span, "W401", fmt.Sprintf("the window needs an event time, and the rows that enter `%s` have none", u.stage.Name.Name), help)
}

// keys checks the items of `by` or `per`. With sorts, "asc" or "desc", they put rows in that order and need no names.
func (u *stageUse) keys(k *syntax.Clause, sorts string) []types.Item {
	var items []types.Item
	for _, it := range k.Items {
		x := u.c.expression(it.Expr, u.in, u.c.scope(&u.in.rows))
		u.need(x != nil)
		item := types.Item{Expr: x, Desc: it.Order == "desc" || it.Order == "" && sorts == "desc"}
		if sorts == "" || it.Name != nil {
			item.Name = u.itemName(it, k.Label)
			if item.Name != "" && hasItem(items, item.Name) {
				u.bad(it.Span, "N105", fmt.Sprintf("two keys are named `%s`", item.Name), "")
			}
		} else if name, n := path(it.Expr); n > 0 {
			item.Name = name
		} else {
			item.Name = clip(it.Expr.Text)
		}
		switch {
		case x == nil:
		case sorts == "" && x.Type.Kind == types.Null:
			u.bad(it.Expr.Span, "T201", "a key cannot be nil", "")
		case sorts != "" && !x.Type.Ordered():
			u.bad(it.Expr.Span, "T233", fmt.Sprintf("rows cannot be put in order by %s", describe(x.Type)), "")
		}
		items = append(items, item)
	}
	return items
}

func hasItem(items []types.Item, name string) bool {
	return slices.ContainsFunc(items, func(it types.Item) bool { return it.Name == name })
}

// itemName is the name of an item: the one before the `=`, or the last part of a path. "" after an error.
func (u *stageUse) itemName(it *syntax.Item, where string) string {
	if it.Name != nil {
		return it.Name.Name
	}
	if name, n := path(it.Expr); n > 0 {
		return name
	}
	u.bad(it.Expr.Span, "C321", fmt.Sprintf("an expression in `%s` needs a name", where), named(it.Expr, u.in.rows, "name = %s"))
	return ""
}

// named says how an expression without a name is given one by a form, or which column a text is that stands in its place.
func named(e *syntax.Expr, rows types.Stream, form string) string {
	if name, ok := text(e); ok && rows.Schema.Index(name) >= 0 {
		return fmt.Sprintf("without quotes it is the column: `%s`", types.QuoteName(name))
	}
	if len(e.Tokens) > 1 && e.Tokens[1].Text == "(" {
		if w := windowCalled(e.Tokens[0].Text); w != "" {
			return w
		}
	}
	return "write `" + fmt.Sprintf(form, clip(e.Text)) + "`"
}

// text is what a string literal says that is the whole of an expression.
func text(e *syntax.Expr) (string, bool) {
	if len(e.Tokens) != 1 || e.Tokens[0].Kind != syntax.KindString && e.Tokens[0].Kind != syntax.KindRaw {
		return "", false
	}
	return syntax.Unquote(e.Tokens[0].Text), true
}
