package exec

import (
	"cmp"

	"github.com/ebb-lang/ebb/exec/vec"
)

// Pace decides how many rows of a batch a step takes, so that a step lasts about a millisecond however slow an operator
// or sink is: a barrier never waits for more than that, or for one row. An operator that makes many rows of few has one of
// its own for what it gives out: what follows it may do the same.
type Pace struct {
	First int // rows of the first step, while the cost is not known; 0: firstRows
	max   int
}

const (
	stepTime  = 1e6 // nanoseconds
	firstRows = 16  // each may make a list of millions; but what a few rows change should come as one change
)

// Rows returns how many rows the next step may take.
func (p *Pace) Rows() int {
	if p.max == 0 {
		p.max = cmp.Or(p.First, firstRows)
	}
	return p.max
}

// Took tells how long a number of rows took. One slow step, such as one in which the machine did something else, is
// made up for within a few.
func (p *Pace) Took(rows int, ns int64) {
	if ns <= 0 {
		ns = 1
	}
	fit := int64(rows) * stepTime / ns
	p.max = int(max(1, min(fit, int64(p.max)*8, vec.MaxRows)))
}

// piece returns how many of n rows a step takes that may take max: all, if what remained would not be worth a step of
// its own. Where a row takes long, each is.
func piece(n, max int) int {
	if n <= max || n <= 2*max && max >= worthRows {
		return n
	}
	return max
}

const worthRows = 32
