package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

// publish publishes a checkpoint of a few blocks and returns its id.
func publish(t *testing.T, s *Store, blocks ...string) ID {
	t.Helper()
	id, err := s.NextID()
	require.NoError(t, err)
	m := &Manifest{ID: id, Parent: s.Head(), Mode: "unaligned", Reason: "interval", Created: int64(id), Durable: int64(id) + 1, Tasks: []Task{{Group: "g", Nodes: []Node{{ID: "n"}}}}}
	for i, b := range blocks {
		r, err := s.Append(uint8(i), []byte(b))
		require.NoError(t, err)
		m.Tasks[0].Nodes[0].Blocks = append(m.Tasks[0].Nodes[0].Blocks, r)
	}
	require.NoError(t, s.Publish(m, nil))
	return id
}

func blocksOf(t *testing.T, s interface {
	Manifest(ID) (*Manifest, error)
	Read(Ref) ([]byte, error)
}, id ID) (out []string) {
	t.Helper()
	m, err := s.Manifest(id)
	require.NoError(t, err)
	m.Refs(func(r Ref) {
		p, err := s.Read(r)
		require.NoError(t, err)
		out = append(out, string(p))
	})
	return out
}

func ids(infos []Info) (out []ID) {
	for _, i := range infos {
		out = append(out, i.ID)
	}
	return out
}

func TestStore(t *testing.T) {
	for name, fs := range map[string]disk.FS{"sim": disk.NewSim(), "os": disk.OS{}} {
		t.Run(name, func(t *testing.T) {
			dir := "ckpt/deep"
			if name == "os" {
				dir = t.TempDir() + "/" + dir
			}
			o := Options{Owner: Owner{PID: 7, Host: "here", What: "a.ebb"}, SegmentBytes: 20000, BufferBytes: 1000, RoomBytes: 8192, Keep: 3}
			s, r, err := Open(fs, dir, o)
			require.NoError(t, err)
			require.Nil(t, r.Newest)
			require.True(t, r.Fresh)
			_, _, err = Open(fs, dir, o)
			require.EqualError(t, err, "checkpoint folder "+dir+" is in use by process 7 (a.ebb) on here; stop that one or use another folder")

			big := string(bytes.Repeat([]byte("big"), 1001))
			ref, err := s.Append(1, []byte("not written yet"))
			require.NoError(t, err)
			p, err := s.Read(ref)
			require.NoError(t, err)
			require.Equal(t, "not written yet", string(p))
			one := publish(t, s, "a", big, "")
			require.NoError(t, s.Commit(one, false))
			require.Equal(t, []string{"a", big, ""}, blocksOf(t, s, one))
			require.NoError(t, s.Name(one, "first"))
			for i := range 12 {
				id := publish(t, s, fmt.Sprint(i), big)
				require.NoError(t, s.Commit(id, false))
				require.NoError(t, s.Tidy())
			}
			require.Equal(t, []ID{1, 11, 12, 13}, ids(s.List()))
			require.NoError(t, s.Close())
			require.ErrorIs(t, s.Commit(1, false), errClosed)

			s, r, err = Open(fs, dir, o)
			require.NoError(t, err)
			require.Empty(t, r.LeftOut)
			require.Equal(t, ID(13), r.Newest.ID)
			require.True(t, r.Info.Committed)
			require.Equal(t, []string{"11", big}, blocksOf(t, s, 13))
			require.Equal(t, []string{"a", big, ""}, blocksOf(t, s, 1))
			require.Equal(t, ID(14), publish(t, s, "x"))

			f, err := OpenReader(fs, dir)
			require.NoError(t, err)
			require.Equal(t, s.List(), f.List())
			require.Empty(t, f.Damage())
			require.Equal(t, []string{"a", big, ""}, blocksOf(t, f, 1))
			d := f.Verify(nil)
			require.Empty(t, d)
			w, ok := f.Owner()
			require.True(t, ok)
			require.Equal(t, o.Owner, w)
			require.NoError(t, f.Close())
			require.NoError(t, s.Close())
		})
	}
}

// TestOneFlush: a checkpoint is one write and one flush, beside the flushes of the outputs, and ends on a page of its own.
func TestOneFlush(t *testing.T) {
	fs := disk.NewSim()
	var ops []string
	fs.Before = func(op, _ string) error {
		ops = append(ops, op)
		return nil
	}
	var together []int
	s, _, err := Open(fs, "c", Options{RoomBytes: -1, Together: func(fs []func()) {
		together = append(together, len(fs))
		for _, f := range fs {
			f()
		}
	}})
	require.NoError(t, err)
	require.NoError(t, s.Commit(publish(t, s, "a"), false))
	require.True(t, s.List()[0].Committed)
	id, err := s.NextID()
	require.NoError(t, err)
	r, err := s.Append(1, bytes.Repeat([]byte("x"), 10_000))
	require.NoError(t, err)
	ops, together = nil, nil
	flush := func() error {
		ops = append(ops, "flush of an output")
		return nil
	}
	require.NoError(t, s.Publish(&Manifest{ID: id, Script: r}, []func() error{flush, flush}))
	require.Equal(t, []int{3}, together)
	require.Equal(t, []string{"write", "sync", "flush of an output", "flush of an output", "write"}, ops, "the last is what proves to the next run that it was published")
	r, err = s.Append(1, nil)
	require.NoError(t, err)
	require.EqualValues(t, headerBytes, r.Offset%page, "behind the record of that, which begins a page")
	require.NoError(t, s.Close())
}

// TestPublishErrors calls Publish in ways that it refuses; the store goes on.
func TestPublishErrors(t *testing.T) {
	s, _, err := Open(disk.NewSim(), "c", Options{})
	require.NoError(t, err)
	one := publish(t, s, "a")
	require.ErrorContains(t, s.Publish(&Manifest{ID: one}, nil), "not one of NextID above that of the last one, 1")
	require.ErrorContains(t, s.Publish(&Manifest{ID: 99}, nil), "not one of NextID")
	id, err := s.NextID()
	require.NoError(t, err)
	require.ErrorContains(t, s.Publish(&Manifest{ID: id, Name: "7"}, nil), "would be taken for an id")
	require.ErrorContains(t, s.Publish(&Manifest{ID: id, Script: Ref{Segment: 5, Offset: 1}}, nil), "a block that the store does not have")
	require.NoError(t, s.Publish(&Manifest{ID: id}, nil))
	id, err = s.NextID()
	require.NoError(t, err)
	fails := func() error { return errors.New("the output cannot be flushed") }
	err = s.Publish(&Manifest{ID: id}, []func() error{func() error { return nil }, fails})
	require.EqualError(t, err, "flushing the outputs of checkpoint 3: the output cannot be flushed")
	_, again := s.NextID()
	require.Equal(t, err, again)
	_, again = s.Append(1, nil)
	require.Equal(t, err, again)
	require.Equal(t, err, s.Close())
	require.NoError(t, s.Close())
}

// TestTogether uses a store from several goroutines.
func TestTogether(t *testing.T) {
	s, _, err := Open(disk.NewSim(), "c", Options{SegmentBytes: 10000, BufferBytes: 1000, Keep: 2})
	require.NoError(t, err)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	loop := func(f func()) {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		})
	}
	loop(func() {
		r, err := s.Append(1, bytes.Repeat([]byte("x"), 700))
		if err == nil {
			_, err = s.Read(r)
		}
		if err != nil {
			var d *DamageError // it may have gone since
			if !errors.As(err, &d) {
				t.Error(err)
			}
		}
	})
	loop(func() {
		if _, err := s.Append(1, make([]byte, 2000)); err != nil {
			t.Error(err)
		}
	})
	loop(func() {
		for _, i := range s.List() {
			s.Manifest(i.ID)
		}
		s.Asides()
	})
	for i := range 100 {
		id := publish(t, s, "a")
		require.NoError(t, s.Commit(id, false))
		require.NoError(t, s.Tidy())
		if i%10 == 5 {
			require.NoError(t, s.Name(id, fmt.Sprint("n", i)))
		}
	}
	close(stop)
	wg.Wait()
	require.NoError(t, s.Close())
}

// TestParents asks for the parents of checkpoints after rollbacks, a restart, a deletion and a fresh start: what is listed hangs
// together although a manifest knows only of its own run.
func TestParents(t *testing.T) {
	fs, o := disk.NewSim(), Options{Owner: Owner{PID: 7, Host: "here"}, Keep: 20}
	s, _, err := Open(fs, "c", o)
	require.NoError(t, err)
	put := func() ID { return publish(t, s, "x") }
	one, two := put(), put()
	require.NoError(t, s.Rollback(one))
	three, four := put(), put()
	require.NoError(t, s.Close())
	s, _, err = Open(fs, "c", o)
	require.NoError(t, err)
	five := put()
	require.NoError(t, s.Rollback(four))
	six := put()
	parents := func() map[ID]ID {
		out := map[ID]ID{}
		for _, i := range s.List() {
			out[i.ID] = i.Parent
		}
		return out
	}
	require.Equal(t, map[ID]ID{one: 0, two: one, three: one, four: three, five: four, six: four}, parents())
	require.NoError(t, s.Delete(four))
	require.NoError(t, s.Delete(three))
	require.NoError(t, s.Fresh())
	seven := put()
	require.Equal(t, map[ID]ID{one: 0, two: one, five: one, six: one, seven: 0}, parents())
	require.NoError(t, s.Close())
}

// TestFullDisk opens a folder on a full disk again and again: each time it is refused, and nothing is left behind; once there
// is room it goes on.
func TestFullDisk(t *testing.T) {
	fs, o := disk.NewSim(), Options{Owner: Owner{PID: 7, Host: "here"}, RoomBytes: 1 << 20, Keep: 3}
	s, _, err := Open(fs, "c", o)
	require.NoError(t, err)
	one := publish(t, s, "x")
	require.NoError(t, s.Close())
	before, err := fs.Glob("c/*.seg")
	require.NoError(t, err)
	require.NotEmpty(t, before)
	for range 3 {
		fs.Before = func(op, name string) error {
			if op == "write" && name == "c/0002-000.seg" {
				return &disk.Partial{N: 3, Err: syscall.ENOSPC}
			}
			return nil
		}
		_, _, err = Open(fs, "c", o)
		require.ErrorIs(t, err, syscall.ENOSPC)
		fs.Before = nil
		after, err := fs.Glob("c/*.seg")
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
	s, r, err := Open(fs, "c", o)
	require.NoError(t, err)
	require.Equal(t, one, r.Newest.ID)
	require.NoError(t, s.Close())
}

// TestRoom publishes checkpoints of one size after the other: but for the first, and for large ones, a flush finds a file that
// need not grow.
func TestRoom(t *testing.T) {
	const room = 8 << 10
	for size, grows := range map[int]bool{10: false, room / 2: false, mostRoomed*room - 2*page: false, mostRoomed*room + 1: true} {
		fs := disk.NewSim()
		s, _, err := Open(fs, "c", Options{RoomBytes: room})
		require.NoError(t, err)
		length := func() int64 {
			info, err := fs.Stat(s.seg.path)
			require.NoError(t, err)
			return info.Size()
		}
		for n := range 20 {
			before := length()
			id := publish(t, s, strings.Repeat("x", size))
			if n > 0 {
				require.Equal(t, grows, length() > before, "checkpoint %d of %d bytes", n, size)
			}
			require.NoError(t, s.Commit(id, false))
			require.NoError(t, s.Tidy())
		}
		require.NoError(t, s.Close())
	}
}

// TestMemoryOfBlocks publishes checkpoints of one size: the memory that they wait in is that of the ones before.
func TestMemoryOfBlocks(t *testing.T) {
	s, _, err := Open(disk.OS{}, filepath.Join(t.TempDir(), "c"), Options{})
	require.NoError(t, err)
	data := make([]byte, 1<<20)
	one := func() {
		id, err := s.NextID()
		require.NoError(t, err)
		r, err := s.Append(1, data)
		require.NoError(t, err)
		require.NoError(t, s.Publish(&Manifest{ID: id, Tasks: []Task{{Nodes: []Node{{ID: "n", Blocks: []Ref{r}}}}}}, nil))
		require.NoError(t, s.Commit(id, false))
		require.NoError(t, s.Tidy())
	}
	one()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 20
	for range n {
		one()
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n*len(data)/4))
	require.NoError(t, s.Close())
}

// TestUnfork takes a fork back, and the power goes before one of the operations: the fork is there as a whole then, or not at
// all.
func TestUnfork(t *testing.T) {
	for at, done := 1, false; !done; at++ {
		for seed := range uint64(20) {
			fs := disk.NewSim()
			s, _, err := Open(fs, "c", Options{RoomBytes: -1})
			require.NoError(t, err)
			id := publish(t, s, "some", "more")
			require.NoError(t, s.Close())
			require.NoError(t, Fork(fs, "c", id, "d/fork", Options{RoomBytes: -1}))
			n := 0
			fs.Before = func(string, string) error {
				if n++; n >= at {
					return errors.New("the power is gone")
				}
				return nil
			}
			done = Unfork(fs, "d/fork") == nil
			found := fs.Crash(rand.New(rand.NewPCG(seed, uint64(at))))
			if _, err := found.Stat("d/fork"); err != nil {
				continue
			}
			require.False(t, done)
			f, err := OpenReader(found, "d/fork")
			require.NoError(t, err)
			require.Empty(t, f.Verify(nil), "broken off before operation %d", at)
			require.NoError(t, f.Close())
		}
	}
}
