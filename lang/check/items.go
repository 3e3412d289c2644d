package check

import (
	"fmt"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// items checks the arguments of the stage by the form that its definition gives them.
func (u *stageUse) items() {
	list, name := u.stage.Items, u.stage.Name.Name
	form := u.sig.Items
	switch {
	case form == types.Sink || form == types.Branches:
		if form == types.Branches {
			u.branches()
		}
		return
	case form == types.NoItems:
		if len(list) > 0 {
			help := ""
			if u.sig.Sorts != "" {
				help = "write `" + name + " by " + clip(list[0].Expr.Text) + "`"
			}
			u.bad(list[0].Span, "C306", fmt.Sprintf("`%s` takes no arguments before its clauses", name), help)
		}
		return
	case len(list) == 0:
		help := ""
		if form == types.Aggregates {
			help = "for example `" + name + " n = count() by customer`"
		}
		u.bad(u.stage.Name.Span, "C306", fmt.Sprintf("`%s` needs an argument", name), help)
		return
	}
	one := form == types.Condition || form == types.Count || form == types.Fraction || form == types.ListAs
	if one && len(list) > 1 {
		u.bad(list[1].Span, "C306", fmt.Sprintf("`%s` takes one argument", name), "")
	}
	for _, it := range list {
		if it.Order != "" {
			u.bad(it.Span, "C306", fmt.Sprintf("`%s` cannot stand here: `%s` puts nothing in order", it.Order, name), "")
		}
		if (one || form == types.ColumnList || form == types.StreamList) && it.Name != nil {
			u.bad(it.Name.Span, "C306", fmt.Sprintf("`%s` takes no `%s = …`", name, it.Name.Name), "")
		}
	}
	switch form {
	case types.Condition:
		u.args.Items = []types.Item{{Expr: u.condition(list[0].Expr)}}
	case types.Assign:
		u.assign()
	case types.Project:
		u.project()
	case types.ColumnList:
		u.columns()
	case types.Renames:
		u.renames()
	case types.Aggregates:
		u.aggregates()
	case types.Count:
		n, ok := u.c.number(list[0].Expr, fmt.Sprintf("the number of `%s`", name), 0)
		u.need(ok)
		u.args.Count = n
	case types.Fraction:
		f, ok := u.c.fraction(list[0].Expr, fmt.Sprintf("the fraction of `%s`", name))
		u.need(ok)
		u.args.Fraction = f
	case types.StreamList:
		u.args.Inputs, u.more = u.c.feedsOf(list)
		for _, m := range u.more {
			u.need(m.ok)
		}
	case types.ListAs:
		u.listAs()
	}
}

// value types an expression over the input of the stage.
func (u *stageUse) value(e *syntax.Expr) *types.Expr {
	x := u.c.expression(e, u.in, u.c.scope(&u.in.rows))
	u.need(x != nil)
	return x
}

// condition types an expression that must be bool or bool?.
func (u *stageUse) condition(e *syntax.Expr) *types.Expr {
	x := u.value(e)
	if x != nil && x.Type.Kind != types.Bool {
		u.bad(e.Span, "T201", fmt.Sprintf("the condition of `%s` is %s, not bool", u.stage.Name.Name, describe(x.Type)), boolRemedy(clip(e.Text), x.Type))
		return nil
	}
	return x
}

// assign checks `NAME = EXPR, …`, each item seeing the ones before it.
func (u *stageUse) assign() {
	sc := u.c.scope(&u.in.rows)
	in := u.in
	for _, it := range u.stage.Items {
		name := ""
		switch p, n := path(it.Expr); {
		case it.Name != nil:
			name = it.Name.Name
		case n > 1:
			name = p
		case n == 1:
			u.bad(it.Expr.Span, "C321", fmt.Sprintf("`%s` by itself adds nothing", clip(it.Expr.Text)), fmt.Sprintf("write `name = %s`", clip(it.Expr.Text)))
		default:
			name = u.itemName(it, u.stage.Name.Name)
		}
		if name != "" && hasItem(u.args.Items, name) {
			u.bad(it.Span, "N105", fmt.Sprintf("two columns are named `%s`", name), "each column is computed once; use a second name or a second stage")
		}
		x := u.c.expression(it.Expr, in, sc)
		u.need(x != nil)
		if x == nil {
			in.ok = false // the items behind it may name it
			continue
		}
		if !u.known(it.Expr, x) {
			in.ok = false
			continue
		}
		u.args.Items = append(u.args.Items, types.Item{Name: name, Expr: x})
		sc.extra = append(sc.extra, types.Item{Name: name, Expr: x})
	}
}

// known refuses a column of which no type is known.
func (u *stageUse) known(e *syntax.Expr, x *types.Expr) bool {
	if x.Type.Kind != types.Null {
		return true
	}
	u.bad(e.Span, "T206", "a column needs a type, and `nil` alone has none", "say what it could be instead, for example `false ? \"\" : nil`")
	return false
}

// project checks `[NAME =] EXPR, …`.
func (u *stageUse) project() {
	for _, it := range u.stage.Items {
		name := u.itemName(it, u.stage.Name.Name)
		if name != "" && hasItem(u.args.Items, name) {
			u.bad(it.Span, "N105", fmt.Sprintf("two columns are named `%s`", name), "give one of them another name: `other = "+clip(it.Expr.Text)+"`")
		}
		x := u.value(it.Expr)
		if x != nil && u.known(it.Expr, x) {
			u.args.Items = append(u.args.Items, types.Item{Name: name, Expr: x})
		}
	}
}

// column finds a column of the input by an expression that must be its name. It gives -1 where the input is unknown or after
// an error.
func (u *stageUse) column(e *syntax.Expr) int {
	name, n := path(e)
	if n != 1 {
		help := ""
		if n > 1 {
			help = "a field of a record cannot be taken out by itself"
		}
		u.bad(e.Span, "C322", fmt.Sprintf("`%s` takes names of columns, found an expression", u.stage.Name.Name), help)
		return -1
	}
	if !u.in.ok {
		return -1
	}
	schema := u.in.rows.Schema
	for _, a := range u.c.frame.args {
		if a.name == name && a.ok {
			col, n := path(a.expr)
			if n != 1 {
				u.bad(e.Span, "C322", fmt.Sprintf("`%s` takes names of columns, but `%s` is given an expression", u.stage.Name.Name, name), "")
				return -1
			}
			name = col
		}
	}
	i := schema.Index(name)
	if i < 0 {
		u.bad(e.Span, "N150", fmt.Sprintf("unknown column `%s`%s", name, didYouMean(name, schema.Names())), columnsHelp(schema))
	}
	return i
}

// columns checks a list of columns.
func (u *stageUse) columns() {
	for _, it := range u.stage.Items {
		i := u.column(it.Expr)
		if i < 0 {
			u.ok = false
			continue
		}
		name := u.in.rows.Schema.Fields[i].Name
		if hasItem(u.args.Items, name) {
			u.bad(it.Span, "N105", fmt.Sprintf("the column `%s` stands twice", name), "")
		}
		u.args.Items = append(u.args.Items, types.Item{Name: name, Expr: types.ColRef(u.in.rows.Schema, i)})
	}
}

// renames checks `NEW = OLD, …`.
func (u *stageUse) renames() {
	gone := map[int]bool{}
	for _, it := range u.stage.Items {
		if it.Name == nil {
			u.bad(it.Span, "C321", fmt.Sprintf("`%s` takes `new = old`", u.stage.Name.Name), "write the new name in front: `new = "+clip(it.Expr.Text)+"`")
			continue
		}
		columns := u.in.rows.Schema
		if i := columns.Index(it.Name.Name); i >= 0 && columns.Index(it.Expr.Text) < 0 && isName(it.Expr.Text) && u.in.ok {
			u.bad(it.Span, "C321", fmt.Sprintf("`%s` takes `new = old`", u.stage.Name.Name), fmt.Sprintf("write `%s = %s`", it.Expr.Text, it.Name.Name))
			u.ok, gone[i] = false, true
			continue
		}
		i := u.column(it.Expr)
		if i < 0 {
			u.ok = false
			continue
		}
		old := u.in.rows.Schema.Fields[i].Name
		if gone[i] {
			u.bad(it.Expr.Span, "N105", fmt.Sprintf("the column `%s` is renamed twice", old), "")
		}
		if hasItem(u.args.Items, it.Name.Name) {
			u.bad(it.Name.Span, "N105", fmt.Sprintf("two columns are named `%s`", it.Name.Name), "")
		}
		gone[i] = true
		u.args.Items = append(u.args.Items, types.Item{Name: it.Name.Name, Expr: types.ColRef(u.in.rows.Schema, i)})
	}
	if !u.in.ok {
		return
	}
	for _, it := range u.stage.Items {
		if it.Name == nil {
			continue
		}
		if i := u.in.rows.Schema.Index(it.Name.Name); i >= 0 && !gone[i] {
			u.bad(it.Name.Span, "N105", fmt.Sprintf("there is a column `%s` already", it.Name.Name), "rename or drop that one, too")
		}
	}
}

// listAs checks `EXPR as NAME`.
func (u *stageUse) listAs() {
	e := u.stage.Items[0].Expr
	x := u.value(e)
	if x != nil && x.Type.Kind != types.List {
		help := ""
		if x.Type.Kind == types.String {
			help = "a text is cut into a list by `split`: `" + u.stage.Name.Name + " split(" + clip(e.Text) + ", \",\") as part`"
		}
		u.bad(e.Span, "T201", fmt.Sprintf("`%s` takes a list, not %s", u.stage.Name.Name, describe(x.Type)), help)
		return
	}
	k := u.clause("as")
	if k == nil || k.Name == nil {
		return // that it is missing has been said
	}
	if name, n := path(e); u.in.ok && u.in.rows.Schema.Index(k.Name.Name) >= 0 && !(n == 1 && name == k.Name.Name) {
		u.bad(k.Name.Span, "N105", fmt.Sprintf("there is a column `%s` already", k.Name.Name), "choose another name; the list itself may be replaced")
		return
	}
	u.args.Items = []types.Item{{Name: k.Name.Name, Expr: x}}
}

// branches checks the conditions of the cases.
func (u *stageUse) branches() {
	if len(u.stage.Cases) == 0 {
		u.bad(u.stage.Name.Span, "C306", fmt.Sprintf("`%s` needs cases", u.stage.Name.Name), "")
	}
	for _, k := range u.stage.Cases {
		b := types.Branch{}
		if k.When != nil {
			b.When = u.condition(k.When)
		}
		u.args.Branches = append(u.args.Branches, b)
	}
}

// aggregates checks expressions over calls of aggregates. The columns of the result are those of `by`, `window` if there is
// one, and these.
func (u *stageUse) aggregates() {
	a := u.args
	keys := types.Schema{}
	for _, k := range a.By {
		if k.Expr == nil {
			return // a key is wrong: what may be named is not known
		}
		keys.Fields = append(keys.Fields, types.Field{Name: k.Name, Type: k.Expr.Type})
	}
	if a.Window != nil {
		if i := keys.Index("window"); i >= 0 {
			u.bad(u.clause("by").Items[i].Span, "N105", "a windowed stage has a column `window` of its own", "give the key another name")
			return
		}
		keys.Fields = append(keys.Fields, types.Field{Name: "window", Type: types.WindowType})
	} else if u.clause("window") != nil {
		u.ok = false
		return // the same
	}
	sc := u.c.scope(&u.in.rows)
	sc.aggs, sc.keys, sc.aggBase = &a.Aggs, u.c.hide(keys), len(keys.Fields)
	sc.noRows = len(keys.Fields) == 0
	for _, it := range u.stage.Items {
		name := ""
		if f := callee(it.Expr); it.Name == nil && u.c.env.Agg(f) != nil {
			name = f
		} else {
			name = u.itemName(it, u.stage.Name.Name)
		}
		switch {
		case name == "":
		case hasItem(a.Post, name):
			u.bad(it.Span, "N105", fmt.Sprintf("two columns are named `%s`", name), fmt.Sprintf("give one of them another name: `other = %s`", clip(it.Expr.Text)))
		case keys.Index(name) >= 0 && name == "window" && a.Window != nil:
			u.bad(it.Span, "N105", "a windowed stage has a column `window` of its own", "")
		case keys.Index(name) >= 0:
			help := "the keys come out by themselves"
			u.bad(it.Span, "N105", fmt.Sprintf("`%s` is the name of a key and of an aggregate", name), help)
		}
		x := u.c.expression(it.Expr, u.in, sc)
		u.need(x != nil)
		if x != nil && u.known(it.Expr, x) {
			a.Post = append(a.Post, types.Item{Name: name, Expr: x})
		}
	}
}
