package exec

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
)

// The kinds of blocks in a store.
const (
	StateBlock  uint8 = 1 // what a source, operator or sink has saved
	FlightBlock uint8 = 2 // items of a channel, see DecodeItems
	ScriptBlock uint8 = 3 // text of the script and of its plan
)

// storage does what touches the disk: it encodes and publishes checkpoints and commits the outputs of sinks, one after
// the other, beside the tasks.
type storage struct {
	actor
	keeper *keeper
	run    *Run
	store  *checkpoint.Store
	begun  atomic.Bool   // a checkpoint was published, by this run or the one it goes on from
	limit  atomic.Uint64 // ids below are granted; store is set then

	mu   sync.Mutex
	jobs []func() error

	room   []byte // for encoded items
	pieces checkpoint.Room

	// recent are the checkpoints that a delta may build on, ascending.
	recent []written
}

// written is a checkpoint with what each operator has saved.
type written struct {
	id     checkpoint.ID
	chains map[nodeKey]checkpoint.Chain
}

// nodeKey names an operator in a task.
type nodeKey struct {
	task int
	node string
}

// mostRoom is how much memory is kept for what is encoded next.
const mostRoom = 4 << 20

// How many deltas follow a base at most, and how many times as large as all bases all of them may be: a chain is read in
// full to go on from it, and what a base costs is shared by its deltas.
const (
	mostDeltas = 64
	mostWeight = 2
)

func (s *storage) post(job func() error) {
	s.mu.Lock()
	s.jobs = append(s.jobs, job)
	s.mu.Unlock()
	s.Wake()
}

// Step does one job.
func (s *storage) Step() (Progress, error) {
	s.mu.Lock()
	var job func() error
	if len(s.jobs) > 0 {
		job, s.jobs = s.jobs[0], s.jobs[1:]
	}
	s.mu.Unlock()
	if job == nil {
		return Waiting, nil
	}
	return Worked, job()
}

// NextTick is never: work wakes it.
func (s *storage) NextTick() types.Instant { return 0 }

// goOn commits the checkpoint that the run goes on from, before anything else touches the disk. Nothing waits for that
// but the next checkpoint: until then what the tasks write is of no checkpoint.
func (s *storage) goOn(from *Restore) {
	s.begun.Store(true)
	s.post(func() error { return s.run.resume(from) })
}

// parent returns the checkpoint that a delta may build on, 0 if all must be written.
func (s *storage) parent(newest checkpoint.ID) checkpoint.ID {
	if !s.keeper.cfg.Deltas {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chains, ok := s.chains(newest)
	if !ok {
		return 0
	}
	var base, deltas int64
	for _, c := range chains {
		if len(c) > mostDeltas {
			return 0
		}
		for i, blocks := range c {
			if i == 0 {
				base += checkpoint.Bytes(blocks)
			} else {
				deltas += checkpoint.Bytes(blocks)
			}
		}
	}
	if deltas > mostWeight*base {
		return 0
	}
	return newest
}

// chains returns what is kept of a recent checkpoint. mu is held.
func (s *storage) chains(id checkpoint.ID) (map[nodeKey]checkpoint.Chain, bool) {
	for _, x := range s.recent {
		if x.id == id {
			return x.chains, true
		}
	}
	return nil, false
}

// grants reports whether an id may be used, which is noted then: whatever becomes of the run, no later one is given it.
func (s *storage) grants(id checkpoint.ID) bool {
	if uint64(id) >= s.limit.Load() {
		return false
	}
	if !fault.On("reuse-aborted") {
		s.store.Use(id)
	}
	return true
}

// grant makes an id durable as one that was given, and some more.
func (s *storage) grant(id checkpoint.ID) (err error) {
	if s.store == nil {
		s.store, err = s.keeper.cfg.Open()
	}
	if err == nil {
		err = s.granted(id)
	}
	if err != nil {
		return &OutputError{fmt.Errorf("begin checkpoint %d: %w", id, err)}
	}
	s.keeper.Wake()
	return nil
}

func (s *storage) granted(id checkpoint.ID) error {
	limit, err := s.store.Grant(id)
	if err == nil {
		s.limit.Store(uint64(limit))
	}
	return err
}

// publish writes a checkpoint and makes it durable.
func (s *storage) publish(t *taking, w checkpoint.Write) error {
	m, flush, err := s.manifest(t, w)
	if err == nil {
		if m.Name != "" && s.store.Nameable(m.Name) != nil { // a name is no reason to end a run
			m.Name = ""
		}
		m.Durable = s.run.env.Now() // but for the flush
		err = s.store.Publish(m, flush)
	}
	if err == nil {
		err = s.granted(w.ID) // and with it the next ones
	}
	k := s.keeper
	if err != nil {
		k.post(func() []checkpoint.Action { return k.coord.PublishFailed(k.now(), w.ID, err) })
		return nil
	}
	s.begun.Store(true)
	s.run.env.Stats.Checkpointed.Store(s.run.env.Now())
	s.run.env.Stats.Checkpoint.Store(int64(w.ID))
	now := s.run.env.Now()
	m.Phases["flush"], m.Durable = now-m.Durable, now // for Taken: what is stored cannot know them
	if k.cfg.Taken != nil {
		k.cfg.Taken(m)
	}
	k.post(func() []checkpoint.Action { return k.coord.Published(k.now(), w.ID) })
	return nil
}

// manifest appends the blocks of a checkpoint and describes it.
func (s *storage) manifest(t *taking, w checkpoint.Write) (*checkpoint.Manifest, []func() error, error) {
	if fault.On("reuse-aborted") {
		s.store.Use(w.ID)
	}
	m := &checkpoint.Manifest{ID: w.ID, Parent: w.Parent, Name: w.Name, Created: w.Triggered, Mode: w.Mode.String(), Reason: w.Reason, Finished: true,
		Stats: t.stats}
	encode := s.run.env.Now()
	var flush []func() error
	chains := map[nodeKey]checkpoint.Chain{}
	pause, align, done := int64(0), int64(0), int64(0)
	m.Stats["rows_in"] = s.run.env.Stats.InBefore.Load()
	for i, x := range t.snaps {
		m.Stats["rows_in"] += x.read // what its state knows of: other totals are those of the trigger
		pause, align = max(pause, x.pause), max(align, x.align)
		if x.done > done {
			done = x.done
			m.Slowest = fmt.Sprintf("%s[%d]", x.task.group, x.task.index)
		}
		mt := checkpoint.Task{Group: x.task.group, Index: x.task.index, Width: x.task.width, Ended: x.data.ended}
		m.Finished = m.Finished && x.data.over
		dw := checkpoint.NewWriter(w.ID, 0)
		x.data.save(dw)
		mt.Data, _, _ = dw.Output()
		for _, n := range x.nodes {
			data, fl, sealed := n.w.Pieces()
			if !fault.On("outputs-not-flushed") {
				flush = append(flush, fl...)
			}
			m.Outputs = append(m.Outputs, sealed...)
			size := int64(n.w.Len())
			if size == 0 && !n.keep || i > 0 && t.snaps[i-1].task.group == x.task.group && fault.On("first-task-only") {
				continue
			}
			blocks, err := n.ahead.rest(s.store, data)
			if err != nil {
				return nil, nil, err
			}
			n.w.Free()
			m.StateBytes += size
			key := nodeKey{i, n.id}
			chain := checkpoint.Chain{blocks}
			if n.w.IsDelta() {
				base := s.base(n.w.Parent, key)
				if len(base) == 0 {
					return nil, nil, fmt.Errorf("%s: a delta without a base", n.id)
				}
				chain = append(base, blocks)
				m.Require(checkpoint.WordDeltas)
			}
			chains[key] = chain
			node := checkpoint.Node{ID: n.id, Kind: n.kind, Fit: n.fit, Bytes: size}
			if node.SetChain(chain); node.Parts != nil {
				m.Require(checkpoint.SeveralBlocks)
			}
			mt.Nodes = append(mt.Nodes, node)
		}
		m.Tasks = append(m.Tasks, mt)
		for k := range x.flights {
			f := &x.flights[k]
			if len(f.Items) == 0 || f.old && fault.On("forget-old-flight") {
				continue
			}
			data := appendItems(s.room[:0], f.Items, f.ports)
			if cap(data) <= mostRoom {
				s.room = data
			}
			ref, err := s.store.Append(FlightBlock, data)
			if err != nil {
				return nil, nil, err
			}
			rows := int64(f.Rows())
			m.FlightBytes += int64(len(data))
			m.FlightRows += rows
			m.Channels = append(m.Channels, checkpoint.Channel{Edge: f.edge, From: f.from, To: f.to, FromWidth: f.fromWidth, ToWidth: f.toWidth, Old: f.old, Nth: f.nth,
				First: f.First, Last: f.First + uint64(len(f.Items)) - 1, Rows: rows, Blocks: []checkpoint.Ref{ref}, Schema: f.schema})
		}
	}
	if s.keeper.cfg.Describe != nil {
		if err := s.keeper.cfg.Describe(s.store, m); err != nil {
			return nil, nil, err
		}
	}
	now := s.run.env.Now()
	m.Phases = map[string]int64{"step": w.Stepped - w.Triggered, "gather": w.Handed - w.Stepped, "encode": now - encode, "queue": encode - w.Handed, "pause": pause, "align": align}
	s.mu.Lock()
	s.recent = append(slices.DeleteFunc(s.recent, func(x written) bool { return x.id < w.Parent }), written{w.ID, chains}) // parents only get younger
	s.mu.Unlock()
	return m, flush, nil
}

// base returns a copy of an operator's chain in a checkpoint.
func (s *storage) base(id checkpoint.ID, key nodeKey) checkpoint.Chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	chains, _ := s.chains(id)
	return slices.Clone(chains[key])
}

// commit makes the outputs of a published checkpoint visible.
func (s *storage) commit(t *taking) error {
	k := s.keeper
	if w := s.run.env.Watch; w != nil {
		w.Commits(t.id)
	}
	finished := true
	for _, x := range t.snaps {
		finished = finished && x.data.over
	}
	err := s.run.commit(t.id, false)
	if err == nil {
		err = s.store.Commit(t.id, finished)
	}
	if err == nil && t.final { // nothing follows that would do it
		if err = s.store.Settle(); err == nil {
			err = s.run.commit(t.id, true)
		}
	}
	if err == nil {
		err = s.store.Tidy()
	}
	if err != nil {
		k.post(func() []checkpoint.Action { return k.coord.CommitFailed(k.now(), t.id, err) })
		return nil
	}
	k.post(func() []checkpoint.Action { return k.coord.Committed(k.now(), t.id) })
	return nil
}

// end ends a run of which no checkpoint was taken.
func (s *storage) end() error {
	if !fault.On("end-uncommitted") {
		if err := s.run.commit(Ended, true); err != nil {
			return &OutputError{err}
		}
	}
	s.run.end(nil)
	return nil
}

// Ended is the id that sinks are told to commit if a run comes to its end and no checkpoint of it was taken.
const Ended = ^checkpoint.ID(0)

// commit tells the sinks to commit a checkpoint, see Committer.
func (r *Run) commit(id checkpoint.ID, settled bool) error {
	for _, c := range r.committers {
		if err := c.Commit(id, settled); err != nil || fault.On("commit-first-output") {
			return err
		}
	}
	return nil
}

// resume commits what a run goes on from: the run before may not have come to that.
func (r *Run) resume(from *Restore) error {
	if from.Secure != nil {
		if err := from.Secure(); err != nil {
			return &OutputError{err}
		}
	}
	if len(r.committers) == 0 || fault.On("no-commit-at-restore") {
		return nil
	}
	if w := r.env.Watch; w != nil {
		w.Commits(from.Manifest.ID)
	}
	if err := r.commit(from.Manifest.ID, true); err != nil {
		return &OutputError{err}
	}
	return nil
}

// A Committer is a sink that makes visible what belongs to a checkpoint once that is durable.
type Committer interface {
	// Commit makes what was sealed for checkpoint id and those before visible. It is called by another goroutine than the
	// task's, while the task may go on writing; again after a restore; and for an id that was committed already it does
	// nothing. Files that a checkpoint has sealed are what proves after a crash that it was published, until something was
	// written in the knowledge of that: of those before id it was, and of id itself if settled.
	Commit(id checkpoint.ID, settled bool) error
	// Hold is called before the first row of a run that takes checkpoints: Finish then makes nothing visible, only Commit
	// does. It reports whether the sink adds to what earlier runs have written, which a run that is done again would do twice:
	// such a run ends with a checkpoint, however short it is.
	Hold() (adds bool)
}
