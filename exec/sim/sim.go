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

// Run steps the tasks of a graph until all have finished. The seed decides the order of the steps and the limits of the
// channels (1 to 4 rows, so that every producer is held back all the time).
func Run(g *exec.Graph, env *exec.Env, seed uint64) (err error) {
	rng := rand.New(rand.NewPCG(seed, 0xebb))
	for _, e := range g.Edges {
		if e.InOrder {
			continue // must hold two chunks
		}
		e.Limits = exec.Limits{Rows: 1 + rng.IntN(4), Bytes: 1 << 30}
	}
	tasks, closers, err := exec.Build(g, env)
	defer func() {
		for _, c := range closers {
			err = errors.Join(err, c())
		}
	}()
	if err != nil {
		return err
	}
	// A few tasks are favoured for a while, then others: fair rounds would hide most interleavings.
	alive := append([]*exec.Task(nil), tasks...)
	idle := 0
	stuck := int64(0) // when the run came to a halt, 0: it moves
	for len(alive) > 0 {
		k := rng.IntN(len(alive))
		for range 1 + rng.IntN(8) {
			p, err := alive[k].Step()
			if err != nil {
				return err
			}
			if p == exec.Finished {
				alive = append(alive[:k], alive[k+1:]...)
				idle = 0
				break
			}
			if p == exec.Waiting {
				idle++
				break
			}
			idle = 0
		}
		if idle < 20*len(alive) {
			stuck = 0
			continue
		}
		switch {
		case stuck == 0:
			stuck = env.Now()
		case env.Now()-stuck > int64(patience):
			return fmt.Errorf("seed %d: %d tasks wait for each other", seed, len(alive))
		}
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}
