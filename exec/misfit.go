package exec

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
)

// A Misfit is state or rows in flight that a checkpoint holds and a graph has no place for.
type Misfit struct {
	Stage string // stable name of the stage, or of the edge
	What  string // what is wrong, for people
}

// MisfitsError says that a run cannot go on from a checkpoint because the script was changed.
type MisfitsError struct {
	ID   checkpoint.ID
	List []Misfit
}

// String is a line of a list.
func (m Misfit) String() string { return m.Stage + ": " + m.What }

func (e *MisfitsError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "the script does not fit checkpoint %d:", e.ID)
	for _, m := range e.List {
		fmt.Fprintf(&s, "\n  %s", m)
	}
	s.WriteString("\n`--allow-dropped STAGE` drops what is kept of a stage, `--fresh` starts anew, `--from` goes on from another checkpoint")
	return s.String()
}

// Misfits lists what the checkpoint holds that g has no place for, sorted, but for what may be dropped.
func (x *Restore) Misfits(g *Graph) []Misfit {
	fits, edges, anew := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, gr := range g.Groups {
		if gr.Source != nil {
			fits[sourceOf(gr.ID)] = gr.Fit
			edges[gr.ID] = true // its feed
		}
		eachNode(gr.Ports, func(n *Node) {
			fits[n.ID] = n.Fit
			anew[n.ID] = n.Sink && x.NewOutputs
		})
	}
	for _, e := range g.Edges {
		edges[e.ID] = true
	}
	seen := map[string]bool{}
	var out []Misfit
	add := func(stage, what string) {
		if !seen[stage] && !x.dropped(stage) {
			seen[stage] = true
			out = append(out, Misfit{stage, what})
		}
	}
	for _, t := range x.Manifest.Tasks {
		for _, n := range t.Nodes {
			is, ok := fits[n.ID]
			stage := strings.TrimSuffix(strings.TrimSuffix(n.ID, sourceOf("")), "/partial")
			switch {
			case !ok:
				add(stage, "the script has it no more")
			case is != n.Fit && !anew[n.ID]:
				add(stage, fmt.Sprintf("it was `%s`, now it is `%s`", n.Fit, is))
			}
		}
	}
	// At another width the edges of a narrower plan may be missing, but then nothing is in flight in them.
	for _, c := range x.Manifest.Channels {
		if !edges[c.Edge] && c.Rows > 0 {
			add(c.Edge, fmt.Sprintf("%d rows in flight have no place to go", c.Rows))
		}
	}
	sort.Slice(out, func(i, k int) bool { return out[i].Stage < out[k].Stage })
	return out
}

// Unknown returns the first of the stages to drop that the checkpoint keeps nothing of, and the stages that it does keep
// something of, sources and sinks included.
func (x *Restore) Unknown() (unknown string, kept []string) {
	names := map[string]bool{}
	for _, t := range x.Manifest.Tasks {
		for _, n := range t.Nodes {
			names[strings.TrimSuffix(strings.TrimSuffix(n.ID, sourceOf("")), "/partial")] = true
		}
	}
	for _, c := range x.Manifest.Channels {
		for _, end := range strings.Split(c.Edge, " > ") {
			names[end] = true
		}
	}
	kept = slices.Sorted(maps.Keys(names))
	for _, d := range slices.Sorted(maps.Keys(x.Drop)) {
		one := Restore{Drop: map[string]bool{d: true}}
		if !slices.ContainsFunc(kept, one.dropped) {
			return d, kept
		}
	}
	return "", kept
}

// dropped reports whether what is kept of a stage, or in flight to or from it, may be dropped.
func (x *Restore) dropped(name string) bool {
	for _, end := range strings.Split(name, " > ") {
		for d := range x.Drop {
			if end == d || strings.HasPrefix(end, d+"/") {
				return true
			}
		}
	}
	return false
}

func eachNode(ports [][]Link, f func(*Node)) {
	for _, links := range ports {
		for _, l := range links {
			if l.Node != nil {
				f(l.Node)
				eachNode(l.Node.Ports, f)
			}
		}
	}
}
