package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// PrintTree prints the checkpoints as a tree, for people: what a rollback or a fresh start has left behind hangs beside the
// line that goes on. Programs get the list.
func (f *Folder) PrintTree(p *Printer) error {
	if !p.people() || len(f.All) == 0 {
		return f.PrintList(p)
	}
	now := time.Now().UnixNano()
	var rows [][]any
	for _, b := range tree(f.All) {
		i := b.info
		status := infoStatus(i)
		if i.Head {
			status = "← " + status
		}
		rows = append(rows, []any{fmt.Sprintf("%s%d", b.twig, i.ID), i.Name, Span(now - i.Created), Span(i.Durable - i.Created), i.StateBytes, i.FlightRows, i.Reason, status})
	}
	fields := []field{{"checkpoint", types.String, nil}, {"name", types.String, nil}, {"age", types.String, nil}, {"took", types.String, nil}, {"state", types.Int, humanBytes},
		{"in_flight", types.Int, nil}, {"reason", types.String, nil}, {"status", types.String, nil}}
	return p.list(fields, rows)
}

// branch is a checkpoint at its place in the tree.
type branch struct {
	twig string // that is drawn before it
	info checkpoint.Info
}

// tree puts checkpoints in the order of a tree: each after its parent, what was abandoned before what goes on.
func tree(all []checkpoint.Info) (out []branch) {
	children := map[checkpoint.ID][]checkpoint.Info{}
	for _, i := range all {
		children[i.Parent] = append(children[i.Parent], i)
	}
	for _, c := range children {
		slices.SortStableFunc(c, func(a, b checkpoint.Info) int {
			rank := map[bool]int{true: 0, false: 1}
			return cmp.Or(cmp.Compare(rank[a.Abandoned], rank[b.Abandoned]), cmp.Compare(a.ID, b.ID))
		})
	}
	var grow func(id checkpoint.ID, stem string)
	grow = func(id checkpoint.ID, stem string) {
		for { // down the line; a loop, since it may be long
			next := children[id]
			if len(next) == 0 {
				return
			}
			last := len(next) - 1
			for _, side := range next[:last] {
				out = append(out, branch{stem + "├─ ", side})
				grow(side.ID, stem+"│  ")
			}
			out = append(out, branch{stem, next[last]})
			id = next[last].ID
		}
	}
	grow(0, "")
	return out
}
