package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// flights are the rows in flight on one edge.
type flights struct {
	edge   string
	schema types.Schema
	rows   []*vec.Batch
	n      int
}

// PrintFlights prints the rows in flight, those of one edge if one is given.
func (f *Folder) PrintFlights(p *Printer, m *checkpoint.Manifest, edge, where string) error {
	all, err := f.flights(m)
	if err != nil {
		return err
	}
	if edge != "" {
		var names []string
		for _, x := range m.Channels {
			names = append(names, x.Edge)
		}
		all = slices.DeleteFunc(all, func(x *flights) bool { return x.edge != edge && !strings.HasSuffix(x.edge, "> "+edge) })
		if len(all) == 0 {
			slices.Sort(names)
			names = slices.Compact(names)
			if len(names) == 0 {
				return fmt.Errorf("nothing was in flight in checkpoint %d", m.ID)
			}
			return fmt.Errorf("no rows were in flight on %q in checkpoint %d%s; there are %s", edge, m.ID, didYouMean(edge, names), strings.Join(names, ", "))
		}
	}
	if len(all) == 0 && p.people() {
		fmt.Fprintf(p.Out, "no rows were in flight in checkpoint %d\n", m.ID)
		return nil
	}
	switch {
	case len(all) == 0:
		return p.Rows(types.Schema{})
	case len(all) == 1 && (edge != "" || where != "" || p.Format == "csv"):
		return p.where(where, all[0].schema, all[0].rows...)
	case p.Format == "csv" || where != "":
		return misuse("the rows of several edges differ in their columns; name one of them: %s", edgeNames(all))
	}
	return p.edges(all)
}

func edgeNames(all []*flights) string {
	var names []string
	for _, x := range all {
		names = append(names, x.edge)
	}
	return strings.Join(names, ", ")
}

// edges prints the rows of several edges: as tables with a heading each, or as objects that name the edge.
func (p *Printer) edges(all []*flights) error {
	if p.people() {
		for k, x := range all {
			gap := "\n"
			if k == 0 {
				gap = ""
			}
			if _, err := fmt.Fprintf(p.Out, "%s%s: %d rows in flight\n", gap, x.edge, x.n); err != nil {
				return written(err)
			}
			if err := p.Rows(x.schema, x.rows...); err != nil {
				return err
			}
		}
		return nil
	}
	text, between := []byte(nil), "\n"
	if p.Format == "json" {
		text, between = []byte("[\n  "), ",\n  "
	}
	first := true
	for _, x := range all {
		name := vec.AppendQuoted([]byte(`{"_edge":`), x.edge)
		for _, b := range x.rows {
			for i := range b.Rows() {
				if !first {
					text = append(text, between...)
				}
				first = false
				text = append(append(text, name...), ',')
				at := len(text)
				text = vec.AppendRowJSON(text, x.schema.Fields, b.Cols, b.Row(i))
				text = append(text[:at], text[at+1:]...) // the brace
			}
		}
	}
	text = append(text, '\n')
	if p.Format == "json" {
		text = append(text, "]\n"...)
	}
	_, err := p.Out.Write(text)
	return written(err)
}

// flights reads the rows in flight, by edge and, within it, by channel and place.
func (f *Folder) flights(m *checkpoint.Manifest) ([]*flights, error) {
	channels := slices.Clone(m.Channels)
	slices.SortStableFunc(channels, func(a, b checkpoint.Channel) int {
		return cmp.Or(cmp.Compare(a.Edge, b.Edge), cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
	})
	var out []*flights
	var parts []part
	flush := func() {
		if len(parts) > 0 {
			out = append(out, gatherFlights(parts))
			parts = nil
		}
	}
	for _, c := range channels {
		if len(parts) > 0 && parts[0].c.Edge != c.Edge {
			flush()
		}
		at := int64(c.First)
		for _, ref := range c.Blocks {
			data, err := f.Read(ref)
			var items []exec.Item
			if err == nil {
				items, _, err = exec.DecodeItems(data)
			}
			if err != nil {
				return nil, fmt.Errorf("cannot read the rows in flight on %s in checkpoint %d: %w", c.Edge, m.ID, err)
			}
			for _, it := range items {
				if it.Kind == exec.Rows && it.Batch.Rows() > 0 {
					parts = append(parts, part{c, at, it.Batch.Dense()})
				}
				at++
			}
		}
	}
	flush()
	return out, nil
}

// part is the rows of one item.
type part struct {
	c  checkpoint.Channel
	at int64
	b  *vec.Batch
}

// gatherFlights puts the rows of an edge under one schema: where they were, what is hidden, and their columns.
func gatherFlights(parts []part) *flights {
	out := &flights{edge: parts[0].c.Edge}
	timed, changes := false, false
	for _, x := range parts {
		timed = timed || x.b.Time != nil
		changes = changes || x.b.Change != nil
	}
	add := func(name string, t types.Type) {
		out.schema.Fields = append(out.schema.Fields, types.Field{Name: name, Type: t})
	}
	for _, name := range []string{"_from", "_to", "_item"} {
		add(name, types.T(types.Int))
	}
	if timed {
		add("_time", types.T(types.Time).Null())
	}
	if changes {
		add("_change", types.T(types.String))
	}
	names, _, err := vec.DecodeSchema(parts[0].c.Schema)
	for k, c := range parts[0].b.Cols {
		name := fmt.Sprintf("column%d", k+1)
		switch {
		case parts[0].b.Block != nil && k == 0:
			name = "line"
		case parts[0].b.Block != nil:
			name = "part"
		case err == nil && len(names.Fields) == len(parts[0].b.Cols):
			name = names.Fields[k].Name
		}
		add(name, c.Type)
	}
	for _, x := range parts {
		n := x.b.N
		cols := []*vec.Column{constant(int64(x.c.From), n), constant(int64(x.c.To), n), constant(x.at, n)}
		if timed {
			c := vec.NewNull(types.T(types.Time).Null(), n)
			if x.b.Time != nil {
				c = &vec.Column{Type: c.Type, Ints: x.b.Time}
			}
			cols = append(cols, c)
		}
		if changes {
			c := vec.New(types.T(types.String), n)
			for i := range n {
				c.Strs[i] = vec.Insert.String()
				if x.b.Change != nil {
					c.Strs[i] = x.b.Change[i].String()
				}
			}
			cols = append(cols, c)
		}
		if len(x.b.Cols)+len(cols) != len(out.schema.Fields) {
			continue // not of this edge: cannot be
		}
		out.rows = append(out.rows, &vec.Batch{N: n, Cols: append(cols, x.b.Cols...)})
		out.n += n
	}
	return out
}

func constant(v int64, n int) *vec.Column {
	c := vec.New(types.T(types.Int), n)
	for i := range c.Ints {
		c.Ints[i] = v
	}
	return c
}
