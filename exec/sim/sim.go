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

// slowness is how many times slower than others one actor may be.
const slowness = 16

// mostSteps ends a run that goes round in circles.
const mostSteps = 300_000

// Clock is the time of a simulation. It moves by steps, and jumps where nothing else is to be done.
type Clock struct{ At int64 }

// Now returns the time in nanoseconds.
func (c *Clock) Now() int64 { return c.At }

// Options say how a graph is run.
type Options struct {
	Seed uint64
	// Clock is what env.Now reads; nil: the time of the machine.
	Clock *Clock
	// Rows is what channels hold at most, unless they keep order; 0: 1 to 4, so that every producer is held back all the time.
	Rows int
	// Calm leaves the channels as wide as they are, and lets the actors take turns. Of a Stepper only.
	Calm bool
	// Lag makes one of the actors slow, most often one that keeps the checkpoints.
	Lag bool
	// Crash ends the run after so many steps as if the power went; 0: never.
	Crash int
	// Each is called after each step; nil: nobody.
	Each func(r *exec.Run)
	// Leave is asked after each step whether the run ends where it stands, as for a rollback; nil: never.
	Leave func() bool
	// Round is called whenever every actor has been stepped since it was called before; nil: nobody.
	Round func()
}

// ErrCrash is the error of a run that Options.Crash ended.
var ErrCrash = errors.New("crash")

// ErrLeft is the error of a run that Options.Leave ended.
var ErrLeft = errors.New("left")

// Run steps the actors of a graph until the run is over. The seed decides the order of the steps and the limits of the
// channels.
func Run(g *exec.Graph, env *exec.Env, o exec.Setup, opt Options) (err error) {
	rng := rand.New(rand.NewPCG(opt.Seed, 0xebb))
	narrow(g, rng, opt)
	r, err := exec.Build(g, env, o)
	defer func() {
		if !errors.Is(err, ErrCrash) {
			err = errors.Join(err, r.Close())
		}
	}()
	if err != nil {
		return err
	}
	s := &scheduler{Options: opt, run: r, rng: rng, actors: r.Actors(), env: env, seen: map[exec.Actor]bool{}}
	if opt.Lag {
		s.slow = s.actors[len(s.actors)-1-rng.IntN(min(len(s.actors), 2*rng.IntN(len(s.actors))+3))]
	}
	for !over(r) {
		if err := s.turn(); err != nil {
			return err
		}
	}
	return r.Err()
}

// narrow lets channels hold a few rows only.
func narrow(g *exec.Graph, rng *rand.Rand, opt Options) {
	for _, e := range g.Edges {
		if !e.InOrder { // which must hold two chunks
			e.Limits = exec.Limits{Rows: 1 + rng.IntN(max(opt.Rows, 4)), Bytes: 1 << 30}
		}
	}
}

type scheduler struct {
	Options
	run    *exec.Run
	rng    *rand.Rand
	actors []exec.Actor
	env    *exec.Env
	steps  int
	idle   int
	seen   map[exec.Actor]bool // that have been stepped in this round
	slow   exec.Actor          // stepped more seldom than others; nil: none
	stuck  int64               // when the run came to a halt, 0: it moves
}

// turn steps an actor a few times: a few are favoured for a while, then others, as fair rounds would hide most
// interleavings.
func (s *scheduler) turn() error {
	a := s.actors[s.rng.IntN(len(s.actors))]
	for a == s.slow && s.rng.IntN(slowness) > 0 {
		a = s.actors[s.rng.IntN(len(s.actors))]
	}
	for range 1 + s.rng.IntN(8) {
		p, err := a.Step()
		if err != nil {
			return err
		}
		if s.steps++; s.Crash > 0 && s.steps >= s.Crash {
			return ErrCrash
		}
		if s.steps > mostSteps {
			return fmt.Errorf("seed %d: no end after %d steps\n%s", s.Seed, s.steps, s.run)
		}
		if s.Each != nil {
			s.Each(s.run)
		}
		if s.Leave != nil && s.Leave() {
			return ErrLeft
		}
		if s.seen[a] = true; len(s.seen) == len(s.actors) {
			clear(s.seen)
			if s.Round != nil {
				s.Round()
			}
		}
		if s.Clock != nil {
			s.Clock.At += int64(s.rng.IntN(2000))
		}
		if p != exec.Worked {
			s.idle++
			break
		}
		s.idle = 0
	}
	quiet := 20 * len(s.actors)
	if s.slow != nil {
		quiet *= slowness
	}
	if s.idle < quiet {
		s.stuck = 0
		return nil
	}
	if s.Clock != nil {
		return s.jump()
	}
	switch {
	case s.stuck == 0:
		s.stuck = s.env.Now()
	case s.env.Now()-s.stuck > int64(patience):
		return s.deadlock()
	}
	time.Sleep(100 * time.Microsecond)
	return nil
}

func (s *scheduler) deadlock() error {
	return fmt.Errorf("seed %d: %d actors wait for each other\n%s", s.Seed, len(s.actors), s.run)
}

// jump goes to the time at which somebody wants to be stepped.
func (s *scheduler) jump() error {
	next := int64(0)
	for _, a := range s.actors {
		if t := a.NextTick(); t > 0 && (next == 0 || t < next) {
			next = t
		}
	}
	if next == 0 {
		return s.deadlock()
	}
	s.Clock.At = max(s.Clock.At+1, next)
	s.idle = 0
	return nil
}

func over(r *exec.Run) bool {
	select {
	case <-r.Over():
		return true
	default:
		return false
	}
}
