package repl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/types"
)

var _ = command(Command{
	Name: "schema", Args: "[NAME] [--stages]", Group: "look",
	Summary: "show the columns of a stream, a source or the last result",
	Text: "A type with `?` may be null. Without NAME it is the last result, `_`. With --stages the columns that each stage of the stream changes are shown: " +
		"+ those it brings, - those it takes away, ~ those whose type it changes.",
	Most:  1,
	Flags: []Flag{{Name: "--stages", Text: "show what each stage of the stream makes of the columns"}},
	Run: func(s *Session, a *Args) error {
		name := a.Arg(0)
		if name == "" {
			if name = "_"; s.last == "" {
				return errors.New("there is no result yet: type a pipeline first, or name a stream")
			}
		}
		if x := s.script.named(name); name != "_" && x != nil && !x.flows() {
			return fmt.Errorf("%s has no columns: .schema shows streams and sources", x.what)
		}
		d, err := s.describe(name)
		if err != nil {
			if s.script.named(name) == nil && name != "_" {
				return s.unknown(name)
			}
			return err
		}
		if a.Has("--stages") {
			return s.stages(d)
		}
		s.Screen.Note(d.what + ": " + d.long())
		return s.table([]string{"column", "type", "note"}, d.columns())
	},
	Complete: func(s *Session, _ []string) []string {
		names := []string{"_"}
		for _, x := range s.script.stmts {
			if x.flows() {
				names = append(names, x.name)
			}
		}
		return names
	},
})

// flows reports whether a statement defines rows.
func (x statement) flows() bool {
	return strings.HasPrefix(x.what, "stream ") || strings.HasPrefix(x.what, "source ")
}

// long says all that is known but the columns.
func (d *description) long() string {
	out := []string{d.line()}
	if d.out.Bounded {
		out = append(out, "ends by itself")
	}
	if !d.out.Updating {
		out = append(out, "append only")
	}
	if d.source != nil {
		if d.source.Time != nil {
			text := "time " + d.source.Time.String()
			if d.source.Lag > 0 {
				text += " lag " + string(types.AppendDuration(nil, d.source.Lag))
			}
			if d.source.Idle > 0 {
				text += " idle " + string(types.AppendDuration(nil, d.source.Idle))
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

func (d *description) columns() [][]any {
	var rows [][]any
	for _, f := range d.out.Schema.Fields {
		note := ""
		if d.source != nil && slices.Contains(d.keys(), f.Name) {
			note = "key"
		}
		rows = append(rows, []any{f.Name, f.Type.String(), note})
	}
	return rows
}

// stages shows how the columns change along a stream.
func (s *Session) stages(d *description) error {
	var rows [][]any
	if d.stream == nil {
		return s.table([]string{"stage", "columns", "flow"}, [][]any{{d.what, names(d.out.Schema.Fields), d.line()}})
	}
	before := types.Schema{}
	first := true
	for _, g := range d.stream.Stages {
		if first && len(g.In) > 0 {
			before = g.In[0].Schema
			rows = append(rows, []any{"input", names(before.Fields), (&description{out: g.In[0]}).line()})
		}
		first = false
		rows = append(rows, []any{g.Sig.Name, difference(before, g.Out.Schema), (&description{out: g.Out}).line()})
		before = g.Out.Schema
	}
	if len(rows) == 0 {
		rows = append(rows, []any{d.what, names(d.out.Schema.Fields), d.line()})
	}
	return s.table([]string{"stage", "columns", "flow"}, rows)
}

func names(fields []types.Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Name+": "+f.Type.String())
	}
	return strings.Join(out, ", ")
}

// difference tells what a stage made of the columns.
func difference(from, to types.Schema) string {
	var out []string
	for _, f := range to.Fields {
		i := from.Index(f.Name)
		switch {
		case i < 0:
			out = append(out, "+ "+f.Name+": "+f.Type.String())
		case from.Fields[i].Type.String() != f.Type.String():
			out = append(out, "~ "+f.Name+": "+f.Type.String())
		}
	}
	for _, f := range from.Fields {
		if to.Index(f.Name) < 0 {
			out = append(out, "- "+f.Name)
		}
	}
	if len(out) == 0 {
		return "the same"
	}
	return strings.Join(out, ", ")
}
