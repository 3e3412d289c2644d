package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ebb-lang/ebb/exec"
)

// mostSettling ends a settling that goes round in circles.
const mostSettling = 20_000_000

// Now and then an actor sleeps through some rounds, so that rows wait for it in the channels, checkpoints lie open, and what
// is published is not committed yet.
const (
	napEvery = 24 // rounds, on average
	mostNap  = 24 // rounds
)

// Stepper runs a graph as far as its caller wants, on the caller's goroutine: until nothing is left to be done, or for some
// time of the clock. Options.Clock must be set; it moves in Advance only.
type Stepper struct {
	Options
	Run    *exec.Run
	env    *exec.Env
	rng    *rand.Rand
	actors []exec.Actor
	naps   []int // of each actor: rounds that it still sleeps through
	steps  int
}

// Start builds a run. Its tasks have not been stepped yet. After an error there is none, and nothing to be closed.
func Start(g *exec.Graph, env *exec.Env, o exec.Setup, opt Options) (*Stepper, error) {
	rng := rand.New(rand.NewPCG(opt.Seed, 0xebb))
	if !opt.Calm {
		narrow(g, rng, opt)
	}
	r, err := exec.Build(g, env, o)
	if err != nil {
		r.Close()
		return nil, err
	}
	actors := r.Actors()
	return &Stepper{Options: opt, Run: r, env: env, rng: rng, actors: actors, naps: make([]int, len(actors))}, nil
}

// Over reports whether the run has ended by itself.
func (s *Stepper) Over() bool { return over(s.Run) }

// Settle steps until no actor has anything to do at the time of the clock, or the run is over.
func (s *Stepper) Settle() error {
	quiet := 0
	for from := s.steps; ; {
		if s.steps-from > mostSettling {
			return fmt.Errorf("no end after %d steps\n%s", mostSettling, s.Run)
		}
		worked, all, err := s.round(quiet > 0)
		switch {
		case err != nil:
			return err
		case s.Over():
			return s.Run.Err()
		case worked:
			quiet = 0
		case !all:
			quiet = max(quiet, 1)
		default:
			if quiet++; quiet > 2 {
				return nil
			}
		}
	}
}

// round steps the actors, all that do not sleep or those that the seed picks, and reports whether one did something.
func (s *Stepper) round(whole bool) (worked, all bool, err error) {
	order := s.rng.Perm(len(s.actors))
	all = true
	for k, i := range order {
		turns := 100
		if s.Calm {
			i = k
		} else {
			turns = 1 + s.rng.IntN(8)
			if !whole && s.naps[i] == 0 && s.rng.IntN(napEvery) == 0 {
				s.naps[i] = 1 + s.rng.IntN(mostNap)
			}
			if s.naps[i] > 0 {
				s.naps[i]--
				all = false
				continue
			}
			if !whole && s.rng.IntN(3) == 0 {
				all = false
				continue
			}
		}
		for range turns {
			p, err := s.actors[i].Step()
			if err != nil {
				return worked, all, err
			}
			if s.steps++; s.Crash > 0 && s.steps >= s.Crash {
				return worked, all, ErrCrash
			}
			if s.Each != nil {
				s.Each(s.Run)
			}
			if p != exec.Worked {
				break
			}
			worked = true
		}
	}
	return worked, all, nil
}

// CrashAfter lets the power go after so many further steps; 0: not at all.
func (s *Stepper) CrashAfter(steps int) {
	if s.Crash = 0; steps > 0 {
		s.Crash = s.steps + steps
	}
}

// mostMoments bounds how often somebody may want to be stepped while time passes.
const mostMoments = 1_000_000

// Advance lets time pass, nanoseconds: whoever wants to be stepped at some time until then is, at that time. It returns an
// error if that would take for ever.
func (s *Stepper) Advance(d int64) error {
	end := s.Clock.At + d
	if end < s.Clock.At {
		return errors.New("time ends in the year 2262; let less time pass")
	}
	for moments := 0; !s.Over(); moments++ {
		if moments == mostMoments {
			return fmt.Errorf("something wants to be done more than %d times in the time that passes; let less time pass", mostMoments)
		}
		next := int64(0)
		for _, a := range s.actors {
			if t := a.NextTick(); t > s.Clock.At && t <= end && (next == 0 || t < next) {
				next = t
			}
		}
		if next == 0 {
			break
		}
		s.Clock.At = next
		if err := s.Settle(); err != nil {
			return err
		}
	}
	s.Clock.At = end
	return s.Settle()
}
