package planner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// Redirect makes the outputs of a script that are files others: to returns the new path of one. It is called before Graph;
// outputs that have no place, such as the console, are left as they are.
func (c *Compiled) Redirect(lib *stdlib.Catalog, to func(path string) string) error {
	moved := map[*types.ConnArgs]*types.ConnArgs{}
	for _, w := range c.Script.Writes {
		if w.Conn == nil {
			continue
		}
		if m := moved[w.Conn]; m != nil {
			w.Conn = m
			continue
		}
		path, ok := w.Conn.Args["path"].(string)
		if list, is := w.Conn.Args["path"].([]any); is && len(list) == 1 {
			path, ok = list[0].(string)
		}
		switch {
		case path == "-" || !slices.ContainsFunc(lib.ConnDef(w.Conn.Name).Params, func(p types.ConnParam) bool { return p.Place }):
			continue
		case !ok:
			return fmt.Errorf("the output %s is no file; it cannot be written to another place", w.Name)
		}
		m := *w.Conn
		m.Args = maps.Clone(m.Args)
		m.Args["path"] = to(path)
		moved[w.Conn] = &m
		moved[&m] = &m
		w.Conn = &m
	}
	return nil
}

// Volatile names what in a script may give other rows from the same input: functions that do not only depend on their
// arguments, sources that may be idle, and stages that depend on the order in which rows arrive.
func (c *Compiled) Volatile() []string {
	seen := map[string]bool{}
	var out []string
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	look := func(e *types.Expr) {
		if e == nil {
			return
		}
		e.Walk(func(x *types.Expr) bool {
			switch {
			case x.Op == types.OpNow:
				add("now()")
			case x.Op == types.OpCall && x.Sig != nil && x.Sig.Volatile:
				add(x.Name + "()")
			}
			return true
		})
	}
	items := func(list []types.Item) {
		for _, it := range list {
			look(it.Expr)
		}
	}
	for _, n := range c.Physical.Logical.Nodes {
		for _, s := range n.Steps {
			look(s.Where)
			look(s.Assert)
			items(s.Project)
		}
		if a := n.Args; a != nil {
			items(a.Items)
			items(a.By)
			items(a.Per)
			items(a.Post)
			for _, g := range a.Aggs {
				for _, e := range g.Args {
					look(e)
				}
			}
			for _, b := range a.Branches {
				look(b.When)
			}
		}
		if n.Source != nil && n.Source.Idle > 0 {
			add("`idle` of source " + n.Source.Name + ", which goes by the time that passes between rows")
		}
		if n.Traits.Arrival {
			add(n.Name + ", which takes rows as they arrive")
		}
	}
	return out
}
