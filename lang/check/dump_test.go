package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

// dump prints a checked script, one fact a line.
func dump(s *Script) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	var keys []string
	for k := range s.Set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		line("set %s = %v", k, s.Set[k])
	}
	for _, n := range s.Notes {
		line("note %s", n)
	}
	for _, x := range s.Sources {
		line("source %s = %s", x.Name, connText(x.Conn))
		line("  %s", rowsText(x.Out))
		if x.Schema.String() != x.Out.Schema.String() || formats(x.Schema.Fields) != "" {
			line("  decoded %s%s", x.Schema, formats(x.Schema.Fields))
		}
		if x.Time != nil {
			line("  time %s lag %s idle %s", x.Time, types.FormatDuration(x.Lag), types.FormatDuration(x.Idle))
		}
		if x.Key != nil {
			line("  key %v", x.Key)
		}
		if x.OnError.Mode != "" {
			line("  on_error %s %s", x.OnError.Mode, x.OnError.Target)
		}
	}
	for _, x := range s.Streams {
		line("stream %s%s", quoteOdd(x.Name), nodeText(" = ", x.From))
		for _, f := range x.Feeds {
			switch {
			case f.Stream != nil:
				line("  fed by %s %s", f.Kind, f.Stream.Name)
			case f.Source != nil:
				line("  fed by %s of %s", f.Kind, f.Source.Name)
			default:
				n := ""
				if f.Kind == "branch" {
					n = fmt.Sprintf(" %d", f.Branch)
				}
				line("  fed by %s%s of %s", f.Kind, n, f.Stage.Args.ID)
			}
		}
		for _, st := range x.Stages {
			line("  |> %s", stageText(st))
		}
		line("  %s", rowsText(x.Out))
	}
	for _, w := range s.Writes {
		to := "print"
		if w.Conn != nil {
			to = connText(w.Conn)
		}
		if w.Sink != "" {
			to = w.Sink + " = " + to
		}
		line("write %s into %s", nodeText("", w.From), to)
		if len(w.Items) > 0 {
			line("  as %s", itemsText(w.Items))
		}
		if f := formats(w.Schema.Fields); f != "" || w.Schema.String() != w.In.Schema.String() {
			line("  written %s%s", w.Schema, f)
		}
	}
	return b.String()
}

func quoteOdd(s string) string {
	if strings.ContainsAny(s, " ") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// formats lists the columns that have one.
func formats(fields []types.Field) string {
	s := ""
	for _, f := range fields {
		if f.Type.Format != "" {
			s += " " + f.Name + ":" + f.Type.Format
		}
		s += formats(f.Type.Fields)
	}
	return s
}

func rowsText(s types.Stream) string {
	t := s.Schema.String()
	for _, trait := range []struct {
		is   bool
		name string
	}{{s.Time, "time"}, {s.Updating, "updating"}, {s.Bounded, "bounded"}, {s.Windowed, "windowed"}} {
		if trait.is {
			t += " " + trait.name
		}
	}
	return t
}

func nodeText(before string, n Node) string {
	switch {
	case n.Source != nil:
		return before + "source " + n.Source.Name
	case n.Stream != nil:
		return before + n.Stream.Name
	}
	return ""
}

func connText(a *types.ConnArgs) string {
	var parts []string
	for k, v := range a.Args {
		t := a.Types[k]
		if list, ok := v.([]any); ok && t.Kind == types.Invalid {
			parts = append(parts, fmt.Sprintf("%s: %v", k, list))
			continue
		}
		parts = append(parts, k+": "+types.FormatConst(t, v))
	}
	slices.Sort(parts)
	s := a.Name + "(" + strings.Join(parts, ", ") + ")"
	if len(a.Rows) > 0 {
		s += " rows " + itemsText(a.Rows)
	}
	return s
}

func itemsText(items []types.Item) string {
	var parts []string
	for _, it := range items {
		s := it.Name + " = "
		if it.Expr != nil && it.Expr.Op == types.OpCol && it.Expr.Name == it.Name {
			s = ""
		} else if it.Name == "" {
			s = ""
		}
		s += it.Expr.String()
		if it.Desc {
			s += " desc"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

func stageText(st *Stage) string {
	a := st.Args
	s := a.ID + ":"
	add := func(format string, args ...any) { s += " " + fmt.Sprintf(format, args...) }
	if len(a.Items) > 0 {
		add("%s", itemsText(a.Items))
	}
	for i, c := range a.Aggs {
		var args []string
		for _, x := range c.Args {
			args = append(args, x.String())
		}
		add("#%d=%s(%s):%s", i, c.Sig.Name, strings.Join(args, ", "), c.Result)
	}
	if len(a.Post) > 0 {
		add("-> %s", itemsText(a.Post))
	}
	if len(a.By) > 0 {
		add("by %s", itemsText(a.By))
	}
	if len(a.Per) > 0 {
		add("per %s", itemsText(a.Per))
	}
	if w := a.Window; w != nil {
		add("window %v", *w)
	}
	if a.Emit.Set {
		add("emit %v", a.Emit)
	}
	if a.Late.Set {
		add("late %v", a.Late)
	}
	if a.Retain.Set {
		add("retain %v", a.Retain)
	}
	if a.Within != nil {
		add("within %v", *a.Within)
	}
	if a.Keep != "" {
		add("keep %s", a.Keep)
	}
	if a.Rows > 0 {
		add("rows %d", a.Rows)
	}
	switch st.Sig.Items {
	case types.Count:
		add("count %d", a.Count)
	case types.Fraction:
		add("fraction %v", a.Fraction)
	}
	for i, n := range a.Inputs {
		add("%s(%s)", n, nodeText("", st.More[i]))
	}
	for _, br := range a.Branches {
		if br.When == nil {
			add("else=>%s", br.Target)
		} else {
			add("%s=>%s", br.When, br.Target)
		}
	}
	if a.OnError.Mode != "" {
		add("on_error %s %s", a.OnError.Mode, a.OnError.Target)
	}
	return strings.TrimSuffix(s, ":")
}
