package checkpoint

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// world plays the runner, its tasks and its store against a coordinator, and checks every action.
type world struct {
	rt    *rapid.T
	c     *Coordinator
	o     Policy
	tasks int
	now   int64
	wake  int64

	begun    map[ID]Trigger
	late     map[ID]bool // a task stepped before the marks had come
	newest   ID
	handed   map[ID]map[int]bool
	outcome  map[ID]Action
	written  ID
	commits  map[ID]bool
	store    []Action // Write and Commit, not carried out yet
	durable  ID
	pending  map[uint64]bool // tokens without an answer
	tokens   uint64
	failures int
	ended    int64 // when the last one ended
	broken   bool  // the store
	failed   bool
	final    bool
}

func (w *world) do(actions []Action) {
	for _, a := range actions {
		require.False(w.rt, w.failed && !isReject(a), "%s after the end", a)
		switch a := a.(type) {
		case Trigger:
			require.Greater(w.rt, a.ID, w.newest)
			require.LessOrEqual(w.rt, a.Parent, w.durable)
			require.Equal(w.rt, a.Mode != Unaligned, a.Sources)
			if a.Mode == Auto {
				require.Equal(w.rt, w.now+w.o.AlignTimeout, a.Until)
			} else {
				require.Zero(w.rt, a.Until)
			}
			require.False(w.rt, w.final, "%s after the final one", a)
			w.newest = a.ID
			w.begun[a.ID] = a
			w.handed[a.ID] = map[int]bool{}
			open := 0
			for id, b := range w.begun {
				if w.outcome[id] == nil && !b.Final {
					open++
				}
				require.False(w.rt, b.Final && w.outcome[id] == nil && id != a.ID, "%s beside the final one", a)
			}
			require.LessOrEqual(w.rt, open, w.o.MaxOpen)
			if a.Reason == "interval" && w.o.MinPause > 0 && len(w.begun) > 1 {
				require.GreaterOrEqual(w.rt, w.now, w.ended+w.o.MinPause)
				require.Equal(w.rt, 1, open)
			}
		case Write:
			require.Greater(w.rt, a.ID, w.written)
			require.Len(w.rt, w.handed[a.ID], w.tasks)
			require.NotEqual(w.rt, Auto, a.Mode)
			if b := w.begun[a.ID]; b.Mode == Auto && w.late[a.ID] || b.Mode == Unaligned {
				require.Equal(w.rt, Unaligned, a.Mode)
			}
			for id := w.written + 1; id < a.ID; id++ {
				require.True(w.rt, w.begun[id].ID == 0 || w.outcome[id] != nil, "%d is written, %d is open", a.ID, id)
			}
			w.written = a.ID
			w.store = append(w.store, a)
		case Commit:
			require.Equal(w.rt, w.durable, a.ID)
			require.False(w.rt, w.commits[a.ID])
			w.commits[a.ID] = true
			w.store = append(w.store, a)
		case Abort:
			require.Greater(w.rt, a.ID, w.written, "it is with the store")
			require.Len(w.rt, a.Tasks, w.tasks-len(w.handed[a.ID]))
			w.end(a.ID, a)
			w.failures++
		case Done:
			require.True(w.rt, w.commits[a.ID])
			w.end(a.ID, a)
			w.answer(a.Token)
			w.final = w.final || a.Final
		case Reject:
			require.NotZero(w.rt, a.Token)
			w.answer(a.Token)
		case Wake:
			w.wake = a.At
		case Fail:
			require.Error(w.rt, a.Err)
			w.failed = true
			require.True(w.rt, w.broken || w.failures > w.o.Tolerate, "%s after %d failures", a, w.failures)
			require.Empty(w.rt, w.pending)
		}
	}
	if !w.failed {
		require.LessOrEqual(w.rt, w.failures, w.o.Tolerate)
	}
}

func isReject(a Action) bool { _, ok := a.(Reject); return ok }

func (w *world) end(id ID, a Action) {
	require.NotZero(w.rt, w.begun[id].ID)
	require.Nil(w.rt, w.outcome[id], "a second outcome of %d", id)
	w.outcome[id] = a
	w.ended = w.now
}

func (w *world) answer(token uint64) {
	if token != 0 {
		require.True(w.rt, w.pending[token], "a second answer to request %d", token)
		delete(w.pending, token)
	}
}

// ask hands a request in.
func (w *world) ask(final bool) {
	token := w.tokens + 1
	w.tokens = token
	w.pending[token] = true
	w.do(w.c.Request(w.now, Request{Token: token, Reason: "manual", Final: final}))
}

func (w *world) ack(task int, id ID) {
	if w.begun[id].ID != 0 && task >= 0 && task < w.tasks && w.outcome[id] == nil {
		w.handed[id][task] = true
	}
	w.do(w.c.Acked(w.now, task, id))
}

func (w *world) step(task int, id ID, aligned bool) {
	if b := w.begun[id]; b.ID != 0 && task >= 0 && task < w.tasks && w.outcome[id] == nil && !w.handed[id][task] {
		w.late[id] = w.late[id] || !aligned
	}
	w.do(w.c.Stepped(w.now, task, id, aligned))
}

// serve lets the store carry out its next order; broken: it cannot.
func (w *world) serve(broken bool) {
	if len(w.store) == 0 {
		return
	}
	a := w.store[0]
	w.store = w.store[1:]
	w.broken = broken
	switch a := a.(type) {
	case Write:
		if broken {
			w.do(w.c.PublishFailed(w.now, a.ID, errors.New("broken")))
			return
		}
		w.durable, w.failures = a.ID, 0
		w.do(w.c.Published(w.now, a.ID))
	case Commit:
		if broken {
			w.do(w.c.CommitFailed(w.now, a.ID, errors.New("broken")))
			return
		}
		w.do(w.c.Committed(w.now, a.ID))
	}
}

func (w *world) opened() (ids []ID) {
	for id := range w.newest + 1 {
		if w.begun[id].ID != 0 && w.outcome[id] == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestCoordinatorRandom gives events in random order, sensible and senseless ones, and then lets everything come to its
// end, by answers or by time alone.
func TestCoordinatorRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := func(from, to int, what string) int { return rapid.IntRange(from, to).Draw(rt, what) }
		w := &world{rt: rt, tasks: n(1, 4, "tasks"), begun: map[ID]Trigger{}, late: map[ID]bool{}, handed: map[ID]map[int]bool{},
			outcome: map[ID]Action{}, commits: map[ID]bool{}, pending: map[uint64]bool{}, wake: never}
		w.o = Policy{Interval: int64(n(0, 50, "interval")), MinPause: int64(n(0, 1, "paused") * n(1, 60, "pause")),
			Timeout: int64(n(1, 100, "timeout")), AlignTimeout: int64(n(0, 50, "align")), Mode: Mode(n(0, 2, "mode")),
			MaxOpen: n(1, 3, "open"), Tolerate: n(0, 4, "tolerate")}
		w.c = NewCoordinator(w.o)
		w.do(w.c.Start(0, w.tasks, ID(n(1, 3, "first"))))

		for range n(0, 120, "events") {
			if w.failed {
				break
			}
			task, id := n(-1, w.tasks, "task"), ID(n(0, 12, "id"))
			if open := w.opened(); len(open) > 0 && n(0, 4, "sensible") > 0 {
				task, id = n(0, w.tasks-1, "task"), rapid.SampledFrom(open).Draw(rt, "id")
			}
			switch n(0, 20, "event") {
			case 0, 1, 2:
				w.now += int64(n(0, 30, "later"))
				w.do(w.c.Tick(w.now))
			case 3:
				if w.wake != never {
					w.now = max(w.now, w.wake)
					w.do(w.c.Tick(w.now))
				}
			case 4, 5, 6, 7, 8:
				w.ack(task, id)
			case 9:
				for task := range w.tasks {
					w.ack(task, id)
				}
			case 10, 11, 12:
				w.step(task, id, n(0, 2, "aligned") > 0)
			case 13:
				if n(0, 3, "declines") == 0 {
					w.do(w.c.Declined(w.now, task, id, "no"))
				}
			case 14:
				w.ask(n(0, 9, "final") == 0)
			case 15:
				w.do(w.c.TaskEnded(w.now, task))
			case 16: // answers that nobody waits for
				if id > w.written {
					w.do(w.c.Published(w.now, id))
					w.do(w.c.CommitFailed(w.now, id, errors.New("never written")))
				} else if w.outcome[id] != nil {
					w.do(w.c.Committed(w.now, id))
					w.do(w.c.PublishFailed(w.now, id, errors.New("long ago")))
				}
			default:
				w.serve(n(0, 60, "broken") == 0)
			}
		}

		// From now on nobody asks, and all have an end: the tasks hand in their parts, or time runs out.
		for task := range w.tasks {
			w.do(w.c.TaskEnded(w.now, task))
		}
		answers := rapid.Bool().Draw(rt, "answers")
		for round := 0; !w.failed && (len(w.opened()) > 0 || len(w.pending) > 0); round++ {
			require.Less(rt, round, 2000, "open for ever: %v, %v", w.opened(), w.pending)
			for len(w.store) > 0 && !w.failed {
				w.serve(false)
			}
			if answers {
				for _, id := range w.opened() {
					for task := range w.tasks {
						w.ack(task, id)
					}
				}
			} else if len(w.opened()) > 0 && len(w.store) == 0 {
				require.NotEqual(rt, int64(never), w.wake, "nothing will ever happen")
				require.Greater(rt, w.wake, w.now, "it was to be done at once")
				w.now = w.wake
				w.wake = never
				w.do(w.c.Tick(w.now))
			}
		}
		if !w.failed {
			require.Empty(rt, w.pending)
		}
		for _, id := range w.opened() {
			require.True(rt, w.failed, "%d has no outcome", id)
		}
	})
}
