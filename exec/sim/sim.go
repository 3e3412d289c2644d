// Package sim runs a graph on one goroutine, in an order that a seed decides: tasks are stepped at random, channels hold
// almost nothing. A run that fails can be repeated by its seed. It knows the steps of tasks and nothing of what they do.
package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ebb-lang/ebb/exec"
)

// patience is how long a run may make no progress while something outside (a reader behind a buffer, a clock) may still wake a task.
const patience = 10 * time.Second

// Run steps the actors of a graph until the run is over. The seed decides the order of the steps and the limits of the
// channels (1 to 4 rows, so that every producer is held back all the time).
func Run(g *exec.Graph, env *exec.Env, o exec.Setup, seed uint64) (err error) {
	rng := rand.New(rand.NewPCG(seed, 0xebb))
	for _, e := range g.Edges {
		if e.InOrder {
			continue // must hold two chunks
		}
		e.Limits = exec.Limits{Rows: 1 + rng.IntN(4), Bytes: 1 << 30}
	}
	r, err := exec.Build(g, env, o)
	defer func() { err = errors.Join(err, r.Close()) }()
	if err != nil {
		return err
	}
	// A few actors are favoured for a while, then others: fair rounds would hide most interleavings.
	actors := r.Actors()
	idle := 0
	stuck := int64(0) // when the run came to a halt, 0: it moves
	for !over(r) {
		a := actors[rng.IntN(len(actors))]
		for range 1 + rng.IntN(8) {
			p, err := a.Step()
			if err != nil {
				return err
			}
			if p != exec.Worked {
				idle++
				break
			}
			idle = 0
		}
		if idle < 20*len(actors) {
			stuck = 0
			continue
		}
		switch {
		case stuck == 0:
			stuck = env.Now()
		case env.Now()-stuck > int64(patience):
			return fmt.Errorf("seed %d: %d actors wait for each other", seed, len(actors))
		}
		time.Sleep(100 * time.Microsecond)
	}
	return r.Err()
}

func over(r *exec.Run) bool {
	select {
	case <-r.Over():
		return true
	default:
		return false
	}
}
