package exec

import "strings"

// Fate is what becomes of something that a checkpoint keeps.
type Fate int

// The fates.
const (
	Fitting Fate = iota // the run goes on with it
	Dropped             // as was asked for
	Unfit               // the graph has no place for it: the run is refused
)

// A Fit says what becomes of what a checkpoint keeps of a stage, source or sink, or of the rows in flight on an edge.
type Fit struct {
	Stage       string // stable name: of a source without its ending, or of an edge
	Source      bool
	Edge        bool
	Sink        bool // its outputs begin empty if Restore.NewOutputs is set
	Fate        Fate
	Why         string // of Unfit, for people
	Rows, Bytes int64
}

// Fits lists what becomes of all that the checkpoint keeps, in the order of the plan that it is of.
func (x *Restore) Fits(g *Graph) []Fit {
	unfit := map[string]string{}
	for _, m := range x.Misfits(g) {
		unfit[m.Stage] = m.What
	}
	sinks := map[string]bool{}
	g.each(func(n *Node) { sinks[n.ID] = n.Sink })
	var out []Fit
	at := map[string]int{}
	add := func(f Fit) {
		key := f.Stage
		if f.Edge { // that of a feed has the name of its source
			key += " >"
		}
		k, ok := at[key]
		if !ok {
			k = len(out)
			at[key] = k
			if what, is := unfit[f.Stage]; is {
				f.Fate, f.Why = Unfit, what
			} else if x.dropped(f.Stage) {
				f.Fate = Dropped
			}
			out = append(out, Fit{Stage: f.Stage, Source: f.Source, Edge: f.Edge, Sink: f.Sink, Fate: f.Fate, Why: f.Why})
		}
		out[k].Rows += f.Rows
		out[k].Bytes += f.Bytes
	}
	for _, t := range x.Manifest.Tasks {
		for _, n := range t.Nodes {
			name, source := strings.CutSuffix(n.ID, sourceOf(""))
			add(Fit{Stage: strings.TrimSuffix(name, "/partial"), Source: source, Sink: sinks[n.ID], Rows: n.Rows, Bytes: n.Bytes})
		}
	}
	for _, c := range x.Manifest.Channels {
		if c.Rows > 0 {
			add(Fit{Stage: c.Edge, Edge: true, Rows: c.Rows})
		}
	}
	return out
}
