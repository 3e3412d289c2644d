package planner

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// connText prints a connector call as a script would write it: its first parameter, then what differs from the defaults.
func connText(c *types.ConnArgs) string {
	var parts []string
	sig := stdlib.New().Conn(c.Name)
	if sig == nil { // of a program that runs scripts, such as a session
		return types.QuoteName(c.Name) + "()"
	}
	for i, p := range sig.Params {
		v, ok := c.Args[p.Name]
		if !ok || reflect.DeepEqual(v, p.Default) {
			continue
		}
		if one, ok := v.([]any); ok && len(one) == 1 && p.Type.Kind == types.List {
			v = one[0] // a list option also takes one value
		}
		text := anyText(v)
		if t, ok := c.Types[p.Name]; ok && (t.Kind == types.Time || t.Kind == types.Duration) {
			text = types.FormatConst(t, v)
		}
		if i > 0 {
			text = p.Name + ": " + text
		}
		parts = append(parts, text)
	}
	if len(c.Rows) > 0 {
		parts = append(parts, "partition_by: {"+itemsText(c.Rows)+"}")
	}
	return c.Name + "(" + strings.Join(parts, ", ") + ")"
}

// mostListed is how many elements of a list are printed.
const mostListed = 4

func anyText(v any) string {
	switch x := v.(type) {
	case string:
		return fmt.Sprintf("%q", x)
	case []any:
		if len(x) > mostListed {
			return fmt.Sprintf("[%d items]", len(x))
		}
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = anyText(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var names []string
		for n := range x {
			names = append(names, n)
		}
		sort.Strings(names)
		for i, n := range names {
			names[i] = n + ": " + anyText(x[n])
		}
		return "{" + strings.Join(names, ", ") + "}"
	case nil:
		return "nil"
	}
	return fmt.Sprint(v)
}

// argsText prints the stage of an Apply as a script would write it, expressions in plan notation.
func argsText(n *Node) string {
	a := n.Args
	s := a.Name
	add := func(format string, args ...any) { s += " " + fmt.Sprintf(format, args...) }
	if len(a.Items) > 0 {
		add("%s", itemsText(a.Items))
	}
	for i, c := range a.Aggs {
		if i > 0 {
			s += ","
		}
		parts := make([]string, len(c.Args))
		for i, e := range c.Args {
			parts[i] = e.String()
		}
		add("%s(%s)", c.Sig.Name, strings.Join(parts, ", "))
	}
	switch n.Stage.StageSig.Items {
	case types.Count:
		add("%d", a.Count)
	case types.Fraction:
		add("%g", a.Fraction)
	}
	if len(a.By) > 0 {
		add("by %s", itemsText(a.By))
	}
	if len(a.Per) > 0 {
		add("per %s", itemsText(a.Per))
	}
	if a.Window != nil {
		add("window %s", a.Window)
	}
	if a.Emit.Set && a.Emit.Changes {
		s += " emit changes"
		if a.Emit.Every > 0 {
			add("every %s", types.FormatDuration(a.Emit.Every))
		}
	}
	switch {
	case a.Late.Target != "":
		add("late into %s", a.Late.Target)
	case a.Late.Allow > 0:
		add("late allow %s", types.FormatDuration(a.Late.Allow))
	}
	if a.Retain.Set && !a.Retain.Forever {
		add("retain %s", types.FormatDuration(a.Retain.For))
	}
	for _, b := range a.Branches {
		if b.When == nil {
			add("else => %s", b.Target)
		} else {
			add("when %s => %s", b.When, b.Target)
		}
	}
	return s
}
