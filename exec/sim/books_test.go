package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
)

// books are an account of a run that knows nothing of how channels cut: everything that went into each line and how much
// of it was taken. With it every checkpoint is examined once it is published: what it holds of a line must be what had
// been pushed before the producer's step and not taken before the consumer's (invariants I1 to I4).
type books struct {
	lines map[exec.Line]*account
	cuts  map[checkpoint.ID]map[exec.Line]*cutAt
	wrong error // the first
	// commits is called before outputs are committed.
	commits func(id checkpoint.ID) error
	// restoring says that what the run goes on from has not been committed yet.
	restoring bool
	stepped   func(id checkpoint.ID)
	// stood is what the tasks knew of event time at each checkpoint; it outlives the run.
	stood map[checkpoint.ID]map[string]string
	width int                         // of the run
	ours  map[checkpoint.ID]bool      // begun by it
	late  map[checkpoint.ID]*lateness // of the open ones
	// paused: nobody may push or take.
	paused bool
	// drained: the input was ended early, and goes no further in what comes from a checkpoint of now.
	drained bool
	still   int // checkpoints published since something was pushed or taken
}

// lateness is what decides whether an aligned checkpoint has waited for its marks for too long.
type lateness struct {
	since         int64 // when the first task stepped
	tasks, rounds int   // that have stepped; rounds since the timeout
}

// token is a row or a signal.
type token struct {
	kind exec.ItemKind
	w, n int64
	row  uint64
}

type account struct {
	pushed []token
	taken  int
	closed bool
}

// cutAt is where a checkpoint cuts a line.
type cutAt struct {
	from, to           int
	closed             bool
	consumer, producer bool // have stepped
}

func newBooks() *books {
	b := &books{}
	b.begin()
	return b
}

// begin is for another run.
func (b *books) begin() {
	b.lines, b.cuts = map[exec.Line]*account{}, map[checkpoint.ID]map[exec.Line]*cutAt{}
	b.late, b.ours = map[checkpoint.ID]*lateness{}, map[checkpoint.ID]bool{}
	b.paused = false
}

func (b *books) fail(format string, args ...any) {
	if b.wrong == nil {
		b.wrong = fmt.Errorf(format, args...)
	}
}

func (b *books) of(l *exec.Line) *account {
	a := b.lines[*l]
	if a == nil {
		a = &account{}
		b.lines[*l] = a
	}
	return a
}

// tokens are the rows and signals of an item, with all that a row carries.
func tokens(to []token, it exec.Item) []token {
	if it.Kind != exec.Rows {
		t := token{kind: it.Kind, w: it.W}
		if it.Kind != exec.Watermark { // its number means nothing
			t.n = it.N
		}
		return append(to, t)
	}
	rows := it.Batch
	hashes := make([]uint64, rows.Rows())
	vec.Hash(rows, rows.Cols, hashes)
	for i, h := range hashes {
		r := rows.Row(i)
		for _, hidden := range [][]int64{rows.Time, rows.Mark} {
			if hidden != nil {
				h = (h ^ uint64(hidden[r])) * 0x9e3779b97f4a7c15
			}
		}
		if rows.Pos != nil {
			h = (h ^ rows.Pos[r]) * 0x9e3779b97f4a7c15
		}
		to = append(to, token{kind: exec.Rows, n: it.N, row: h})
	}
	return to
}

// Pushed notes an item.
func (b *books) Pushed(l *exec.Line, it exec.Item) {
	if b.paused {
		b.fail("%v: something is pushed while the run is paused", *l)
	}
	b.still = 0
	a := b.of(l)
	a.pushed = tokens(a.pushed, it)
}

// Took checks that items come out in the order in which they went in. A watermark may have been replaced by a later one.
func (b *books) Took(l *exec.Line, it exec.Item) {
	if b.paused {
		b.fail("%v: something is taken while the run is paused", *l)
	}
	b.still = 0
	a := b.of(l)
	for _, t := range tokens(nil, it) {
		for t.kind == exec.Watermark && a.taken+1 < len(a.pushed) && a.pushed[a.taken] != t && a.pushed[a.taken].kind == exec.Watermark {
			a.taken++
		}
		if a.taken >= len(a.pushed) || a.pushed[a.taken] != t {
			b.fail("I3: %v: item %d that was taken, %+v, is not the one that was pushed: %+v", *l, a.taken, t, a.pushed[min(a.taken, len(a.pushed)):min(a.taken+3, len(a.pushed))])
			return
		}
		a.taken++
	}
}

// Closed notes that all that waits is dropped.
func (b *books) Closed(l *exec.Line) { b.of(l).closed = true }

// Stepped notes a cut.
func (b *books) Stepped(id checkpoint.ID, in, out []*exec.Line) {
	if b.stepped != nil {
		b.stepped(id)
	}
	cuts := b.cuts[id]
	if cuts == nil {
		cuts = map[exec.Line]*cutAt{}
		b.cuts[id] = cuts
	}
	at := func(l *exec.Line) *cutAt {
		if cuts[*l] == nil {
			cuts[*l] = &cutAt{}
		}
		return cuts[*l]
	}
	for _, l := range in {
		a := b.of(l)
		c := at(l)
		if c.consumer {
			b.fail("I8: checkpoint %d: %v was cut twice", id, *l)
		}
		c.consumer, c.from, c.closed = true, a.taken, a.closed
	}
	for _, l := range out {
		c := at(l)
		c.producer, c.to = true, len(b.of(l).pushed)
	}
}

// Stood compares what a task knows of event time after a restore with what it knew at the cut. At another width, or where
// other operators make up the task (a run that keeps the tasks of a wide plan may roll back to a checkpoint of a fused
// one), nothing is compared but the outputs.
func (b *books) Stood(id checkpoint.ID, restored bool, task string, at string) {
	task = fmt.Sprintf("%s at parallelism %d", task, b.width)
	if !restored {
		if !b.ours[id] { // a run before may have begun one of this id that it never published
			b.ours[id] = true
			b.stood[id] = map[string]string{}
		}
		b.stood[id][task] = at
		return
	}
	if was, ok := b.stood[id][task]; ok && was != at && slices.Equal(namesIn(was), namesIn(at)) {
		b.fail("I10: checkpoint %d: %s knew of event time: %s; after the restore it knows: %s", id, task, was, at)
	}
}

// namesIn returns what stands before the times in an account of a task.
func namesIn(at string) (names []string) {
	for _, part := range strings.Split(at, "; ") {
		name, _, _ := strings.Cut(part, " ")
		names = append(names, name)
	}
	return names
}

// patient is how many times, per task, every actor may be stepped until all tasks have taken a snapshot that is aligned no longer.
const patient = 5

// round is told that every actor has been stepped. Of the checkpoints that are open for longer than align, each task must
// have taken its snapshot.
func (b *books) round(now, align int64, tasks int) {
	for id, l := range b.late {
		if now < l.since+align || l.tasks >= tasks {
			continue
		}
		if l.rounds++; l.rounds > patient*(1+tasks) {
			b.fail("I4: checkpoint %d: %d rounds after the alignment timeout %d of %d tasks have taken their snapshot", id, l.rounds, l.tasks, tasks)
		}
	}
}

// Commits is told of commits.
func (b *books) Commits(id checkpoint.ID) {
	if err := b.commits(id); err != nil {
		b.fail("I7: %w", err)
	}
}

// merged leaves out watermarks that a later one directly behind them replaces.
func merged(ts []token) []token {
	var out []token
	for _, t := range ts {
		if n := len(out); n > 0 && t.kind == exec.Watermark && out[n-1].kind == exec.Watermark {
			out[n-1] = t
			continue
		}
		out = append(out, t)
	}
	return out
}

// examine compares a published checkpoint with the books.
func (b *books) examine(m *checkpoint.Manifest, read func(checkpoint.Ref) ([]byte, error)) error {
	held := map[exec.Line][]token{}
	for _, c := range m.Channels {
		ts, err := inFlight(&c, read)
		if err != nil {
			return fmt.Errorf("I6: %w", err)
		}
		l := exec.Line{Edge: c.Edge, From: c.From, To: c.To, FromWidth: c.FromWidth, Nth: c.Nth}
		if _, ok := b.cuts[m.ID][l]; !ok {
			l.Source = true
		}
		held[l] = ts
	}
	for l, c := range b.cuts[m.ID] {
		if !c.consumer || !c.producer {
			return fmt.Errorf("I8: checkpoint %d is published, but %v is cut on one side only", m.ID, l)
		}
		var want []token
		if a := b.lines[l]; a != nil && !c.closed && c.from <= c.to {
			want = merged(a.pushed[c.from:c.to])
		}
		if c.from > c.to && !c.closed {
			return fmt.Errorf("I1: checkpoint %d: the consumer of %v had taken %d, the producer had pushed %d", m.ID, l, c.from, c.to)
		}
		if got := merged(held[l]); !slices.Equal(want, got) {
			return fmt.Errorf("I1: checkpoint %d holds %d rows and signals of %v, not the %d that were pushed before the one step and not taken before the other", m.ID, len(got), l, len(want))
		}
		delete(held, l)
	}
	for l, ts := range held {
		if a := b.lines[l]; len(ts) > 0 && (a != nil || !l.Source) {
			return fmt.Errorf("I1: checkpoint %d holds %d rows and signals of %v, which it does not cut", m.ID, len(ts), l)
		}
	}
	delete(b.cuts, m.ID)
	return nil
}

func inFlight(c *checkpoint.Channel, read func(checkpoint.Ref) ([]byte, error)) (ts []token, err error) {
	for _, ref := range c.Blocks {
		p, err := read(ref)
		if err != nil {
			return nil, err
		}
		its, _, err := exec.DecodeItems(p)
		if err != nil {
			return nil, err
		}
		for _, it := range its {
			ts = tokens(ts, it)
		}
	}
	return ts, nil
}

// durable opens a checkpoint on what a loss of power would leave: it must be there with every byte (I6), its outputs, too, if outputs is set.
func durable(fs *disk.Sim, rng *rand.Rand, dir string, id checkpoint.ID, outputs bool, use func(*checkpoint.Manifest, func(checkpoint.Ref) ([]byte, error)) error) error {
	left := fs.Crash(rng)
	f, err := checkpoint.OpenReader(left, dir)
	if err != nil {
		return fmt.Errorf("I6: %w", err)
	}
	defer f.Close()
	asked := id
	for _, i := range f.List() { // it may have been dropped since, when younger ones were published; the youngest may not be yet
		if id = i.ID; id >= asked {
			break
		}
	}
	m, err := f.Manifest(id)
	if err != nil {
		return fmt.Errorf("I6: a loss of power would lose checkpoint %d: %w", id, err)
	}
	check := checkpoint.CheckOutput(left, "")
	for _, o := range m.Outputs {
		if !outputs {
			break
		}
		fits, err := check(o)
		if err == nil && !fits {
			err = fmt.Errorf("a loss of power would lose bytes of %s", o.Path)
		}
		if err != nil {
			return fmt.Errorf("I6: checkpoint %d: %w", id, err)
		}
	}
	for _, t := range m.Tasks {
		for _, n := range t.Nodes {
			for _, ref := range n.Blocks {
				if _, err := f.Read(ref); err != nil {
					return fmt.Errorf("I6: checkpoint %d: %w", id, err)
				}
			}
		}
	}
	if id != asked {
		return nil
	}
	return use(m, f.Read)
}
