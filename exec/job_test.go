package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// counter is a source of the ints 0…total-1, dealt to its tasks in chunks.
type counter struct {
	task, width int
	chunk       int64
	total       int64
	polls       *atomic.Int64
}

const chunkRows = 10

func (c *counter) Poll(out *Out) (Status, error) {
	if c.polls != nil {
		c.polls.Add(1)
	}
	if c.total >= 0 && c.chunk*chunkRows >= c.total {
		return Done, nil
	}
	b := &vec.Batch{Cols: []*vec.Column{{Type: types.T(types.Int)}}}
	for i := c.chunk * chunkRows; i < (c.chunk+1)*chunkRows && (c.total < 0 || i < c.total); i++ {
		b.Cols[0].Ints = append(b.Cols[0].Ints, i)
		b.Time = append(b.Time, i)
	}
	b.N = len(b.Time)
	out.Emit(b)
	out.Watermark(c.chunk * chunkRows)
	out.ChunkEnd(c.chunk)
	c.chunk += int64(c.width)
	return More, nil
}

func (c *counter) Close() error { return nil }

func countTo(total int64, polls *atomic.Int64) func([]*Host, []*checkpoint.Reader) ([]Source, error) {
	return func(hosts []*Host, _ []*checkpoint.Reader) ([]Source, error) {
		var out []Source
		for i := range hosts {
			out = append(out, &counter{task: i, width: len(hosts), chunk: int64(i), total: total, polls: polls})
		}
		return out, nil
	}
}

// memory is a sink that keeps what it gets.
type memory struct {
	mu       sync.Mutex
	got      []int64
	finished bool
	fail     error
	pause    time.Duration
}

func (m *memory) Write(b *vec.Batch) error {
	if m.pause > 0 {
		time.Sleep(m.pause)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range b.Rows() {
		m.got = append(m.got, b.Cols[0].Ints[b.Row(i)])
	}
	return m.fail
}
func (m *memory) Finish() error { m.finished = true; return nil }
func (m *memory) Close() error  { return nil }

func sinkNode(env *Env, m *memory) *Node {
	return &Node{Name: "sink", Sink: true, New: func(int) (Operator, error) { return &SinkOperator{Sink: m, Stats: env.Stats}, nil }}
}

// perKey counts rows by value modulo 7 and gives the counts out at the end, a piece a call.
type perKey struct {
	n     map[int64]int64
	owed  []int64
	times []int64
}

func (p *perKey) Process(_ int, b *vec.Batch, _ *Out) error {
	if p.n == nil {
		p.n = map[int64]int64{}
	}
	for i := range b.Rows() {
		p.n[b.Cols[0].Ints[b.Row(i)]%7]++
	}
	return nil
}
func (p *perKey) Advance(w types.Instant, _ *Out) error { p.times = append(p.times, w); return nil }
func (p *perKey) Finish(*Out) error {
	for k, n := range p.n {
		p.owed = append(p.owed, k*1000+n)
	}
	return nil
}
func (p *perKey) Drain(out *Out) (bool, error) {
	if len(p.owed) == 0 {
		return false, nil
	}
	out.Emit(ints(p.owed[0]))
	p.owed = p.owed[1:]
	return len(p.owed) > 0, nil
}

func runGraph(t *testing.T, g *Graph, env *Env) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := Start(ctx, g, env, Setup{})
	require.NoError(t, err)
	return j.Wait()
}

// gatherGraph is source × width → gather → sink.
func gatherGraph(env *Env, total int64, width int, m *memory, inOrder bool) *Graph {
	src := &Group{Name: "source", Width: width, Source: countTo(total, nil)}
	snk := &Group{Name: "sink", Width: 1, Ports: [][]Link{{{Node: sinkNode(env, m)}}}}
	e := &Edge{From: src, To: snk, Spread: Gather, InOrder: inOrder}
	src.Ports = [][]Link{{{Edge: e}}}
	return &Graph{Groups: []*Group{src, snk}, Edges: []*Edge{e}}
}

func TestJobGathersInTheOrderOfTheSource(t *testing.T) {
	for _, width := range []int{1, 2, 3, 5} {
		env, m := OS(), &memory{}
		require.NoError(t, runGraph(t, gatherGraph(env, 1234, width, m, true), env))
		require.Len(t, m.got, 1234)
		require.True(t, slices.IsSorted(m.got))
		require.True(t, m.finished)
		require.EqualValues(t, 1234, env.Stats.RowsOut.Load())
	}
}

func TestJobSpreadsByKey(t *testing.T) {
	var want []int64
	for _, width := range []int{1, 2, 3, 5} {
		env, m := OS(), &memory{}
		src := &Group{Name: "source", Width: width, Source: countTo(1000, nil)}
		snk := &Group{Name: "sink", Width: 1, Ports: [][]Link{{{Node: sinkNode(env, m)}}}}
		keyed := &Group{Name: "keyed", Width: width}
		back := &Edge{From: keyed, To: snk, Spread: Gather}
		ops := make([]*perKey, width)
		keyed.Ports = [][]Link{{{Node: &Node{Name: "count", Ports: [][]Link{{{Edge: back}}}, New: func(task int) (Operator, error) {
			ops[task] = &perKey{}
			return ops[task], nil
		}}}}}
		// Spread by a column that groups the residues: rows of equal residue must meet in one task.
		mod := &Node{Name: "mod", New: func(int) (Operator, error) { return modulo{}, nil }}
		out := &Edge{From: src, To: keyed, Spread: Hash, Keys: []int{0}, Keep: Hidden{Time: true}}
		mod.Ports = [][]Link{{{Edge: out}}}
		src.Ports = [][]Link{{{Node: mod}}}
		require.NoError(t, runGraph(t, &Graph{Groups: []*Group{src, keyed, snk}, Edges: []*Edge{out, back}}, env))
		slices.Sort(m.got)
		if want == nil {
			want = m.got
			require.Len(t, want, 7)
		}
		require.Equal(t, want, m.got, "width %d", width)
		for _, op := range ops {
			require.True(t, slices.IsSorted(op.times), "event time never goes back")
			require.Equal(t, types.MaxInstant, op.times[len(op.times)-1])
		}
	}
}

type modulo struct{ Stateless }

func (modulo) Process(_ int, b *vec.Batch, out *Out) error {
	vs := make([]int64, b.N)
	for i, v := range b.Cols[0].Ints {
		vs[i] = v % 7
	}
	out.Emit(b.With([]*vec.Column{{Type: types.T(types.Int), Ints: vs}}))
	return nil
}

func TestJobEndsWithTheFirstError(t *testing.T) {
	env, m := OS(), &memory{fail: errors.New("disk full")}
	err := runGraph(t, gatherGraph(env, -1, 2, m, true), env) // endless source
	require.EqualError(t, err, "disk full")
	var out *OutputError
	require.ErrorAs(t, err, &out)
	require.False(t, m.finished)
}

type broken struct{ Stateless }

func (broken) Process(int, *vec.Batch, *Out) error { panic("broken") }

func TestJobTurnsAPanicIntoAnError(t *testing.T) {
	env := OS()
	src := &Group{Name: "source", Width: 1, Source: countTo(10, nil)}
	src.Ports = [][]Link{{{Node: &Node{Name: "broken", New: func(int) (Operator, error) { return broken{}, nil }}}}}
	require.ErrorContains(t, runGraph(t, &Graph{Groups: []*Group{src}}, env), "internal error: broken")
}

func TestJobStopWritesWhatIsInFlight(t *testing.T) {
	env, m := OS(), &memory{}
	j, err := Start(context.Background(), gatherGraph(env, -1, 2, m, true), env, Setup{})
	require.NoError(t, err)
	for env.Stats.RowsOut.Load() < 1000 {
		runtime.Gosched()
	}
	j.Stop()
	require.NoError(t, j.Wait())
	require.True(t, m.finished)
	require.True(t, slices.IsSorted(m.got))
	for i, v := range m.got {
		require.EqualValues(t, i, v, "no row is missing before the last")
	}
}

// first lets n rows through.
type first struct {
	Stateless
	left int
}

func (f *first) Process(_ int, b *vec.Batch, out *Out) error {
	n := min(f.left, b.Rows())
	f.left -= n
	out.Emit(b.Slice(0, n))
	return nil
}
func (f *first) Satisfied() bool { return f.left == 0 }

func TestJobEndsWhenNobodyWantsMore(t *testing.T) {
	for _, width := range []int{1, 3} {
		env, m := OS(), &memory{}
		src := &Group{Name: "source", Width: width, Source: countTo(-1, nil)}
		lim := &Group{Name: "limit", Width: 1, Ports: [][]Link{{{Node: &Node{Name: "limit", Ports: [][]Link{{{Node: sinkNode(env, m)}}},
			New: func(int) (Operator, error) { return &first{left: 25}, nil }}}}}}
		e := &Edge{From: src, To: lim, Spread: Gather, InOrder: true}
		src.Ports = [][]Link{{{Edge: e}}}
		require.NoError(t, runGraph(t, &Graph{Groups: []*Group{src, lim}, Edges: []*Edge{e}}, env))
		require.Len(t, m.got, 25)
		require.True(t, m.finished)
	}
}

func TestJobSlowSinkHoldsTheSourceBack(t *testing.T) {
	env, m := OS(), &memory{pause: time.Millisecond}
	var polls atomic.Int64
	src := &Group{Name: "source", Width: 1, Source: countTo(-1, &polls)}
	snk := &Group{Name: "sink", Width: 1, Ports: [][]Link{{{Node: sinkNode(env, m)}}}}
	e := &Edge{From: src, To: snk, Spread: Gather, InOrder: true, Limits: Limits{Rows: 100, Bytes: 1 << 20}}
	src.Ports = [][]Link{{{Edge: e}}}
	j, err := Start(context.Background(), &Graph{Groups: []*Group{src, snk}, Edges: []*Edge{e}}, env, Setup{})
	require.NoError(t, err)
	time.Sleep(100 * time.Millisecond)
	written := env.Stats.RowsOut.Load()
	ahead := polls.Load()*chunkRows - written
	require.LessOrEqual(t, ahead, int64(100+2*chunkRows+50), "rows between source and sink are bounded")
	j.Stop()
	require.NoError(t, j.Wait())
}

func TestOwnerSpreadsEvenly(t *testing.T) {
	for _, width := range []int{1, 2, 3, 7} {
		got := make([]int, width)
		for range 100_000 {
			got[Owner(rand.Uint64(), width)]++
		}
		for _, n := range got {
			require.InDelta(t, 100_000/width, n, 100_000/float64(width)*0.1, fmt.Sprint(got))
		}
	}
}
