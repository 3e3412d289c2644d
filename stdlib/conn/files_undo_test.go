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
