package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
)

// Crashes at every file operation of a run that writes with checkpoints: whatever is lost, the output is that of an
// undisturbed run.

var errCrash = errors.New("the machine is gone")

// outputJob writes rows with checkpoints, over crashes.
type outputJob struct {
	t     *testing.T
	args  map[string]any
	batch []*vec.Batch // in order
	save  []int        // after how many batches checkpoints are taken
	fs    *disk.Sim
	rnd   *rand.Rand

	count  sync.Mutex // outputs are flushed at the same time; guards the following
	left   int        // operations until the crash; < 0: none
	once   bool       // only one operation fails then: the run ends in order, as far as it can
	synced bool       // it came during a flush

	// What the store keeps.
	state []byte
	id    checkpoint.ID // of state
	at    int           // batches that state includes
	next  checkpoint.ID
	torn  *tornCheckpoint
	// After a crash the newest checkpoint may be one of which nobody knows that it is durable; before is the one before it.
	unsure, before *tornCheckpoint

	visible map[int]string // what can be seen after the commit of a checkpoint at so many batches; of the undisturbed run
}

// tornCheckpoint is one that may have reached the disk when the machine went.
type tornCheckpoint struct {
	id     checkpoint.ID
	at     int
	state  []byte
	sealed []checkpoint.Sealed
}

func (j *outputJob) crashAfter(n int) {
	j.left = n
	j.fs.Before = func(op, name string) error {
		j.count.Lock()
		defer j.count.Unlock()
		if j.left == 0 {
			j.synced = j.synced || op == "sync"
			if j.once {
				j.left = -1
			}
			return errCrash
		}
		if j.left > 0 {
			j.left--
		}
		return nil
	}
}

// run goes on from what the store keeps to the end.
func (j *outputJob) run() (err error) {
	env := testEnv()
	env.FS = j.fs
	s, e, err := openPut(env, j.args)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
	}()
	from := 0
	if j.state != nil {
		if err := s.(exec.Saver).Load(checkpoint.NewReader(j.id, j.state)); err != nil {
			return err
		}
		if j.unsure != nil { // it is made durable before its outputs change
			for _, x := range j.unsure.sealed {
				if err := checkpoint.KeepOutput(j.fs, "")(x); err != nil {
					return err
				}
			}
			j.unsure = nil
		}
		from = j.at
	}
	goOn := func() error {
		if j.state == nil {
			return nil
		}
		err := s.(exec.Committer).Commit(j.id, true)
		if err == nil {
			j.see(j.at)
		}
		return err
	}
	late := from + j.rnd.IntN(3) // while rows are written already
	for i := from; i <= len(j.batch); i++ {
		if i >= late || i == len(j.batch) || slices.Contains(j.save, i) && i > from {
			if err := goOn(); err != nil {
				return err
			}
			goOn = func() error { return nil }
		}
		for _, at := range j.save {
			if at == i && at > from {
				if err := j.checkpoint(s, i); err != nil {
					return err
				}
			}
		}
		if i < len(j.batch) {
			if err := putBatch(s, e, j.batch[i]); err != nil {
				return err
			}
		}
	}
	if err := s.Finish(); err != nil {
		return err
	}
	return j.checkpoint(s, len(j.batch))
}

// checkpoint takes one; now and then it is aborted instead.
func (j *outputJob) checkpoint(s exec.Sink, at int) error {
	for {
		j.next++
		w := checkpoint.NewWriter(j.next, 0)
		if err := s.(exec.Saver).Save(w); err != nil {
			return err
		}
		for w.Continue() {
		}
		data, flush, sealed := w.Output()
		if j.rnd.IntN(4) == 0 {
			continue
		}
		j.torn = &tornCheckpoint{j.next, at, data, sealed}
		for _, f := range flush {
			if err := f(); err != nil {
				return err
			}
		}
		require.True(j.t, sealsFit(j.fs, sealed))
		j.publish()
		if err := s.(exec.Committer).Commit(j.next, true); err != nil {
			return err
		}
		j.see(at)
		return nil
	}
}

func (j *outputJob) publish() {
	j.id, j.at, j.state, j.torn = j.torn.id, j.torn.at, j.torn.state, nil
}

// sealsFit reports whether sealed ranges are what they were.
func sealsFit(fs exec.FS, sealed []checkpoint.Sealed) bool {
	for _, x := range sealed {
		f, err := fs.Open(x.Path)
		if err != nil {
			return false
		}
		b := make([]byte, x.Length)
		n, _ := f.ReadAt(b, x.Offset)
		f.Close()
		if n < len(b) || xxh3.Hash(b) != x.Sum {
			return false
		}
	}
	return true
}

// see checks what can be seen once a checkpoint is committed.
func (j *outputJob) see(at int) {
	have := contents(j.t, j.fs)
	if want, ok := j.visible[at]; ok {
		require.Equal(j.t, want, have)
		return
	}
	j.visible[at] = have
}

// contents prints all files that can be seen, unpacked.
func contents(t *testing.T, fs exec.FS) string {
	var out []string
	require.NoError(t, walk("out", fs, func(name string) {
		f, err := fs.Open(name)
		require.NoError(t, err)
		defer f.Close()
		var r io.Reader = f
		if strings.HasSuffix(name, ".gz") {
			r, err = gzip.NewReader(f)
			require.NoError(t, err)
		}
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		out = append(out, name+":\n"+string(b))
	}))
	sort.Strings(out)
	return strings.Join(out, "")
}

// crash loses what was not flushed. A checkpoint that was being published may be there as a whole.
func (j *outputJob) crash() {
	if j.rnd.IntN(3) == 0 && !j.synced { // a process that is killed sees no flush fail
		j.fs = j.fs.Kill()
	} else {
		j.fs = j.fs.Crash(j.rnd)
	}
	if x := j.unsure; x != nil && !sealsFit(j.fs, x.sealed) {
		j.torn, j.unsure = j.before, nil
		j.publish()
	}
	if x := j.torn; x != nil && j.rnd.IntN(2) == 0 && sealsFit(j.fs, x.sealed) {
		j.before, j.unsure = &tornCheckpoint{id: j.id, at: j.at, state: j.state}, x
		j.publish()
	}
	j.torn, j.synced = nil, false
}

func outputCases() map[string]map[string]any {
	return map[string]map[string]any{
		"file":      {"path": "out/a.csv"},
		"gzip":      {"path": "out/a.csv.gz"},
		"append":    {"path": "out/old.csv", "append": true},
		"replace":   {"path": "out/old.csv"},
		"parts":     {"path": "out", "partition_by": "k"},
		"parts.gz":  {"path": "out", "partition_by": "k", "compression": "gzip"},
		"parts.add": {"path": "out", "partition_by": "k", "append": true},
	}
}

func newOutputJob(t *testing.T, args map[string]any, seed uint64) *outputJob {
	fs := disk.NewSim()
	for name, text := range map[string]string{"out/old.csv": "k,n\nold,1", "out/k=3/odd%3F=true/part-0.csv": "k,n\n3,99\n", "out/k=77/odd%3F=true/part-0.csv": "k,n\n77,1\n"} {
		require.NoError(t, fs.MkdirAll(filepath.Dir(name)))
		f, err := fs.Create(name)
		require.NoError(t, err)
		f.Write([]byte(text))
		require.NoError(t, f.Sync())
		f.Close()
		for d := filepath.Dir(name); d != "."; d = filepath.Dir(d) {
			require.NoError(t, fs.SyncDir(d))
		}
		require.NoError(t, fs.SyncDir("."))
	}
	j := &outputJob{t: t, args: args, fs: fs, rnd: rand.New(rand.NewPCG(7, seed)), visible: map[int]string{}, save: []int{2, 3, 5, 6, 8, 9, 10, 11, 12}}
	for i := range 13 {
		var rows [][]any
		for k := range []int{1, 1, 3, 40, 2, 0, 60, 5, 50, 45, 30, 55, 1}[i] {
			rows = append(rows, []any{fmt.Sprint((i + k) % (2 + i)), int64(100*i + k)})
		}
		j.batch = append(j.batch, outRows(rows...))
	}
	j.crashAfter(-1)
	return j
}

// smallStage makes hidden files of what is more than a few rows.
func smallStage(t *testing.T) {
	testInline = 60
	t.Cleanup(func() { testInline = 0 })
}

func TestOutputsSurviveCrashes(t *testing.T) {
	smallStage(t)
	seeds, stride := 3, 6
	if testing.Short() { // under the race detector: one goroutine
		seeds = 1
	}
	if os.Getenv("EBB_LONG") != "" {
		seeds, stride = 20, 1
	}
	for name, args := range outputCases() {
		t.Run(name, func(t *testing.T) {
			whole := newOutputJob(t, args, 1)
			require.NoError(t, whole.run())
			require.NotContains(t, whole.fs.String(), ".tmp-")
			require.NotContains(t, whole.fs.String(), "lock")
			for seed := range uint64(seeds) {
				for n := int(seed); ; n += 1 + whole.rnd.IntN(stride) {
					j := newOutputJob(t, args, seed+uint64(n)<<8)
					j.visible = whole.visible
					j.once = j.rnd.IntN(2) == 0
					j.crashAfter(n)
					err := j.run()
					over := err == nil
					for tries := 0; err != nil; tries++ {
						require.ErrorIs(t, err, errCrash)
						require.Less(t, tries, 50)
						j.crash()
						again := -1
						if j.rnd.IntN(2) == 0 {
							again = j.rnd.IntN(40)
						}
						j.crashAfter(again)
						err = j.run()
					}
					require.Equal(t, contents(t, whole.fs), contents(t, j.fs), "crash at %d", n)
					j.fs = j.fs.Crash(j.rnd) // it is durable, too
					require.Equal(t, contents(t, whole.fs), contents(t, j.fs), "crash at the end after one at %d", n)
					if over {
						break
					}
				}
			}
		})
	}
}

// A run that never took a checkpoint, or whose checkpoints were all aborted, writes whole outputs at its end.
// The files of intervals are written over once nobody needs them, and end with the run.
func TestHiddenFilesAreWrittenOver(t *testing.T) {
	smallStage(t)
	j := newOutputJob(t, outputCases()["file"], 1)
	made, over := map[string]bool{}, 0
	j.fs.Before = func(op, name string) error {
		hidden := strings.Contains(name, ".tmp-")
		if op == "create" && hidden {
			made[name] = true
		}
		if op == "edit" && hidden {
			require.False(t, made[name], "written over under its old name")
			over++
		}
		return nil
	}
	require.NoError(t, j.run())
	require.Positive(t, over)
	require.Less(t, len(made), 6)
	require.NotContains(t, j.fs.String(), ".tmp-")
}

func TestOutputsWithoutCheckpoint(t *testing.T) {
	smallStage(t)
	for name, args := range outputCases() {
		t.Run(name, func(t *testing.T) {
			want := ""
			for _, saves := range []int{0, 1, 3} {
				j := newOutputJob(t, args, 1)
				env := testEnv()
				env.FS = j.fs
				s, e, err := openPut(env, args)
				require.NoError(t, err)
				for i, b := range j.batch {
					if i < saves {
						require.NoError(t, s.(exec.Saver).Save(checkpoint.NewWriter(checkpoint.ID(i+1), 0)))
					}
					require.NoError(t, putBatch(s, e, b))
				}
				require.NoError(t, s.Finish())
				require.NoError(t, s.(exec.Committer).Commit(exec.Ended, true))
				require.NoError(t, s.Close())
				if saves == 0 {
					want = contents(t, j.fs)
				}
				require.Equal(t, want, contents(t, j.fs))
				require.NotContains(t, j.fs.String(), ".tmp-")
			}
		})
	}
}

// A run that ends in trouble after the input of an output has ended, but before a checkpoint says so, leaves nothing of it to
// be seen: the next run would append it again.
func TestOutputsOfARunThatFails(t *testing.T) {
	smallStage(t)
	for name, args := range outputCases() {
		t.Run(name, func(t *testing.T) {
			j := newOutputJob(t, args, 1)
			env := testEnv()
			env.FS = j.fs
			s, e, err := openPut(env, args)
			require.NoError(t, err)
			before := contents(t, j.fs)
			for i, b := range j.batch {
				if i == 1 {
					require.NoError(t, s.(exec.Saver).Save(checkpoint.NewWriter(1, 0)))
				}
				require.NoError(t, putBatch(s, e, b))
			}
			require.NoError(t, s.Finish())
			require.NoError(t, s.Close())
			require.Equal(t, before, contents(t, j.fs))
		})
	}
}

// A hidden file that a checkpoint has sealed proves after a crash that the checkpoint was published: it stays, also of an
// output whose input has ended, until it is certain without it.
func TestSealedFileStays(t *testing.T) {
	smallStage(t)
	for name, args := range outputCases() {
		t.Run(name, func(t *testing.T) {
			j := newOutputJob(t, args, 1)
			env := testEnv()
			env.FS = j.fs
			s, e, err := openPut(env, args)
			require.NoError(t, err)
			require.NoError(t, s.(exec.Saver).Save(checkpoint.NewWriter(1, 0))) // from now on it waits
			for _, b := range j.batch {
				require.NoError(t, putBatch(s, e, b))
			}
			require.NoError(t, s.Finish())
			sealed := j.saved(s, 2)
			require.NotEmpty(t, sealed)
			require.NoError(t, s.(exec.Committer).Commit(2, false))
			require.True(t, sealsFit(j.fs, sealed))
			require.NoError(t, s.(exec.Committer).Commit(2, true))
			require.NotContains(t, j.fs.String(), ".tmp-")
			require.NoError(t, s.Close())
		})
	}
}

// saved saves an output for checkpoint id, flushes it and returns what was sealed.
func (j *outputJob) saved(s exec.Sink, id checkpoint.ID) []checkpoint.Sealed {
	w := checkpoint.NewWriter(id, 0)
	require.NoError(j.t, s.(exec.Saver).Save(w))
	for w.Continue() {
	}
	data, flush, sealed := w.Output()
	for _, f := range flush {
		require.NoError(j.t, f())
	}
	j.torn = &tornCheckpoint{id, 0, data, sealed}
	j.publish()
	return sealed
}

// A flush that fails at a restart takes nothing away that the checkpoint, and older ones, name: the next restart finds it,
// also if the power fails in between.
func TestFlushThatFailsAtARestart(t *testing.T) {
	smallStage(t)
	for name, args := range outputCases() {
		t.Run(name, func(t *testing.T) {
			whole := ""
			for _, trouble := range []bool{false, true} {
				j := newOutputJob(t, args, 1)
				env := testEnv()
				env.FS = j.fs
				s, e, err := openPut(env, args)
				require.NoError(t, err)
				require.NoError(t, s.(exec.Saver).Save(checkpoint.NewWriter(1, 0))) // from now on it waits
				for _, b := range j.batch {
					require.NoError(t, putBatch(s, e, b))
				}
				require.NoError(t, s.Finish())
				j.saved(s, 2)
				j.fs = j.fs.Kill() // before it is committed
				restart := func() error {
					env := testEnv()
					env.FS = j.fs
					s, _, err := openPut(env, args)
					require.NoError(t, err)
					defer s.Close()
					if err := s.(exec.Saver).Load(checkpoint.NewReader(2, j.state)); err != nil {
						return err
					}
					return s.(exec.Committer).Commit(2, true)
				}
				if trouble {
					failed := false
					j.fs.Before = func(op, name string) error {
						if op == "sync" && !failed {
							failed = true
							return errCrash
						}
						return nil
					}
					require.Error(t, restart())
					require.True(t, failed)
					j.fs = j.fs.Crash(j.rnd)
				}
				require.NoError(t, restart())
				if whole == "" {
					whole = contents(t, j.fs)
				}
				require.Equal(t, whole, contents(t, j.fs))
			}
		})
	}
}

func TestOutputLocked(t *testing.T) {
	dir := t.TempDir()
	for _, args := range []map[string]any{{"path": filepath.Join(dir, "a.csv")}, {"path": filepath.Join(dir, "b"), "partition_by": "k"}} {
		s, _, err := openPut(testEnv(), args)
		require.NoError(t, err)
		_, _, err = openPut(testEnv(), args)
		require.EqualError(t, err, "cannot write "+args["path"].(string)+": another run is writing it; wait for that one, or stop it, or write elsewhere")
		require.NoError(t, s.Close())
		s, _, err = openPut(testEnv(), args)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	require.Equal(t, "", tree(t, dir))
}

// Damaged state is an error or nothing at all.
func TestOutputDamaged(t *testing.T) {
	smallStage(t)
	j := newOutputJob(t, outputCases()["parts"], 1)
	j.batch = j.batch[:5]
	require.NoError(t, j.run())
	for i := range j.state {
		for _, x := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(j.state)
			bad[i] ^= x
			env := testEnv()
			env.FS = j.fs.Kill()
			s, _, err := openPut(env, j.args)
			require.NoError(t, err)
			s.(exec.Saver).Load(checkpoint.NewReader(1, bad))
			s.Close()
		}
	}
}

// What stands behind the rows of the checkpoint is not of it, whoever wrote it: it is cut off.
func TestOutputLongerThanItsCheckpoint(t *testing.T) {
	for _, more := range []string{"b,2\n", "b", ""} {
		env := testEnv()
		fs := disk.NewSim()
		env.FS = fs
		j := &outputJob{t: t}
		s, e, err := openPut(env, map[string]any{"path": "out.csv"})
		require.NoError(t, err)
		require.NoError(t, putBatch(s, e, outRows([]any{"a", int64(1)})))
		for id := range checkpoint.ID(3) { // the last one does not hold the rows any more
			j.saved(s, id+1)
			require.NoError(t, s.(exec.Committer).Commit(id+1, true))
		}
		whole, err := fs.Stat("out.csv")
		require.NoError(t, err)
		require.NotZero(t, whole.Size())

		env.FS = fs.Kill()
		f, err := env.FS.Edit("out.csv")
		require.NoError(t, err)
		if more == "" { // or shorter
			require.NoError(t, f.Truncate(whole.Size()-1))
		} else {
			_, err = f.WriteAt([]byte(more), whole.Size())
			require.NoError(t, err)
		}
		require.NoError(t, f.Close())
		s, _, err = openPut(env, map[string]any{"path": "out.csv"})
		require.NoError(t, err)
		err = s.(exec.Saver).Load(checkpoint.NewReader(3, j.state))
		if more == "" {
			require.ErrorContains(t, err, "somebody else has changed it")
			require.NoError(t, s.Close())
			continue
		}
		require.NoError(t, err)
		require.NoError(t, s.(exec.Committer).Commit(3, true))
		now, err := env.FS.Stat("out.csv")
		require.NoError(t, err)
		require.Equal(t, whole.Size(), now.Size())
		require.NoError(t, s.Close())
	}
}

// begunFS notes how many bytes of each file the system was told to bring to the disk ahead of a flush.
type begunFS struct {
	exec.FS
	bytes map[string]int64
}

type begunFile struct {
	exec.File
	name string
	fs   *begunFS
}

func (f begunFile) Begin(_, n int64) { f.fs.bytes[f.name] += n }

func (b *begunFS) note(name string, f exec.File, err error) (exec.File, error) {
	if err != nil {
		return nil, err
	}
	return begunFile{f, name, b}, nil
}

func (b *begunFS) Create(name string) (exec.File, error) {
	f, err := b.FS.Create(name)
	return b.note(name, f, err)
}

func (b *begunFS) Edit(name string) (exec.File, error) {
	f, err := b.FS.Edit(name)
	return b.note(name, f, err)
}

// What is written between two checkpoints is on its way to the disk before the second one flushes it, and what was put
// into the output before the next one does.
func TestOutputsBeginEarly(t *testing.T) {
	env := testEnv()
	b := &begunFS{FS: disk.NewSim(), bytes: map[string]int64{}}
	env.FS = b
	j := &outputJob{t: t}
	s, e, err := openPut(env, map[string]any{"path": "out.csv"})
	require.NoError(t, err)
	require.NoError(t, s.(exec.Saver).Save(checkpoint.NewWriter(1, 0)))
	const rows = 3
	for range rows {
		require.NoError(t, putBatch(s, e, outRows([]any{strings.Repeat("x", disk.BeginBytes), int64(1)})))
	}
	w := checkpoint.NewWriter(2, 0)
	require.NoError(t, s.(exec.Saver).Save(w))
	_, _, sealed := w.Output()
	require.Len(t, sealed, 1)
	require.Greater(t, b.bytes[sealed[0].Path], int64((rows-1)*disk.BeginBytes))
	require.Zero(t, b.bytes["out.csv"])
	require.NoError(t, s.(exec.Committer).Commit(2, true))
	require.Greater(t, b.bytes["out.csv"], int64((rows-1)*disk.BeginBytes))
	j.saved(s, 3)
	require.NoError(t, s.Close())
}

// What an earlier run has written goes with the first checkpoint, although there are no rows to take its place; it has gone
// for good, and with it nothing that is not of such a run.
func TestPartitionsOfAnEarlierRun(t *testing.T) {
	for seed := range uint64(20) {
		j := newOutputJob(t, outputCases()["parts"], seed)
		j.batch, j.save = []*vec.Batch{outRows(), outRows()}, []int{1}
		require.NoError(t, j.run())
		require.Equal(t, "out/old.csv:\nk,n\nold,1", contents(t, j.fs))
		j.fs = j.fs.Crash(j.rnd)
		require.Equal(t, "out/old.csv:\nk,n\nold,1", contents(t, j.fs), "after a loss of power")
	}
}
