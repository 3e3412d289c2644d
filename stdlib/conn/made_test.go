package conn

import (
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// connector returns a definition by its name.
func connector(t testing.TB, name string) *spec.Conn {
	t.Helper()
	for _, c := range All() {
		if c.ConnSig.Name == name {
			return c
		}
	}
	t.Fatalf("no connector %s", name)
	return nil
}

// callArgs are the arguments of a call as the checker hands them over, defaults included.
func callArgs(c *spec.Conn, args map[string]any) *types.ConnArgs {
	a := &types.ConnArgs{Name: c.ConnSig.Name, Args: map[string]any{}, Types: map[string]types.Type{}}
	for _, p := range c.Params {
		if p.Default != nil {
			a.Args[p.Name] = p.Default
		}
	}
	for k, v := range args {
		a.Args[k] = v
	}
	return a
}

// sourceRun reads a source to its end, its tasks polled in turn.
type sourceRun struct {
	t    testing.TB
	scan *spec.Scan
	info types.SourceInfo
	now  int64
	// each is called for all items of all tasks.
	each func(task int, it exec.Item)
}

func newSourceRun(t testing.TB, name string, args map[string]any, width int) *sourceRun {
	t.Helper()
	c := connector(t, name)
	r := &sourceRun{t: t}
	env := exec.OS()
	env.Now = func() int64 { return r.now }
	a := callArgs(c, args)
	info, err := c.Info(a, nil, env)
	if err != nil {
		t.Fatal(err)
	}
	r.info = info
	r.scan = &spec.Scan{Name: "src", Ordinal: 3, Args: a, Schema: info.Schema, Width: width, Lag: info.Lag, Env: env,
		Failures: func() *exec.Failures { return &exec.Failures{Stats: env.Stats} }}
	for i := range info.Schema.Fields {
		r.scan.Columns = append(r.scan.Columns, i)
	}
	for range width {
		r.scan.Hosts = append(r.scan.Hosts, &exec.Host{Env: env, Wake: func() {}})
	}
	if at := info.Schema.Index(info.Time); at >= 0 {
		r.scan.Time = func(b *vec.Batch, _ func(int, error)) { b.Time = b.Cols[at].Ints }
	}
	return r
}

func (r *sourceRun) open() []exec.Source {
	r.t.Helper()
	sources, err := connector(r.t, r.scan.Args.Name).Open(r.scan)
	if err != nil {
		r.t.Fatal(err)
	}
	return sources
}

// run polls until all tasks are done and returns the rows in the order of the chunks.
func (r *sourceRun) run() []*vec.Batch {
	r.t.Helper()
	sources := r.open()
	type chunk struct{ batches []*vec.Batch }
	byChunk := map[int64]*chunk{}
	open := make([]*chunk, len(sources))
	outs := make([]*exec.Out, len(sources))
	for i := range sources {
		open[i] = &chunk{}
		outs[i] = exec.NewTap(func(_ int, it exec.Item) {
			if r.each != nil {
				r.each(i, it)
			}
			switch it.Kind {
			case exec.Rows:
				open[i].batches = append(open[i].batches, it.Batch)
			case exec.ChunkEnd:
				if it.N%int64(len(sources)) != int64(i) || byChunk[it.N] != nil {
					r.t.Fatalf("task %d ended chunk %d", i, it.N)
				}
				byChunk[it.N] = open[i]
				open[i] = &chunk{}
			}
		})
	}
	done := make([]bool, len(sources))
	for left, rounds := len(sources), 0; left > 0; rounds++ {
		if rounds > 1_000_000 {
			r.t.Fatal("the source does not end")
		}
		for i, s := range sources {
			if done[i] {
				continue
			}
			st, err := s.Poll(outs[i])
			if err != nil {
				r.t.Fatal(err)
			}
			if st == exec.Done {
				done[i] = true
				left--
			}
		}
		r.now += 1e6
	}
	var out []*vec.Batch
	for k := int64(0); byChunk[k] != nil; k++ {
		out = append(out, byChunk[k].batches...)
		delete(byChunk, k)
	}
	if len(byChunk) > 0 {
		r.t.Fatal("chunks are missing")
	}
	return out
}

// rowsText prints everything that is known of rows.
func rowsText(batches []*vec.Batch) string {
	var s strings.Builder
	for _, b := range batches {
		for i := range b.Rows() {
			row := b.Row(i)
			one := *b
			one.Sel = []uint32{uint32(row)}
			s.WriteString(strings.TrimSuffix(one.String(), "\n"))
			mark := int64(types.MinInstant)
			if b.Mark != nil {
				mark = b.Mark[row]
			}
			at := int64(0)
			if b.Time != nil {
				at = b.Time[row]
			}
			if mark > at { // a mark that is not behind the row says nothing
				s.WriteString(" late for ")
				s.WriteString(types.FormatConst(types.T(types.Time), mark))
			}
			s.WriteString(" #")
			s.WriteString(types.FormatConst(types.T(types.Int), int64(b.Pos[row]&(1<<40-1))))
			s.WriteByte('\n')
		}
	}
	return s.String()
}
