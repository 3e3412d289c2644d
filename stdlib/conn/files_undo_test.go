package conn

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/stretchr/testify/require"
)

// Rollbacks and steps forward again, over crashes, with runs in between: the outputs are what they were at each
// checkpoint.

// rolling is a job that is rolled back now and then.
type rolling struct {
	t    *testing.T
	args map[string]any
	fs   *disk.Sim
	rnd  *rand.Rand
	head checkpoint.ID
	last checkpoint.ID
	rows int64
	kept map[checkpoint.ID]*rolled
	back []rollback // newest first
}

type rolled struct {
	state    []byte
	contents string
	before   checkpoint.ID
}

// rollback is one that was made.
type rollback struct {
	dir string
	cut []checkpoint.ID // what was cut off
}

func (r *rolling) open() (exec.Sink, func(rows ...[]any)) {
	env := testEnv()
	env.FS = r.fs
	s, e, err := openPut(env, r.args)
	require.NoError(r.t, err)
	return s, func(rows ...[]any) { require.NoError(r.t, putBatch(s, e, outRows(rows...))) }
}

func (r *rolling) load(s exec.Sink) {
	if r.head > 0 {
		require.NoError(r.t, s.(exec.Saver).Load(checkpoint.NewReader(r.head, r.kept[r.head].state)))
		require.NoError(r.t, s.(exec.Committer).Commit(r.head, true))
		require.Equal(r.t, r.kept[r.head].contents, contents(r.t, r.fs), "checkpoint %d", r.head)
	}
}

// run takes a few checkpoints and ends in some way.
func (r *rolling) run() {
	s, write := r.open()
	r.load(s)
	n := 1 + r.rnd.IntN(3)
	for i := range n {
		for range r.rnd.IntN(20) {
			r.rows++
			write([]any{fmt.Sprint(r.rnd.IntN(3)), r.rows})
		}
		r.last++
		w := checkpoint.NewWriter(r.last, 0)
		require.NoError(r.t, s.(exec.Saver).Save(w))
		for w.Continue() {
		}
		data, flush, _ := w.Output()
		for _, f := range flush {
			require.NoError(r.t, f())
		}
		r.kept[r.last] = &rolled{state: data, before: r.head}
		r.head = r.last
		if i == n-1 && r.rnd.IntN(2) == 0 { // killed before it could be committed
			r.kill(s)
			s, _ = r.open()
			require.NoError(r.t, s.(exec.Saver).Load(checkpoint.NewReader(r.head, data)))
		}
		require.NoError(r.t, s.(exec.Committer).Commit(r.head, true))
		r.kept[r.head].contents = contents(r.t, r.fs)
	}
	if r.rnd.IntN(2) == 0 {
		write([]any{"lost", r.rows})
	}
	r.kill(s)
}

func (r *rolling) kill(s exec.Sink) {
	dead := r.fs
	r.fs = r.fs.Kill()
	if r.rnd.IntN(2) == 0 {
		r.fs = r.fs.Crash(r.rnd)
	}
	dead.Before = func(string, string) error { return errCrash }
	s.Close()
}

// to rolls back, or forward, to a checkpoint.
func (r *rolling) to(id checkpoint.ID) {
	s, _ := r.open() // what the head still owes its outputs
	r.load(s)
	require.NoError(r.t, s.Close())
	have, want := r.line(r.head), r.line(id)
	here, back := slices.Clone(have), []string(nil)
	for _, b := range r.back {
		if slices.ContainsFunc(b.cut, func(c checkpoint.ID) bool { return slices.Contains(want, c) && !slices.Contains(here, c) }) {
			back = append(back, b.dir)
			here = append(here, b.cut...)
		}
	}
	dir := fmt.Sprintf("jobs/aside/%d", len(r.back)+1)
	cut := slices.DeleteFunc(slices.Clone(have), func(c checkpoint.ID) bool { return slices.Contains(want, c) })
	r.back = append([]rollback{{dir, cut}}, r.back...)
	was := r.head
	r.head = id
	for {
		s, _ := r.open()
		f := s.(*fileSink)
		state := func() *checkpoint.Reader { return checkpoint.NewReader(id, r.kept[id].state) }
		_, err := f.undo(state(), "", back)
		require.NoError(r.t, err, "from %d to %d", was, id)
		if left := r.rnd.IntN(60); r.rnd.IntN(2) == 0 {
			r.fs.Before = func(op, _ string) error {
				if left--; left < 0 {
					return errCrash
				}
				return nil
			}
		}
		_, err = f.undo(state(), dir, back)
		s.Close()
		r.fs.Before = nil
		if err == nil {
			return
		}
		require.ErrorIs(r.t, err, errCrash)
		r.fs = r.fs.Crash(r.rnd)
	}
}

// line is a checkpoint with all that it builds on.
func (r *rolling) line(id checkpoint.ID) (out []checkpoint.ID) {
	for ; id > 0; id = r.kept[id].before {
		out = append(out, id)
	}
	return out
}

func TestOutputsRolledBack(t *testing.T) {
	smallStage(t)
	rounds := 8
	if os.Getenv("EBB_LONG") != "" {
		rounds = 100
	}
	for name, args := range outputCases() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(rounds) {
				j := newOutputJob(t, args, seed)
				r := &rolling{t: t, args: args, fs: j.fs, rnd: j.rnd, kept: map[checkpoint.ID]*rolled{}}
				j.fs.Before = nil
				require.NoError(t, r.fs.MkdirAll("jobs"))
				require.NoError(t, r.fs.SyncDir("."))
				r.run()
				for range 6 {
					if r.rnd.IntN(3) > 0 {
						r.run()
						continue
					}
					line := r.line(r.head)
					id := line[r.rnd.IntN(len(line))]
					from := r.head
					r.to(id)
					if r.rnd.IntN(2) == 0 {
						r.run()
					}
					if r.rnd.IntN(2) == 0 { // the abandoned branch
						r.to(from)
					}
				}
				s, _ := r.open()
				r.load(s)
				s.Close()
			}
		})
	}
}

// What two rollbacks have cut off comes back in its order, is durable then, and is refused where it is not what was cut.
func TestRemake(t *testing.T) {
	env := testEnv()
	fs := disk.NewSim()
	env.FS = fs
	sink, _, err := openPut(env, map[string]any{"path": "unused.csv"})
	require.NoError(t, err)
	s := sink.(*fileSink)
	defer s.Close()
	write := func(name string, at int64, text string) {
		f, err := fs.Edit(name)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte(text), at)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	write("out.csv", 0, "n\n1\n2\n3\n4\n")
	cut := func(dir string, had, keep int64) (rows int64) {
		require.NoError(t, fs.MkdirAll(dir))
		m := &remake{name: "out.csv", had: had, keep: keep}
		require.NoError(t, s.setAside(dir, m))
		require.NoError(t, s.remake(m))
		return m.rows
	}
	require.EqualValues(t, 2, cut("second", 10, 6))
	require.EqualValues(t, 2, cut("first", 6, 0), "the header is no row")
	m := &remake{name: "out.csv", back: []cutting{{cutName("first", "out.csv"), cutHead, 6}, {cutName("second", "out.csv"), cutHead, 2}}}
	require.NoError(t, s.remake(m))
	require.NoError(t, fs.SyncDir("."))
	got := make([]byte, 8)
	f, err := fs.Crash(rand.New(rand.NewPCG(1, 1))).Open("out.csv")
	require.NoError(t, err)
	require.NoError(t, readAt(f, got, 0, "out.csv"))
	require.Equal(t, "n\n1\n2\n3\n", string(got))

	m.back[1].size = 5 // more than was cut off
	require.ErrorContains(t, s.remake(m), "is damaged")
	m.back[1].size = 4
	require.NoError(t, s.remake(m))
	write(cutName("second", "out.csv"), cutHead+3, "5")
	require.ErrorContains(t, s.remake(m), "is damaged")
}
