package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/view"
	"github.com/ebb-lang/ebb/stdlib"
)

// PrintJSON prints what a checkpoint consists of for programs.
func (f *Folder) PrintJSON(p *Printer, i checkpoint.Info, m *checkpoint.Manifest) error {
	text, err := json.MarshalIndent(f.manifestJSON(i, m), "", "  ")
	if err != nil {
		return err
	}
	_, err = p.Out.Write(append(text, '\n'))
	return written(err)
}

// states lists the states of a checkpoint, by stage and task.
func states(m *checkpoint.Manifest) (rows [][]any) {
	place := map[string]int{} // in the order of the plan
	for i := range m.Tasks {
		t := &m.Tasks[i]
		marks, _ := exec.Watermarks(t) // what cannot be read is not shown
		for _, n := range t.Nodes {
			if _, ok := place[n.ID]; !ok {
				place[n.ID] = len(place)
			}
			var mark, status any
			if w, ok := marks[n.ID]; ok {
				mark = w
			}
			if t.Ended {
				status, mark = "ended", nil
			}
			rows = append(rows, []any{n.ID, int64(t.Index), int64(t.Width), checkpoint.Bytes(n.Blocks), int64(max(len(n.Chain())-1, 0)), mark, status})
		}
	}
	slices.SortStableFunc(rows, func(a, b []any) int { return place[a[0].(string)] - place[b[0].(string)] })
	return rows
}

// channels lists the channels that had something in flight, those with most rows first.
func channels(m *checkpoint.Manifest) (rows [][]any) {
	list := slices.Clone(m.Channels)
	slices.SortStableFunc(list, func(a, b checkpoint.Channel) int { return cmp.Compare(b.Rows, a.Rows) })
	for _, c := range list {
		rows = append(rows, []any{c.Edge, int64(c.From), int64(c.To), c.Rows, checkpoint.Bytes(c.Blocks), int64(c.First), int64(c.Last)})
	}
	return rows
}

// sources lists how far the sources had come.
func (f *Folder) sources(m *checkpoint.Manifest) (rows [][]any) {
	for _, p := range planner.SourcePositions(m, f.Read, stdlib.New()) {
		if p.Err != nil {
			rows = append(rows, []any{p.Stage, nil, "cannot be read: " + p.Err.Error()})
			continue
		}
		rows = append(rows, []any{p.Stage, p.Rows, p.Text})
	}
	return rows
}

func outputs(m *checkpoint.Manifest) (rows [][]any) {
	for _, o := range m.Outputs {
		rows = append(rows, []any{o.Path, o.Offset, o.Length})
	}
	return rows
}

var (
	sourceFields = []field{{"source", types.String, nil}, {"rows", types.Int, nil}, {"read_up_to", types.String, func(v any) string { return v.(string) }}}
	humanBytes   = func(v any) string { return Size(v.(int64)) }
	stateFields  = []field{{"stage", types.String, nil}, {"task", types.Int, nil}, {"of", types.Int, nil}, {"bytes", types.Int, humanBytes},
		{"deltas", types.Int, nil}, {"watermark", types.Time, func(v any) string { return watermark(v.(int64)) }},
		{"status", types.String, func(v any) string { return v.(string) }}}
	channelFields = []field{{"edge", types.String, nil}, {"from", types.Int, nil}, {"to", types.Int, nil}, {"rows", types.Int, nil},
		{"bytes", types.Int, humanBytes}, {"first", types.Int, nil}, {"last", types.Int, nil}}
	outputFields = []field{{"output", types.String, nil}, {"offset", types.Int, nil}, {"length", types.Int, humanBytes}}
)

// PrintManifest prints a checkpoint for people.
func (f *Folder) PrintManifest(p *Printer, i checkpoint.Info, m *checkpoint.Manifest) error {
	var b strings.Builder
	fact := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(&b, "%-12s  %s\n", name, text)
		}
	}
	title := fmt.Sprint(i.ID)
	for _, w := range []string{i.Name, infoStatus(i)} {
		if w != "" {
			title += ", " + w
		}
	}
	fact("checkpoint", "%s", title)
	fact("job", "%s", m.Job)
	fact("taken", "%s, %s ago, %s, %s", Moment(m.Created), Span(time.Now().UnixNano()-m.Created), m.Mode, m.Reason)
	fact("durable", "after %s%s", Span(m.Durable-m.Created), phases(m.Phases))
	fact("slowest task", "%s", m.Slowest)
	if m.Parent != 0 {
		fact("parent", "%d", m.Parent)
	}
	fact("branch", "%d", m.Branch)
	fact("parallelism", "%d", m.Width)
	fact("state", "%s", Size(m.StateBytes))
	fact("in flight", "%d rows, %s", m.FlightRows, Size(m.FlightBytes))
	for _, name := range sorted(m.Stats) {
		text := view.Count(m.Stats[name])
		if name == "watermark" {
			text = watermark(m.Stats[name])
		}
		fact(strings.ReplaceAll(name, "_", " "), "%s", text)
	}
	fact("directory", "%s", m.Dir)
	fact("engine", "%s", m.Engine)
	if _, err := p.Out.Write([]byte(b.String())); err != nil {
		return written(err)
	}
	for _, part := range []struct {
		fields []field
		rows   [][]any
	}{{sourceFields, f.sources(m)}, {stateFields, states(m)}, {channelFields, channels(m)}, {outputFields, outputs(m)}} {
		if len(part.rows) == 0 {
			continue
		}
		fmt.Fprintln(p.Out)
		if err := p.list(part.fields, part.rows); err != nil {
			return err
		}
	}
	return nil
}

// watermark prints how far event time had come at the outputs.
func watermark(w int64) string {
	if w == 0 || w == types.MinInstant || w == types.MaxInstant {
		return ""
	}
	return instant(w)
}

// phases prints how long each phase took, the longest first.
func phases(m map[string]int64) string {
	names := sorted(m)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(m[b], m[a]) })
	var words []string
	for _, n := range names {
		words = append(words, n+" "+Span(m[n]))
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, ", ")
}

func sorted(m map[string]int64) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// manifestJSON is a checkpoint for programs.
func (f *Folder) manifestJSON(i checkpoint.Info, m *checkpoint.Manifest) any {
	objects := func(fields []field, rows [][]any) []map[string]any {
		out := []map[string]any{}
		for _, r := range rows {
			o := map[string]any{}
			for k, f := range fields {
				o[f.name] = r[k]
				if w, ok := r[k].(int64); ok && f.typ == types.Time {
					o[f.name] = instant(w)
				}
			}
			out = append(out, o)
		}
		return out
	}
	return map[string]any{
		"id": i.ID, "name": i.Name, "job": m.Job, "created": instant(m.Created), "durable": instant(m.Durable), "took_ns": m.Durable - m.Created,
		"mode": m.Mode, "reason": m.Reason, "parent": m.Parent, "branch": m.Branch, "parallelism": m.Width, "state_bytes": m.StateBytes,
		"flight_bytes": m.FlightBytes, "flight_rows": m.FlightRows, "stats": m.Stats, "phases_ns": m.Phases, "slowest_task": m.Slowest, "directory": m.Dir, "engine": m.Engine,
		"format": m.Format, "head": i.Head, "abandoned": i.Abandoned, "committed": i.Committed, "finished": i.Finished,
		"sources": objects(sourceFields, f.sources(m)), "states": objects(stateFields, states(m)), "channels": objects(channelFields, channels(m)), "outputs": objects(outputFields, outputs(m)),
	}
}

func instant(n int64) string { return string(types.AppendInstant(nil, n)) }
