package planner

import (
	"fmt"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// lowerer turns a parallel plan into what exec runs.
type lowerer struct {
	lib    *stdlib.Catalog
	env    *exec.Env
	print  *types.ConnArgs // how printed pipelines are written
	groups map[*Group]*exec.Group
	edges  map[*Edge]*exec.Edge
	nodes  map[*Op]*exec.Node
}

// Lower makes the graph of a parallel plan. printed pipelines are written by the connector call `print`.
func Lower(p *Physical, lib *stdlib.Catalog, env *exec.Env, print *types.ConnArgs) *exec.Graph {
	l := &lowerer{lib: lib, env: env, print: print, groups: map[*Group]*exec.Group{}, edges: map[*Edge]*exec.Edge{}, nodes: map[*Op]*exec.Node{}}
	out := &exec.Graph{}
	for _, g := range p.Groups {
		x := &exec.Group{Name: g.name(), Width: g.Width}
		l.groups[g] = x
		out.Groups = append(out.Groups, x)
	}
	for _, e := range p.Edges {
		x := &exec.Edge{Name: fmt.Sprint(e.ID), From: l.groups[e.From], To: l.groups[e.To], Spread: e.Spread, Keys: e.Keys, InOrder: e.InOrder, Keep: e.Keep}
		if e.Schema.Fields != nil {
			x.Schema = vec.AppendSchema(nil, e.Schema)
		}
		if e.InOrder { // must hold two chunks of the source, or readers wait for each other
			x.Limits = exec.Limits{Rows: 8 * vec.MaxRows, Bytes: 4 << 20}
		}
		l.edges[e] = x
		out.Edges = append(out.Edges, x)
	}
	for _, g := range p.Groups {
		x := l.groups[g]
		x.Ports = l.ports(g.Ports, g.Width)
		if g.Scan != nil {
			x.Schema = vec.AppendSchema(nil, g.Scan.Out.Schema)
			x.Source = l.source(g.Scan, l.transient(g.Ports))
		}
	}
	l.name(p)
	return out
}

func (g *Group) name() string {
	if g.Scan != nil {
		return g.Scan.Source.Name
	}
	return g.Ports[0][0].Op.Node.Name
}

func (l *lowerer) ports(ports [][]Link, width int) [][]exec.Link {
	out := make([][]exec.Link, len(ports))
	for i, links := range ports {
		for _, k := range links {
			if k.Edge != nil {
				out[i] = append(out[i], exec.Link{Edge: l.edges[k.Edge]})
				continue
			}
			out[i] = append(out[i], exec.Link{Node: l.op(k.Op, width)})
		}
	}
	return out
}

func (l *lowerer) op(op *Op, width int) *exec.Node {
	n := op.Node
	x := &exec.Node{Name: n.Name, Ports: l.ports(op.Ports, width), Sink: op.Kind == SinkOp}
	l.nodes[op] = x
	switch op.Kind {
	case RowsOp:
		in := n.In[0].Schema()
		transient := l.transient(op.Ports)
		x.New = func(int) (exec.Operator, error) {
			f, err := newFused(n.Steps, in, l.lib, l.env)
			if err != nil {
				return nil, err
			}
			f.transient = transient
			return f, nil
		}
	case StageOp:
		x.New = func(task int) (exec.Operator, error) { return n.Stage.New(l.context(n, task, width, op.Merges)) }
	case PartialOp:
		x.New = func(task int) (exec.Operator, error) {
			o, _, _ := n.Stage.Partial(l.context(n, task, width, false))
			return o, nil
		}
	case EncodeOp:
		x.New = func(int) (exec.Operator, error) { return l.encoder(n) }
	case SinkOp:
		x.New = func(int) (exec.Operator, error) {
			def, w := l.write(n)
			s, err := def.Sink(w)
			if err != nil {
				return nil, &exec.OutputError{Err: err}
			}
			return &exec.SinkOperator{Sink: s, Stats: l.env.Stats}, nil
		}
	case UnionOp:
		x.New = func(int) (exec.Operator, error) { return passOp{}, nil }
	}
	return x
}

func (l *lowerer) context(n *Node, task, width int, merges bool) *spec.StageContext {
	c := &spec.StageContext{Args: n.Args, Out: n.Out, Task: task, Width: width, Env: l.env, Lib: l.lib, Aggs: l.lib.AggDef, LatePort: n.Late, Partial: merges}
	for _, in := range n.In {
		c.In = append(c.In, in.Stream())
	}
	c.FailOf = func(of types.Schema) spec.Fail { return failer(stageText(n.Args), n.Args.OnError, n.Errors, of, l.env) }
	c.Fail = c.FailOf(n.In[0].Schema())
	return c
}

// partialOf asks a stage whether it can aggregate before its exchange.
func partialOf(lib *stdlib.Catalog, env *exec.Env) func(*Node) (types.Schema, bool) {
	return func(n *Node) (types.Schema, bool) {
		if n.Stage.Partial == nil {
			return types.Schema{}, false
		}
		l := &lowerer{lib: lib, env: env}
		_, s, ok := n.Stage.Partial(l.context(n, 0, 1, false))
		return s, ok
	}
}

// transient reports whether all that the ports lead to in the same task takes copies only of what it needs of a batch,
// so that the memory of its columns may be used again as soon as it was emitted. Error rows and other further outputs
// are not looked into.
func (l *lowerer) transient(ports [][]Link) bool {
	for i, links := range ports {
		for _, k := range links {
			if i > 0 || k.Edge != nil || !l.copies(k.Op) {
				return false
			}
		}
	}
	return true
}

func (l *lowerer) copies(op *Op) bool {
	switch op.Kind {
	case RowsOp:
		return l.transient(op.Ports)
	case PartialOp:
		return true
	case StageOp:
		return !op.Merges && op.Node.Traits.Copies
	case EncodeOp:
		o, err := l.encoder(op.Node)
		e, ok := o.(*encodeOp)
		if err != nil || !ok {
			return false
		}
		_, ok = e.enc.(spec.Copier)
		return ok
	}
	return false
}

func (l *lowerer) source(n *Node, transient bool) func([]*exec.Host, []*checkpoint.Reader) ([]exec.Source, error) {
	src := n.Source
	return func(hosts []*exec.Host, restore []*checkpoint.Reader) ([]exec.Source, error) {
		s := &spec.Scan{Name: src.Name, Ordinal: n.Ordinal, Args: src.Conn, Info: src.Info, Schema: src.Schema, Columns: n.Columns, Width: len(hosts),
			OneSplit: len(hosts) == 1, Transient: transient, Lag: src.Lag, Idle: src.Idle, Limit: n.Limit, Hosts: hosts, Env: l.env, Restore: restore}
		s.Failures = func() *exec.Failures {
			return &exec.Failures{Mode: src.OnError.Mode, Port: n.Errors, Stats: l.env.Stats}
		}
		if src.Time != nil {
			t, err := l.time(src.Time.Shift(n.moved))
			if err != nil {
				return nil, err
			}
			s.Time = t
		}
		if !src.Info.Bounded {
			l.env.Stats.Unbounded.Store(true)
		}
		return l.lib.ConnDef(src.Conn.Name).Open(s)
	}
}

// time makes what computes the event time of a batch. Tasks call it at the same time, so programs are pooled.
func (l *lowerer) time(e *types.Expr) (func(*vec.Batch, func(int, error)), error) {
	type evaluator struct {
		prog *eval.Prog
		ctx  eval.Ctx
	}
	if _, err := eval.Compile(e, l.lib); err != nil {
		return nil, err
	}
	pool := sync.Pool{New: func() any {
		p, _ := eval.Compile(e, l.lib) // compiled above
		return &evaluator{prog: p}
	}}
	return func(b *vec.Batch, fail func(int, error)) {
		v := pool.Get().(*evaluator)
		defer pool.Put(v)
		v.ctx.Reset(l.env.Now())
		col := v.prog.Eval(&v.ctx, b, b.Sel)
		b.Time = col.Ints
		for _, f := range v.ctx.Failed() {
			fail(f.Row, f.Err)
		}
		if col.Valid == nil {
			return
		}
		for i := range b.Rows() {
			if r := b.Row(i); col.Null(r) {
				fail(r, fmt.Errorf("the event time is null"))
			}
		}
	}, nil
}

// write returns a sink's connector and what it is told.
func (l *lowerer) write(n *Node) (*spec.Conn, *spec.Write) {
	w := n.Write
	args := w.Conn
	if args == nil {
		args = l.print
	}
	def := l.lib.ConnDef(args.Name)
	out := &spec.Write{Name: w.Name, Args: args, Schema: w.Schema, Changes: w.In.Updating, Env: l.env}
	if len(args.Rows) > 0 {
		out.Parts, out.PartNames = l.parts(w, args)
	}
	return def, out
}

// parts makes what computes the partition columns of a batch, for one task.
func (l *lowerer) parts(w *check.Write, args *types.ConnArgs) (func(*vec.Batch) ([]*vec.Column, []string, error), []string) {
	var names []string
	var progs []*eval.Prog
	var broken error
	for _, it := range args.Rows {
		p, err := eval.Compile(it.Expr, l.lib)
		if err != nil {
			broken = err
		}
		progs = append(progs, p)
		names = append(names, it.Name)
	}
	ctx := &eval.Ctx{}
	return func(b *vec.Batch) ([]*vec.Column, []string, error) {
		if broken != nil {
			return nil, nil, broken
		}
		ctx.Reset(l.env.Now())
		cols := make([]*vec.Column, len(progs))
		for i, p := range progs {
			cols[i] = p.Eval(ctx, b, b.Sel)
		}
		if f := ctx.Failed(); len(f) > 0 {
			e := &exec.RowError{Stage: w.Name + ": partition_by", Err: f[0].Err, Raw: string(vec.AppendRowJSON(nil, w.In.Schema.Fields, b.Cols, f[0].Row))}
			if b.Pos != nil {
				e.Source, e.Row = l.env.Splits.Where(b.Pos[f[0].Row])
			}
			return nil, nil, e
		}
		return cols, names, nil
	}, names
}

// encoder makes the operator that encodes rows for a sink; rows pass as they are where the sink takes them so.
func (l *lowerer) encoder(n *Node) (exec.Operator, error) {
	def, w := l.write(n)
	if def.Encoder == nil {
		return passOp{}, nil
	}
	enc, err := def.Encoder(w)
	if err != nil {
		return nil, &exec.OutputError{Err: err}
	}
	if enc == nil {
		return passOp{}, nil
	}
	return &encodeOp{enc: enc}, nil
}

type passOp struct{ exec.Stateless }

func (passOp) Process(_ int, b *vec.Batch, out *exec.Out) error {
	out.Emit(b)
	return nil
}

type encodeOp struct {
	exec.Stateless
	enc spec.Encoder
}

func (e *encodeOp) Process(_ int, b *vec.Batch, out *exec.Out) error {
	o, err := e.enc.Encode(b)
	if err != nil {
		return err
	}
	out.Emit(o)
	return nil
}
