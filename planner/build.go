package planner

import (
	"fmt"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// Build makes the logical plan of a checked script: all that its outputs need, as written, without any rule applied.
func Build(s *check.Script, lib *stdlib.Catalog) (*Plan, error) {
	b := &builder{lib: lib, script: s, plan: &Plan{Set: s.Set, Notes: s.Notes}, sources: map[*check.Source]Input{}, streams: map[*check.Stream]Input{},
		owner: map[*check.Stage]*check.Stream{}, in: map[*check.Stage]Input{}, out: map[*check.Stage]Input{}}
	for _, st := range s.Streams {
		for _, sg := range st.Stages {
			b.owner[sg] = st
		}
	}
	for _, w := range s.Writes {
		from, err := b.node(w.From)
		if err != nil {
			return nil, err
		}
		if w.Items != nil { // the sink's columns differ in order or type
			out := from.Stream()
			out.Schema = w.Schema
			st := Step{Stage: w.Name}
			st.Project = w.Items
			from = b.add(&Node{Kind: Rows, Name: w.Name, In: []Input{from}, Out: out, Steps: []Step{st}})
		}
		b.add(&Node{Kind: Write, Name: w.Name, In: []Input{from}, Out: w.In, Write: w})
	}
	b.plan.sweep()
	return b.plan, nil
}

type builder struct {
	lib     *stdlib.Catalog
	script  *check.Script
	plan    *Plan
	sources map[*check.Source]Input
	streams map[*check.Stream]Input
	owner   map[*check.Stage]*check.Stream
	in, out map[*check.Stage]Input // of each stage: what flows in, and out of port 0 of its node
}

func (b *builder) add(n *Node) Input {
	b.plan.Nodes = append(b.plan.Nodes, n)
	return Input{Node: n}
}

func (b *builder) node(n check.Node) (Input, error) {
	if n.Source != nil {
		return b.source(n.Source), nil
	}
	return b.stream(n.Stream)
}

func (b *builder) source(s *check.Source) Input {
	if in, ok := b.sources[s]; ok {
		return in
	}
	n := &Node{Kind: Scan, Name: s.Name, Source: s, Ordinal: len(b.sources), Out: s.Out}
	for i := range s.Schema.Fields {
		n.Columns = append(n.Columns, i)
	}
	if s.OnError.Mode == "into" {
		n.Errors = 1
	}
	in := b.add(n)
	b.sources[s] = in
	return in
}

func (b *builder) stream(s *check.Stream) (Input, error) {
	if in, ok := b.streams[s]; ok {
		return in, nil
	}
	at, err := b.head(s)
	if err != nil {
		return Input{}, err
	}
	for _, st := range s.Stages {
		b.in[st] = at
		if at, err = b.stage(st, at); err != nil {
			return Input{}, err
		}
		b.out[st] = at
	}
	b.streams[s] = at
	return at, nil
}

// head is what flows into the first stage of a stream.
func (b *builder) head(s *check.Stream) (Input, error) {
	if len(s.Feeds) == 0 {
		return b.node(s.From)
	}
	var ins []Input
	for _, f := range s.Feeds {
		in, err := b.feed(f)
		if err != nil {
			return Input{}, err
		}
		ins = append(ins, in)
	}
	return b.union(s.Name, ins, ins[0].Stream()), nil
}

func (b *builder) feed(f check.Feed) (Input, error) {
	if f.Source != nil {
		in := b.source(f.Source)
		if f.Kind == "error" {
			in.Port = in.Node.Errors
		}
		return in, nil
	}
	if f.Stage == nil {
		return b.stream(f.Stream)
	}
	owner := b.owner[f.Stage]
	if owner == nil { // of a script with errors
		return Input{}, fmt.Errorf("planner: the stage %s is in no stream", f.Stage.Args.ID)
	}
	if _, err := b.stream(owner); err != nil {
		return Input{}, err
	}
	in := b.out[f.Stage]
	switch f.Kind {
	case "into", "tee":
		return b.in[f.Stage], nil
	case "branch":
		in.Port = f.Branch + 1
	case "late":
		in.Port = in.Node.Late
	case "error":
		in.Port = in.Node.Errors
		if in.Node.Kind == Rows {
			in.Port = in.Node.Steps[0].Port
		}
	default:
		return Input{}, fmt.Errorf("planner: feed of kind %q", f.Kind)
	}
	return in, nil
}

// union merges the rows of several outputs, columns matched by name.
func (b *builder) union(name string, ins []Input, out types.Stream) Input {
	if len(ins) == 1 {
		return ins[0]
	}
	n := &Node{Kind: Union, Name: name, Out: out}
	for i := range ins {
		n.Out.Time = n.Out.Time && ins[i].Stream().Time
		n.Out.Bounded = n.Out.Bounded && ins[i].Stream().Bounded
		n.In = append(n.In, b.align(ins[i], out.Schema))
	}
	return b.add(n)
}

// align brings rows to the columns of a schema, by name.
func (b *builder) align(in Input, to types.Schema) Input {
	from := in.Schema()
	if from.Equal(to) {
		return in
	}
	items := make([]types.Item, len(to.Fields))
	for i, f := range to.Fields {
		e := types.ColRef(from, from.Index(f.Name))
		if !e.Type.Equal(f.Type) {
			e = &types.Expr{Op: types.OpCast, Type: f.Type, Args: []*types.Expr{e}}
		}
		items[i] = types.Item{Name: f.Name, Expr: e}
	}
	out := in.Stream()
	out.Schema = to
	st := Step{Stage: "union"}
	st.Project = items
	return b.add(&Node{Kind: Rows, Name: "union", In: []Input{in}, Out: out, Steps: []Step{st}})
}

func (b *builder) stage(s *check.Stage, at Input) (Input, error) {
	def := b.lib.StageDef(s.Sig.Name)
	if def == nil {
		return Input{}, fmt.Errorf("planner: no stage %q", s.Sig.Name)
	}
	if len(s.More) > 0 || s.Sig.Items == types.StreamList {
		ins := []Input{b.align(at, s.Out.Schema)}
		for _, m := range s.More {
			in, err := b.node(m)
			if err != nil {
				return Input{}, err
			}
			ins = append(ins, b.align(in, s.Out.Schema))
		}
		return b.union(s.Args.ID, ins, s.Out), nil
	}
	errorPort := 0
	if def.Steps != nil {
		if s.Args.OnError.Mode == "into" {
			errorPort = 1
		}
		n := &Node{Kind: Rows, Name: s.Args.ID, In: []Input{at}, Out: s.Out}
		for _, st := range def.Steps(at.Schema(), s.Args) {
			n.Steps = append(n.Steps, Step{Step: st, Stage: stageText(s.Args), OnError: s.Args.OnError, Port: errorPort})
		}
		return b.add(n), nil
	}
	if def.New == nil { // into, tee: their targets read what flows in
		return at, nil
	}
	n := &Node{Kind: Apply, Name: s.Args.ID, In: []Input{at}, Out: s.Out, Stage: def, Args: s.Args, Traits: def.Traits(s.In, s.Args)}
	port := len(n.Traits.Ports)
	if s.Args.Late.Target != "" {
		port++
		n.Late = port
	}
	if s.Args.OnError.Mode == "into" {
		port++
		n.Errors = port
	}
	return b.add(n), nil
}

// stageText names a stage in run-time messages.
func stageText(a *types.StageArgs) string {
	if p := a.Pos.String(); p != "" {
		return p + ": " + a.Name
	}
	return a.Name
}
