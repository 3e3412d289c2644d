package exec

import (
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// ReadTo tells how far the sources had read at a checkpoint, for Setup.Until of a run of the same script at the same width:
// one that starts from the checkpoint `from`; nil: from the same. Tasks whose input had ended read to its end. A run counts
// from zero where it starts at another width than that of its checkpoint, as the run did that took this one.
func (x *Restore) ReadTo(g *Graph, from *checkpoint.Manifest) (func(group string, task int) *Until, error) {
	type key struct {
		group string
		task  int
	}
	all, err := tasksOf(x.Manifest)
	if err != nil {
		return nil, err
	}
	until := map[key]*Until{}
	for _, t := range all {
		if t.read < 0 {
			return nil, fmt.Errorf("checkpoint %d does not tell how many rows each task had read: it is of an earlier version", x.Manifest.ID)
		}
		u := &Until{Rows: t.read, W: types.MinInstant}
		for _, n := range t.nodes {
			if n.w != types.MaxInstant {
				u.W = max(u.W, n.w)
			}
		}
		if t.ended && !t.stopped() {
			u = nil
		}
		until[key{t.group, t.index}] = u
	}
	told := func(group string, task int, w types.Instant) {
		if u := until[key{group, task}]; u != nil && w != types.MaxInstant {
			u.W = max(u.W, w)
		}
	}
	idles := func(group string, task int, idle bool) {
		if u := until[key{group, task}]; u != nil {
			u.Idle = idle
		}
	}
	groups := map[string]string{} // where an edge comes from
	for _, e := range g.Edges {
		groups[e.ID] = e.From.ID
	}
	for _, t := range all {
		for _, in := range t.inputs {
			told(groups[in.edge], in.from, in.w)
			idles(groups[in.edge], in.from, in.idle)
		}
	}
	waiting := func(c checkpoint.Channel, group string) error {
		for _, ref := range c.Blocks {
			data, err := x.Read(ref)
			if err != nil {
				return err
			}
			its, _, err := DecodeItems(data)
			if err != nil {
				return err
			}
			for _, it := range its {
				switch it.Kind {
				case Watermark:
					told(group, c.From, it.W)
				case WentIdle, WentActive:
					idles(group, c.From, it.Kind == WentIdle)
				}
			}
		}
		return nil
	}
	for _, feeds := range []bool{false, true} { // what waits in the feed of a source was told after what is in its channels
		for _, c := range x.Manifest.Channels {
			group, edge := groups[c.Edge]
			if edge == feeds {
				continue
			}
			if feeds {
				group = c.Edge
			}
			if err := waiting(c, group); err != nil {
				return nil, err
			}
		}
	}
	if from != nil {
		old, err := tasksOf(from)
		if err != nil {
			return nil, err
		}
		for _, t := range old {
			if t.read < 0 {
				return nil, fmt.Errorf("checkpoint %d does not tell how many rows each task had read: it is of an earlier version", from.ID)
			}
		}
	}
	return func(group string, task int) *Until {
		u := until[key{group, task}]
		if u == nil {
			return nil
		}
		own := *u // one that is used up
		return &own
	}, nil
}

// savedTask is a task of a checkpoint with what it remembered.
type savedTask struct {
	taskData
	group string
	index int
}

// stopped reports whether the task's end was that of a run that was stopped.
func (t *savedTask) stopped() bool {
	for _, n := range t.nodes {
		if n.w == types.MaxInstant {
			return false
		}
	}
	return len(t.nodes) > 0
}

func tasksOf(m *checkpoint.Manifest) (out []*savedTask, err error) {
	for i := range m.Tasks {
		t := &savedTask{group: m.Tasks[i].Group, index: m.Tasks[i].Index}
		if err := t.load(checkpoint.NewReader(m.ID, m.Tasks[i].Data)); err != nil {
			return nil, fmt.Errorf("reading task %s[%d]: %w", t.group, t.index, err)
		}
		out = append(out, t)
	}
	return out, nil
}
