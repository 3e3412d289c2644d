package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/stdlib"
)

// SourcePosition is how far a source had come at a checkpoint.
type SourcePosition struct {
	Stage  string // stable name of its tasks
	Source string // in the script
	Rows   int64  // that it had read, failed ones included
	Text   string // the place in its input, for people
	Err    error  // why neither is known
}

// SourcePositions tells how far the sources had come at a checkpoint, in the order of the plan. read returns a block.
// Neither the script nor its inputs are looked at.
func SourcePositions(m *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error), lib *stdlib.Catalog) []SourcePosition {
	var out []SourcePosition
	var parts [][]*checkpoint.Reader
	var kinds []string
	for _, t := range m.Tasks {
		for _, n := range t.Nodes {
			group, ok := strings.CutSuffix(n.ID, sourceEnd)
			if !ok || group != t.Group {
				continue
			}
			k := slices.IndexFunc(out, func(p SourcePosition) bool { return p.Stage == group })
			if k < 0 {
				k = len(out)
				source, _, _ := strings.Cut(group, "#")
				out = append(out, SourcePosition{Stage: group, Source: source})
				parts, kinds = append(parts, nil), append(kinds, n.Kind)
			}
			r, err := sourceState(m, n, read)
			parts[k] = append(parts[k], r)
			out[k].Err = cmp.Or(out[k].Err, err)
		}
	}
	for k := range out {
		out[k].take(kinds[k], parts[k], lib)
	}
	return out
}

// sourceEnd ends the stable name of a source's state, behind that of its tasks.
const sourceEnd = "/source"

func sourceState(m *checkpoint.Manifest, n checkpoint.Node, read func(checkpoint.Ref) ([]byte, error)) (*checkpoint.Reader, error) {
	chain := n.Chain()
	if len(chain) != 1 {
		return nil, fmt.Errorf("the state of %s is not one base", n.ID)
	}
	data, err := checkpoint.Join(read, chain[0])
	if err != nil {
		return nil, err
	}
	return checkpoint.NewReader(m.ID, data), nil
}

// take asks the connector.
func (p *SourcePosition) take(connector string, parts []*checkpoint.Reader, lib *stdlib.Catalog) {
	def := lib.ConnDef(connector)
	switch {
	case p.Err != nil:
	case def == nil || def.Reached == nil:
		p.Err = fmt.Errorf("%s does not tell how far it had come", connector)
	default:
		at, err := def.Reached(parts)
		p.Rows, p.Text, p.Err = at.Rows, at.Text, err
	}
}

// SourceMove is how far a source went from one checkpoint to another.
type SourceMove struct {
	Stage, Source string
	From, To      SourcePosition // zero where the checkpoint does not have the source
	Rows          int64          // from From to To; less than 0: so many are read again
}

// CompareSources compares what SourcePositions says of two checkpoints. A source whose place is not known at one of them
// is left out.
func CompareSources(from, to []SourcePosition) []SourceMove {
	var out []SourceMove
	at := func(list []SourcePosition, stage string) SourcePosition {
		for _, p := range list {
			if p.Stage == stage {
				return p
			}
		}
		return SourcePosition{}
	}
	seen := map[string]bool{}
	for _, p := range slices.Concat(from, to) {
		if seen[p.Stage] {
			continue
		}
		seen[p.Stage] = true
		m := SourceMove{Stage: p.Stage, Source: p.Source, From: at(from, p.Stage), To: at(to, p.Stage)}
		if m.From.Err == nil && m.To.Err == nil {
			m.Rows = m.To.Rows - m.From.Rows
			out = append(out, m)
		}
	}
	return out
}
