package exec

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/lang/types"
)

// Checkpoints says how a job takes checkpoints.
type Checkpoints struct {
	Policy checkpoint.Policy
	// First is the smallest id that may be used; at least 1.
	First checkpoint.ID
	// Open opens the store. It is called by the goroutine that writes, when the first checkpoint is to begin. Whoever set it
	// closes the store after the run.
	Open func() (*checkpoint.Store, error)
	// Describe fills in what the engine does not know: job, script, working directory, version.
	Describe func(*checkpoint.Store, *checkpoint.Manifest) error
	// Taken is told of every checkpoint that is published and committed; Aborted of every one that is given up. nil: nobody.
	Taken   func(*checkpoint.Manifest)
	Aborted func(id checkpoint.ID, reason string)
	// Reached is told several times a second how many rows the job has read, and once more when the run is over. nil: nobody.
	Reached func(rows int64, over bool)
	// Deltas allows state to be written as what has changed since an earlier checkpoint.
	Deltas bool
	// Piece, if not 0, is how many bytes of state are written in a step, instead of what checkpoint.Writer says. Tests make
	// it small.
	Piece int
	// Deliver, if not nil, says which of n tasks hears of a trigger or an abort next. On goroutines of their own tasks hear
	// of it in any order, as they are in the middle of a step; the simulator, whose steps are whole, decides here.
	Deliver func(n int) int
}

// keeper runs the checkpoints of a job: it tells the coordinator what happens and does what that decides. It is stepped
// like a task; what touches the disk is handed to the storage.
type keeper struct {
	actor
	run     *Run
	cfg     *Checkpoints
	coord   *checkpoint.Coordinator
	storage *storage
	adds    bool // an output adds to what earlier runs have written

	mu    sync.Mutex
	inbox []func() []checkpoint.Action

	outbox []letter
	held   []checkpoint.Action // that wait until the id of the first, a Trigger, is granted

	open   []*taking // ascending
	alarm  types.Instant
	token  uint64
	ending uint64 // token of the final one, once it was asked for; noToken: the run ends without
	asked  map[uint64]chan<- Outcome
}

// noToken is that of no request.
const noToken = ^uint64(0)

// Outcome is what became of a checkpoint that was asked for.
type Outcome struct {
	ID  checkpoint.ID
	Err error
}

// taking is a checkpoint that is open: what its tasks have handed in.
type taking struct {
	id    checkpoint.ID
	final bool
	snaps []*Snapshot
	stats map[string]int64 // when it began: what is read later is read again after a restore
}

func newKeeper(run *Run, cfg *Checkpoints) *keeper {
	k := &keeper{actor: newActor("checkpoints"), run: run, cfg: cfg, coord: checkpoint.NewCoordinator(cfg.Policy), asked: map[uint64]chan<- Outcome{}}
	k.storage = &storage{actor: newActor("storage"), keeper: k, run: run}
	for _, c := range run.committers {
		k.adds = c.Hold() || k.adds
	}
	for i, t := range run.tasks {
		t.snaps.writer = func(id, parent checkpoint.ID) (*checkpoint.Writer, *ahead) { return k.writer(t, id, parent) }
		t.snaps.report = func(x *Snapshot) { k.handed(i, x) }
		t.snaps.stepped = func(id checkpoint.ID, aligned bool) {
			k.post(func() []checkpoint.Action { return k.coord.Stepped(k.now(), i, id, aligned) })
		}
	}
	k.post(func() []checkpoint.Action { return k.coord.Start(k.now(), len(run.tasks), max(cfg.First, 1)) })
	return k
}

func (k *keeper) writer(t *Task, id, parent checkpoint.ID) (*checkpoint.Writer, *ahead) {
	w := checkpoint.NewWriter(id, parent)
	w.Room = &k.storage.pieces
	if n := k.cfg.Piece; n > 0 {
		w.AtOnce, w.Piece = n, n
	}
	return w, k.storage.ahead(t, w)
}

func (k *keeper) now() int64 { return k.run.env.Now() }

// post hands an event to the keeper. Any goroutine may call it.
func (k *keeper) post(event func() []checkpoint.Action) {
	k.mu.Lock()
	k.inbox = append(k.inbox, event)
	k.mu.Unlock()
	k.Wake()
}

// letter is an order on its way. One is delivered in a step, before the next event: some tasks know of it already and
// others do not, and a simulation shall see what comes of that.
type letter struct {
	to    *Task
	order order
}

// alike returns how many letters say the same as the first one, to as many tasks.
func (k *keeper) alike() int {
	first := k.outbox[0].order
	for n, l := range k.outbox {
		if l.order.id != first.id || l.order.what != first.what || l.order.aligned != first.aligned || n >= len(k.run.tasks) {
			return n
		}
	}
	return len(k.outbox)
}

func (k *keeper) send(to *Task, o order) { k.outbox = append(k.outbox, letter{to, o}) }

// Step delivers one order or deals with one event. An event waits while the id of a checkpoint is being granted.
func (k *keeper) Step() (Progress, error) {
	held := len(k.held) > 0
	k.mu.Lock()
	var event func() []checkpoint.Action
	if len(k.outbox) == 0 && !held && len(k.inbox) > 0 {
		event, k.inbox = k.inbox[0], k.inbox[1:]
	}
	k.mu.Unlock()
	switch {
	case len(k.outbox) > 0:
		i := 0
		if k.cfg.Deliver != nil {
			i = k.cfg.Deliver(k.alike())
		}
		l := k.outbox[i]
		k.outbox = slices.Delete(k.outbox, i, i+1)
		l.to.order(l.order)
		return Worked, nil
	case held:
		if !k.storage.grants(k.held[0].(checkpoint.Trigger).ID) {
			return Waiting, nil
		}
		actions := k.held
		k.held = nil
		return Worked, k.do(actions)
	case event != nil:
		return Worked, k.do(event())
	case k.alarm > 0 && k.now() >= k.alarm:
		k.alarm = 0
		return Worked, k.do(k.coord.Tick(k.now()))
	}
	return Waiting, nil
}

// NextTick returns when the coordinator wants to be told the time.
func (k *keeper) NextTick() types.Instant {
	if len(k.held) > 0 {
		return 0
	}
	return k.alarm
}

// handed takes a task's part in.
func (k *keeper) handed(task int, x *Snapshot) {
	k.post(func() []checkpoint.Action {
		if x.Err != nil {
			return k.coord.Declined(k.now(), task, x.ID, x.Err.Error())
		}
		if t := k.find(x.ID); t != nil {
			t.snaps[task] = x
		}
		return k.coord.Acked(k.now(), task, x.ID)
	})
}

func (k *keeper) find(id checkpoint.ID) *taking {
	for _, t := range k.open {
		if t.id == id {
			return t
		}
	}
	return nil
}

// ids returns the ids of the open checkpoints.
func (k *keeper) ids() (out []checkpoint.ID) {
	for _, t := range k.open {
		out = append(out, t.id)
	}
	return out
}

func (k *keeper) drop(id checkpoint.ID) {
	k.open = slices.DeleteFunc(k.open, func(t *taking) bool { return t.id == id })
}

// do carries out what the coordinator decided.
func (k *keeper) do(actions []checkpoint.Action) error {
	for i, a := range actions {
		switch a := a.(type) {
		case checkpoint.Trigger:
			if !k.storage.grants(a.ID) {
				k.held = actions[i:]
				k.storage.post(func() error { return k.storage.grant(a.ID) })
				return nil
			}
			k.open = append(k.open, &taking{id: a.ID, final: a.Final, snaps: make([]*Snapshot, len(k.run.tasks)), stats: k.run.env.Stats.values()})
			o := order{id: a.ID, parent: k.storage.parent(a.Parent), aligned: a.Sources, until: a.Until, final: a.Final, open: k.ids()}
			for _, t := range k.run.tasks {
				k.send(t, o)
			}
		case checkpoint.Write:
			t := k.find(a.ID)
			if fault.On("commit-before-publish") && k.storage.store != nil {
				k.storage.post(func() error { return k.storage.commit(t) })
			}
			k.storage.post(func() error { return k.storage.publish(t, a) })
		case checkpoint.Commit:
			t := k.find(a.ID)
			k.storage.post(func() error { return k.storage.commit(t) })
		case checkpoint.Abort:
			k.drop(a.ID)
			for _, t := range k.run.tasks {
				if fault.On("lose-abort") {
					break
				}
				k.send(t, order{what: abort, id: a.ID})
			}
			if k.cfg.Aborted != nil {
				k.cfg.Aborted(a.ID, a.Reason)
			}
		case checkpoint.Done:
			k.drop(a.ID)
			k.answer(a.Token, Outcome{ID: a.ID})
			if a.Final {
				k.run.end(nil)
			}
		case checkpoint.Reject:
			k.answer(a.Token, Outcome{Err: errors.New(a.Reason)})
			if a.Token == k.ending {
				return errNotTaken(errors.New(a.Reason))
			}
		case checkpoint.Wake:
			k.alarm = a.At
		case checkpoint.Fail:
			return &OutputError{a.Err}
		}
	}
	return nil
}

func (k *keeper) answer(token uint64, o Outcome) {
	if c := k.asked[token]; c != nil {
		delete(k.asked, token)
		c <- o
	}
}

// request asks for a checkpoint. The answer comes on a channel with room for it.
func (k *keeper) request(r checkpoint.Request) <-chan Outcome {
	c := make(chan Outcome, 1)
	k.post(func() []checkpoint.Action {
		k.token++
		r.Token = k.token
		k.asked[r.Token] = c
		return k.coord.Request(k.now(), r)
	})
	return c
}

// ended is told that a task has come to its end.
func (k *keeper) ended(task int, all bool) {
	k.post(func() []checkpoint.Action {
		// The run was shorter than the interval: its outputs are whole without a checkpoint. One that is asked for now would
		// seal what is becoming visible.
		if all && !k.storage.begun.Load() && len(k.open) == 0 && !k.adds {
			k.ending = noToken
			k.storage.post(k.storage.end)
			return k.coord.Over(k.now())
		}
		actions := k.coord.TaskEnded(k.now(), task)
		if !all {
			return actions
		}
		return append(actions, k.last("end")...)
	})
}

// final asks for the checkpoint that ends the run.
func (k *keeper) final(reason string) {
	k.post(func() []checkpoint.Action { return k.last(reason) })
}

func (k *keeper) last(reason string) []checkpoint.Action {
	if k.ending != 0 { // one is under way
		return nil
	}
	k.token++
	k.ending = k.token
	return k.coord.Request(k.now(), checkpoint.Request{Token: k.token, Reason: reason, Final: true})
}

// errNotTaken says that a run could not be ended with a checkpoint.
func errNotTaken(reason error) error { return fmt.Errorf("the final checkpoint failed: %w", reason) }
