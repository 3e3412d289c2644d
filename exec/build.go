package exec

import (
	"fmt"
	"runtime/debug"

	"github.com/ebb-lang/ebb/lang/types"
)

func stack() []byte { return debug.Stack() }

// Build makes the tasks, channels and operators of a graph, for a scheduler to step. The closers release what they
// opened, in order; they are returned with an error, too.
func Build(g *Graph, env *Env) (tasks []*Task, closers []func() error, err error) {
	b := &builder{env: env, tasks: map[*Group][]*Task{}}
	for _, gr := range g.Groups {
		for i := range gr.Width {
			t := &Task{name: fmt.Sprintf("%s[%d]", gr.Name, i), env: env, wake: make(chan struct{}, 1)}
			b.tasks[gr] = append(b.tasks[gr], t)
			tasks = append(tasks, t)
		}
	}
	b.channels(g)
	for _, gr := range g.Groups {
		if err := b.group(gr); err != nil {
			return nil, b.closers, err
		}
	}
	for _, t := range tasks {
		t.mayEnd = b.satisfier
	}
	return tasks, b.closers, nil
}

type builder struct {
	env     *Env
	tasks   map[*Group][]*Task
	writers map[*Edge][]*writer // one a producer
	closers []func() error
	// satisfier tells that the graph has a Satisfier: only then do tasks ask whether their rows are still wanted.
	satisfier bool
}

// channels makes the channels of every edge, and the gates of their consumers.
func (b *builder) channels(g *Graph) {
	b.writers = map[*Edge][]*writer{}
	for _, e := range g.Edges {
		from, to := b.tasks[e.From], b.tasks[e.To]
		limits := e.Limits
		if limits == (Limits{}) {
			limits = DefaultLimits
		}
		ws := make([]*writer, len(from))
		into := make([][]*Channel, len(to))
		for i, p := range from {
			ws[i] = &writer{spread: e.Spread, keys: e.Keys, keep: e.Keep}
			for k, c := range to {
				if e.Spread == Rebalance && len(from) == len(to) && i != k {
					continue
				}
				ch := NewChannel(limits, c.Wake, p.Wake)
				ws[i].chans = append(ws[i].chans, ch)
				into[k] = append(into[k], ch)
			}
		}
		b.writers[e] = ws
		for k, c := range to {
			if c.gate == nil {
				c.gate = NewGate()
			}
			c.gate.Add(e.In, into[k], e.InOrder)
		}
	}
}

func (b *builder) group(gr *Group) error {
	tasks := b.tasks[gr]
	if gr.Source != nil {
		hosts := make([]*Host, len(tasks))
		for i, t := range tasks {
			hosts[i] = &Host{Env: b.env, Wake: t.Wake}
		}
		sources, err := gr.Source(hosts)
		if err != nil {
			return err
		}
		if len(sources) == 0 || len(sources) > len(tasks) {
			return fmt.Errorf("%s: source made %d parts for %d tasks", gr.Name, len(sources), len(tasks))
		}
		for i, t := range tasks {
			t.source = noSource{}
			if i < len(sources) {
				t.source = sources[i]
				b.closers = append(b.closers, sources[i].Close)
			}
		}
	}
	for i, t := range tasks {
		made := map[*Node]*node{}
		ports, err := b.ports(gr.Ports, t, i, made)
		if err != nil {
			return err
		}
		if gr.Source != nil {
			t.root = &Out{ports: ports, fail: &t.fail}
			continue
		}
		t.head = ports[0][0].node
	}
	return nil
}

func (b *builder) ports(links [][]Link, t *Task, i int, made map[*Node]*node) ([][]target, error) {
	ports := make([][]target, len(links))
	for p, ls := range links {
		for _, l := range ls {
			if l.Edge != nil {
				w := b.writers[l.Edge][i]
				t.addWriter(w)
				ports[p] = append(ports[p], target{edge: w})
				continue
			}
			n, err := b.node(l.Node, t, i, made)
			if err != nil {
				return nil, err
			}
			ports[p] = append(ports[p], target{node: n})
		}
	}
	return ports, nil
}

func (b *builder) node(spec *Node, t *Task, i int, made map[*Node]*node) (*node, error) {
	if made[spec] != nil {
		return nil, fmt.Errorf("%s: two inputs inside one task", spec.Name) // would break the minimum of watermarks
	}
	op, err := spec.New(i)
	if err != nil {
		return nil, err
	}
	if c, ok := op.(interface{ Close() error }); ok {
		b.closers = append(b.closers, c.Close)
	}
	n := &node{name: spec.Name, op: op, w: types.MinInstant, sink: spec.Sink}
	made[spec] = n
	ports, err := b.ports(spec.Ports, t, i, made)
	if err != nil {
		return nil, err
	}
	n.out = &Out{ports: ports, fail: &t.fail}
	t.nodes = append(t.nodes, n)
	if _, ok := op.(Satisfier); ok {
		b.satisfier = true
	}
	if k, ok := op.(Ticker); ok {
		t.tickers = append(t.tickers, tickNode{n: n, t: k})
	}
	return n, nil
}

func (t *Task) addWriter(w *writer) {
	for _, x := range t.writers {
		if x == w {
			return
		}
	}
	t.writers = append(t.writers, w)
}

// noSource is the source of a task for which the input had no part.
type noSource struct{}

func (noSource) Poll(*Out) (Status, error) { return Done, nil }
func (noSource) Close() error              { return nil }
