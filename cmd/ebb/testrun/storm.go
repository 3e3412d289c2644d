package testrun

import (
	"math/rand/v2"
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
	"github.com/ebb-lang/ebb/lang/check"
)

// A storm takes checkpoints, lets the job crash and lets it go on at another parallelism, as its seed has it, while the
// steps of a test are carried out. Rows come in small pieces and channels hold next to nothing.
type storm struct {
	seed uint64
	rng  *rand.Rand
	most int // rows of a piece
	left int // crashes that are still to come
	asks int // checkpoints that may still be taken before the job has settled: a checkpoint takes steps, too

	run  *sim.Stepper
	open []<-chan exec.Outcome // of checkpoints that were taken since the run began
}

// newStorm makes the storm of a seed over a test with so many rows.
func newStorm(seed uint64, rows int) *storm {
	return &storm{seed: seed, rng: rand.New(rand.NewPCG(seed, 0x570a)), most: max(3, rows/100), left: 6}
}

func (s *storm) rows() int    { return 1 + s.rng.IntN(s.most) }
func (s *storm) width() int   { return 1 + s.rng.IntN(4) }
func (s *storm) mode() string { return []string{"unaligned", "aligned", "auto"}[s.rng.IntN(3)] }

// each is called after every step. Checkpoints are taken most often while rows are in flight, and the power goes most often
// soon after a checkpoint has become durable: what it lacks is then missed.
func (s *storm) each(r *exec.Run) {
	s.open = slices.DeleteFunc(s.open, func(answer <-chan exec.Outcome) bool {
		select {
		case x := <-answer:
			if x.Err == nil && s.left > 0 && s.rng.IntN(3) == 0 {
				s.left--
				s.run.CrashAfter(1 + s.rng.IntN(1<<s.rng.IntN(8)))
			}
			return true
		default:
			return false
		}
	})
	seldom := 150
	if s.asks > 0 && r.InFlight() > 0 {
		seldom = 15
	}
	if s.asks > 0 && s.rng.IntN(seldom) == 0 {
		s.asks--
		s.open = append(s.open, r.Checkpoint(""))
	}
}

// rest lets nothing happen until the storm brews again.
func (s *storm) rest() {
	s.asks, s.open = 0, nil
	s.run.CrashAfter(0)
}

// brew decides whether the run crashes soon, and takes a checkpoint before.
func (s *storm) brew(r *sim.Stepper) {
	if s.run != r {
		s.run, s.open = r, nil
	}
	s.asks = 3
	if s.left == 0 || s.rng.IntN(3) > 0 {
		return
	}
	s.left--
	if s.rng.IntN(2) == 0 {
		r.Run.Checkpoint("")
	}
	r.CrashAfter(1 + s.rng.IntN(300))
}

// spared says why a test is not run under storms; "" if it is.
func spared(t *check.Test) string {
	advanced := false
	for _, x := range t.Steps {
		switch {
		case x.Verb == "expect" && x.Mode == "changes" && x.Updating:
			return "`expect changes` depends on how rows come together"
		case x.Verb == "advance":
			advanced = true
		case x.Verb == "checkpoint":
			advanced = false
		case x.Verb == "crash" && advanced:
			return "it crashes without a checkpoint since its last `advance`, so rows are read again at another time"
		}
	}
	return ""
}
