package checkpoint

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
)

var (
	crashSeeds  = flag.Int("seeds", 6, "seeds of the crash test")
	crashStride = flag.Int("stride", 7, "of so many crash points one is taken; 1: all")
)

var errCrash = errors.New("crash")

// model is the store as simple as can be: what must be there after the calls so far.
type model struct {
	cks    []modelCheckpoint // by id
	head   ID
	branch int
	run    int
	runs   map[int]int // of a branch
}

type modelCheckpoint struct {
	id     ID
	branch int
	name   string
}

func (m model) clone() model {
	m.cks = slices.Clone(m.cks)
	runs := map[int]int{}
	for k, v := range m.runs {
		runs[k] = v
	}
	m.runs = runs
	return m
}

func (m *model) publish(id ID, name string, keep int) {
	m.cks = append(m.cks, modelCheckpoint{id, m.branch, name})
	m.head = id
	kept := map[int]int{}
	for i := len(m.cks) - 1; i >= 0; i-- {
		c := m.cks[i]
		group := c.branch
		if m.runs[c.branch] != m.run {
			group = -1
		}
		if kept[group]++; kept[group] > keep && c.name == "" && c.id != m.head {
			m.cks = slices.Delete(m.cks, i, i+1)
		}
	}
}

func (m *model) remove(id ID) {
	m.cks = slices.DeleteFunc(m.cks, func(c modelCheckpoint) bool { return c.id == id })
}

func (m *model) find(id ID) *modelCheckpoint {
	i := slices.IndexFunc(m.cks, func(c modelCheckpoint) bool { return c.id == id })
	return &m.cks[i]
}

func (m model) String() string {
	var b strings.Builder
	for _, c := range m.cks {
		fmt.Fprintf(&b, "%d%s ", c.id, c.name)
	}
	fmt.Fprintf(&b, "head %d", m.head)
	return b.String()
}

// voyage is a store, what is known of it, and the disk under it.
type voyage struct {
	t     *testing.T
	rng   *rand.Rand
	fs    *disk.Sim
	s     *Store
	o     Options
	was   model // after the last call that returned
	may   model // if the one that did not return was done
	given ID    // the largest id that NextID returned
	names int
	// what was published, by id
	blocks  map[ID][]string
	shared  []Ref // of the last checkpoint, named again by the next ones
	content []string
	early   []Ref // appended, to be named by the next one
	earlier []string
	log     []string
}

func (w *voyage) bytes(most int) []byte {
	p := make([]byte, w.rng.IntN(most))
	for i := range p {
		p[i] = byte(w.rng.Uint32())
	}
	return p
}

func (w *voyage) check(err error) bool {
	if err != nil && !errors.Is(err, errCrash) {
		w.t.Fatalf("%v\n%s", err, strings.Join(w.log, "\n"))
	}
	return err == nil
}

func output(id ID) string { return fmt.Sprintf("output of %d", id) }

// open opens the store on what a crash has left, and checks it.
func (w *voyage) open() bool {
	w.o.CheckOutput, w.o.KeepOutput = CheckOutput(w.fs, ""), KeepOutput(w.fs, "")
	s, r, err := Open(w.fs, "ckpt", w.o)
	if !w.check(err) {
		return false
	}
	w.s = s
	got := model{head: s.Head()}
	for _, i := range s.List() {
		got.cks = append(got.cks, modelCheckpoint{id: i.ID, name: i.Name})
	}
	switch got.String() {
	case w.was.String():
	case w.may.String():
		w.was = w.may
	default:
		w.t.Fatalf("found %s\nwant  %s\nor    %s\n%+v\n%s\n%s", got, w.was, w.may, r, w.fs, strings.Join(w.log, "\n"))
	}
	w.may = w.was.clone()
	if (r.Newest == nil) != (got.head == 0) || r.Newest != nil && r.Newest.ID != got.head {
		w.t.Fatal("not the head", r.Newest)
	}
	for _, i := range s.List() {
		require.Equal(w.t, w.blocks[i.ID], blocksOf(w.t, s, i.ID), strings.Join(w.log, "\n"))
		f, err := w.fs.Open(fmt.Sprintf("out/%d", i.ID))
		require.NoError(w.t, err)
		p, err := io.ReadAll(f)
		require.NoError(w.t, err)
		require.Equal(w.t, output(i.ID), string(p))
	}
	w.shared, w.content, w.early, w.earlier = nil, nil, nil, nil
	if r.Newest != nil {
		r.Newest.Refs(func(r Ref) { w.shared = append(w.shared, r) })
		w.content = slices.Clone(w.blocks[r.Newest.ID])
	}
	return true
}

// do does something at random; false after a crash.
func (w *voyage) do() bool {
	w.may = w.was.clone()
	m := &w.may
	switch k := w.rng.IntN(20); {
	case k < 10:
		return w.publish()
	case k < 12:
		for range w.rng.IntN(10) { // of some that are aborted
			id, err := w.s.NextID()
			w.log = append(w.log, fmt.Sprint("next ", id, err))
			if !w.check(err) {
				return false
			}
			require.Greater(w.t, id, w.given)
			w.given = id
		}
		p := w.bytes(3000)
		r, err := w.s.Append(1, p)
		if !w.check(err) {
			return false
		}
		if w.rng.IntN(2) == 0 { // of the next one, begun already
			w.early, w.earlier = append(w.early, r), append(w.earlier, string(p))
		}
	case k < 14 && len(m.cks) > 0:
		id := m.cks[w.rng.IntN(len(m.cks))].id
		name := ""
		if w.rng.IntN(3) > 0 {
			w.names++
			name = fmt.Sprintf("n%d", w.names)
		}
		m.find(id).name = name
		err := w.s.Name(id, name)
		w.log = append(w.log, fmt.Sprint("name ", id, name, err))
		if !w.check(err) {
			return false
		}
	case k < 15 && len(m.cks) > 0:
		id := m.cks[w.rng.IntN(len(m.cks))].id
		if id == m.head {
			require.Error(w.t, w.s.Delete(id))
			return true
		}
		m.remove(id)
		err := w.s.Delete(id)
		w.log = append(w.log, fmt.Sprint("delete ", id, err))
		if !w.check(err) {
			return false
		}
	case k < 17 && len(m.cks) > 0:
		id := m.cks[w.rng.IntN(len(m.cks))].id
		if id == m.head {
			return true
		}
		m.branch++
		m.run = max(m.runs[m.find(id).branch], m.run)
		m.runs[m.branch] = m.run
		m.head = id
		err := w.s.Rollback(id)
		w.log = append(w.log, fmt.Sprint("rollback ", id, err))
		if !w.check(err) {
			return false
		}
		w.shared, w.content = nil, nil
	case k < 18 && m.head != 0:
		m.branch++
		m.run++
		m.runs[m.branch] = m.run
		m.head = 0
		err := w.s.Fresh()
		w.log = append(w.log, fmt.Sprint("fresh", err))
		if !w.check(err) {
			return false
		}
		w.shared, w.content = nil, nil
	case k < 19:
		err := w.s.Close()
		w.log = append(w.log, fmt.Sprint("close and open ", err))
		if !w.check(err) || !w.open() {
			return false
		}
	}
	w.was = w.may.clone()
	err := w.s.Tidy()
	w.log = append(w.log, fmt.Sprint("tidy ", err))
	return w.check(err)
}

func (w *voyage) publish() bool {
	id, err := w.s.NextID()
	if !w.check(err) {
		return false
	}
	require.Greater(w.t, id, w.given)
	w.given = id
	refs, content := w.early, w.earlier
	w.early, w.earlier = nil, nil
	if n := len(w.shared); n > 0 && w.rng.IntN(3) > 0 { // a delta
		k := w.rng.IntN(n) + 1
		refs, content = append(refs, w.shared[:k]...), append(content, w.content[:k]...)
	}
	for i := range w.rng.IntN(4) {
		p := fmt.Appendf(nil, "%d-%d ", id, i)
		if w.rng.IntN(2) == 0 {
			p = append(p, w.bytes(3000)...)
		}
		r, err := w.s.Append(uint8(i), p)
		if !w.check(err) {
			return false
		}
		refs, content = append(refs, r), append(content, string(p))
	}
	w.blocks[id] = content
	path := fmt.Sprintf("out/%d", id)
	text := output(id)
	m := &Manifest{ID: id, Parent: w.was.head, Tasks: []Task{{Nodes: []Node{{Blocks: refs}}}}, Outputs: []Sealed{{Path: path, Length: int64(len(text)), Sum: xxh3.HashString(text)}}}
	if w.rng.IntN(6) == 0 {
		w.names++
		m.Name = fmt.Sprintf("p%d", w.names)
	}
	f, err := w.fs.Create(path)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if !w.check(err) {
		return false
	}
	w.may.publish(id, m.Name, w.o.Keep)
	err = w.s.Publish(m, []func() error{f.Sync, func() error { return w.fs.SyncDir("out") }})
	w.log = append(w.log, fmt.Sprint("publish ", id, len(content), err))
	if !w.check(err) {
		return false
	}
	w.shared, w.content = refs, content
	w.was = w.may.clone()
	if w.rng.IntN(4) > 0 {
		err := w.s.Commit(id, w.rng.IntN(4) == 0)
		w.log = append(w.log, fmt.Sprint("commit ", id, err))
		if !w.check(err) {
			return false
		}
	}
	if w.rng.IntN(4) > 0 {
		err := w.s.Tidy()
		w.log = append(w.log, fmt.Sprint("tidy ", err))
		return w.check(err)
	}
	return true
}

// limit makes the file system fail at its k-th change, once or for good; k < 0: never. It returns the changes.
func limit(sim *disk.Sim, k int, once bool, rng *rand.Rand) *[]string {
	var ops []string
	sim.Before = func(op, name string) error {
		ops = append(ops, op)
		n := len(ops)
		switch {
		case n-1 == k && op == "write" && rng.IntN(2) == 0:
			return &disk.Partial{N: rng.IntN(5000), Err: errCrash}
		case k >= 0 && n > k && (!once || n-1 == k):
			return errCrash
		}
		return nil
	}
	return &ops
}

// run does steps from the beginning until change k fails.
func run(t *testing.T, seed uint64, k, steps int, once bool) (w *voyage, changes []string) {
	w = &voyage{t: t, rng: rand.New(rand.NewPCG(seed, 0)), fs: disk.NewSim(), blocks: map[ID][]string{}, log: []string{fmt.Sprintf("seed %d crash at %d", seed, k)}}
	w.was = model{runs: map[int]int{}}
	w.may = w.was.clone()
	w.o = Options{Keep: 1 + w.rng.IntN(4), SegmentBytes: int64([]int{6000, 20000, 1 << 20}[w.rng.IntN(3)]), BufferBytes: []int{500, 2000, 1 << 20}[w.rng.IntN(3)], RoomBytes: []int64{-1, 1000, 20000}[w.rng.IntN(3)],
		Together: func(fs []func()) {
			for _, i := range w.rng.Perm(len(fs)) {
				fs[i]()
			}
		}}
	require.NoError(t, w.fs.MkdirAll("out"))
	require.NoError(t, w.fs.SyncDir(""))
	n := limit(w.fs, k, once, rand.New(rand.NewPCG(seed, uint64(k))))
	if !w.open() {
		return w, *n
	}
	for range steps {
		if !w.do() {
			return w, *n
		}
	}
	if k < 0 {
		require.NoError(t, w.s.Close())
	}
	return w, *n
}

// TestCrash runs random sequences of calls, and again with a crash at each change of the disk, loses what was not flushed
// in several ways, crashes in the recovery, too, and goes on: everything that was published is there, byte for byte.
func TestCrash(t *testing.T) {
	seeds := *crashSeeds
	if testing.Short() {
		seeds = 1
	}
	total := 0
	for seed := range uint64(seeds) {
		const steps = 12
		_, changes := run(t, seed, -1, steps, false)
		total += len(changes)
		for k, op := range changes {
			for loss := range 5 { // killed; the machine fails; one call fails, then as before
				stride := *crashStride
				if op == "sync" && loss < 3 {
					stride = (stride + 2) / 3 // more is at stake
				}
				if (k+3*loss+int(seed))%stride != 0 {
					continue
				}
				w, _ := run(t, seed, k, steps, loss > 2)
				rng := rand.New(rand.NewPCG(seed, uint64(k*5+loss)))
				w.rng = rng
				crash := func() {
					if loss == 0 || loss == 3 {
						w.log = append(w.log, "killed")
						w.fs = w.fs.Kill()
					} else {
						w.log = append(w.log, "crash")
						w.fs = w.fs.Crash(rng)
					}
				}
				crash()
				for rng.IntN(2) == 0 { // in the recovery
					limit(w.fs, rng.IntN(12), rng.IntN(3) == 0, rng)
					if w.open() {
						break
					}
					crash()
				}
				w.fs.Before = nil
				if w.s != nil {
					w.s.Close() // of the one that crashed: gives only its files back
				}
				w.fs = w.fs.Kill()
				if !w.open() {
					t.Fatal("not opened")
				}
				for range 2 { // what was found is durable
					s, sim := w.s, w.fs
					w.fs = w.fs.Crash(rng)
					if !w.open() {
						t.Fatal("not opened")
					}
					require.NoError(t, w.s.Close())
					w.s, w.fs = s, sim
				}
				for range 3 {
					w.do()
				}
				require.NoError(t, w.s.Close())
				if !w.open() {
					t.Fatal("not opened")
				}
				require.NoError(t, w.s.Close())
				f, err := OpenReader(w.fs, "ckpt")
				require.NoError(t, err)
				d := f.Verify(nil)
				require.Empty(t, d, strings.Join(w.log, "\n"))
				f.Close()
			}
		}
	}
	t.Logf("%d crash points", total)
}
