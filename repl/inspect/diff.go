package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// changes are the rows of a state that differ between two checkpoints.
type changes struct {
	counts                  [2]int64
	added, removed, changed int64
	rows                    []change
}

type change struct {
	word  string // added, removed, before, after
	batch *vec.Batch
	row   int
}

// rowPlace is where a row is.
type rowPlace struct {
	text  string
	batch *vec.Batch
	row   int
}

// differ compares the rows of two states by their keys.
func differ(a, b *stateRows) *changes {
	out := &changes{}
	index := func(s *stateRows) (map[string][]rowPlace, []string) {
		key := s.key()
		m := map[string][]rowPlace{}
		var order []string
		for _, batch := range s.batches {
			for i := range batch.Rows() {
				var text []byte
				for _, k := range key {
					text = append(batch.Cols[k].AppendJSON(text, i), ',')
				}
				k := string(text)
				if m[k] == nil {
					order = append(order, k)
				}
				m[k] = append(m[k], rowPlace{string(vec.AppendRowJSON(nil, s.Rows.Fields, batch.Cols, i)), batch, i})
			}
		}
		return m, order
	}
	olds, order := index(a)
	news, after := index(b)
	for _, k := range after {
		if olds[k] == nil {
			order = append(order, k)
		}
	}
	for _, k := range order {
		was, is := olds[k], news[k]
		out.counts[0] += int64(len(was))
		out.counts[1] += int64(len(is))
		for i := range max(len(was), len(is)) {
			switch {
			case i >= len(was):
				out.added++
				out.rows = append(out.rows, change{"added", is[i].batch, is[i].row})
			case i >= len(is):
				out.removed++
				out.rows = append(out.rows, change{"removed", was[i].batch, was[i].row})
			case was[i].text != is[i].text:
				out.changed++
				out.rows = append(out.rows, change{"before", was[i].batch, was[i].row}, change{"after", is[i].batch, is[i].row})
			}
		}
	}
	return out
}

// states reads the states of a stage in two checkpoints. One that a checkpoint does not hold is empty.
func (f *Folder) states(ms [2]*checkpoint.Manifest, looks [2]*look, id string) (out [2]*stateRows, err error) {
	for k, m := range ms {
		if holds(m, id) {
			if out[k], err = looks[k].state(id); err != nil {
				return out, err
			}
		}
	}
	for k := range out {
		if other := out[1-k]; out[k] == nil && other != nil {
			out[k] = &stateRows{Stateful: other.Stateful}
		}
	}
	if a, b := out[0], out[1]; a != nil && b != nil && a.Rows.String() != b.Rows.String() {
		return out, fmt.Errorf("the state of %s has other columns in checkpoint %d than in checkpoint %d", id, ms[0].ID, ms[1].ID)
	}
	return out, nil
}

func holds(m *checkpoint.Manifest, id string) bool {
	for _, t := range m.Tasks {
		for _, n := range t.Nodes {
			if strings.TrimSuffix(n.ID, "/partial") == id {
				return true
			}
		}
	}
	return false
}

func (f *Folder) looks(ms [2]*checkpoint.Manifest) (out [2]*look, err error) {
	for k, m := range ms {
		if out[k], err = f.look(m); err != nil {
			return out, err
		}
	}
	return out, nil
}

// PrintDiffRows prints the rows of a stage that differ.
func (f *Folder) PrintDiffRows(p *Printer, ms [2]*checkpoint.Manifest, word, where string) error {
	id, err := stageOf(ms[1], word)
	if err != nil {
		if id, err = stageOf(ms[0], word); err != nil {
			return err
		}
	}
	looks, err := f.looks(ms)
	if err != nil {
		return err
	}
	both, err := f.states(ms, looks, id)
	if err != nil {
		return err
	}
	s, b := differ(both[0], both[1]).batch(both[0].Rows)
	return p.where(where, s, b)
}

// batch makes rows of the changes, with a word before each.
func (d *changes) batch(of types.Schema) (types.Schema, *vec.Batch) {
	s := types.NewSchema(append([]types.Field{{Name: "_diff", Type: types.T(types.String)}}, of.Fields...)...)
	builders := make([]*vec.Builder, len(s.Fields))
	for i, x := range s.Fields {
		builders[i] = vec.NewBuilder(x.Type)
	}
	for _, c := range d.rows {
		builders[0].Append(c.word)
		for i, col := range c.batch.Cols {
			builders[1+i].AppendRow(col, c.row)
		}
	}
	b := &vec.Batch{N: len(d.rows)}
	for _, x := range builders {
		b.Cols = append(b.Cols, x.Column())
	}
	return s, b
}

var diffFields = []field{{"what", types.String, nil}, {"name", types.String, nil}, {"before", types.Int, nil}, {"after", types.Int, nil},
	{"added", types.Int, orNothing}, {"removed", types.Int, orNothing}, {"changed", types.Int, orNothing}}

func orNothing(v any) string { return fmt.Sprint(v) }

// PrintDiff prints a line for each state, source, edge, counter and output; for people those only whose numbers differ, of
// states and sources all.
func (f *Folder) PrintDiff(p *Printer, ms [2]*checkpoint.Manifest) error {
	looks, err := f.looks(ms)
	if err != nil {
		return err
	}
	var rows [][]any
	for _, id := range names(ms, func(m *checkpoint.Manifest, add func(string)) {
		for _, t := range m.Tasks {
			for _, n := range t.Nodes {
				add(strings.TrimSuffix(n.ID, "/partial"))
			}
		}
	}) {
		if _, ok := looks[1].c.Stateful(looks[1].g, id); !ok {
			continue
		}
		both, err := f.states(ms, looks, id)
		if err != nil {
			return err
		}
		d := differ(both[0], both[1])
		rows = append(rows, []any{"state", id, d.counts[0], d.counts[1], d.added, d.removed, d.changed})
	}
	number := func(what, name string, n [2]int64) {
		if n[0] != n[1] || !p.people() {
			rows = append(rows, []any{what, name, n[0], n[1], nil, nil, nil})
		}
	}
	lib := stdlib.New()
	for _, s := range planner.CompareSources(planner.SourcePositions(ms[0], f.Read, lib), planner.SourcePositions(ms[1], f.Read, lib)) {
		rows = append(rows, []any{"rows read", s.Stage, s.From.Rows, s.To.Rows, nil, nil, nil})
	}
	for _, edge := range names(ms, func(m *checkpoint.Manifest, add func(string)) {
		for _, c := range m.Channels {
			add(c.Edge)
		}
	}) {
		var n [2]int64
		for k, m := range ms {
			for _, c := range m.Channels {
				if c.Edge == edge {
					n[k] += c.Rows
				}
			}
		}
		number("in flight", edge, n)
	}
	for _, name := range names(ms, func(m *checkpoint.Manifest, add func(string)) {
		for s := range m.Stats {
			if s != "watermark" { // a time, no number
				add(s)
			}
		}
	}) {
		number("counter", name, [2]int64{ms[0].Stats[name], ms[1].Stats[name]})
	}
	for _, o := range f.outputsOf(ms) {
		number("output bytes", o.path, o.sizes)
	}
	return p.list(diffFields, rows)
}

// names gathers the names that two checkpoints have, in order.
func names(ms [2]*checkpoint.Manifest, each func(m *checkpoint.Manifest, add func(string))) []string {
	var out []string
	for _, m := range ms {
		each(m, func(name string) { out = append(out, name) })
	}
	slices.Sort(out)
	return slices.Compact(out)
}
