package eval

import (
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
)

// Ctx is what an evaluation is told and what it tells back. It belongs to one task, which reuses it from batch to batch.
type Ctx struct {
	Now   int64  // processing time, nanoseconds since 1970: the value of now()
	Fails []Fail // rows that failed, in no order, at most a few a row; see Failed
}

// Fail is a row that could not be computed.
type Fail struct {
	Row int // physical row of the batch
	Err error
	Pos types.Place // of the part of the expression that failed
}

func (f Fail) Error() string {
	if f.Pos.File == "" {
		return f.Err.Error()
	}
	return f.Pos.String() + ": " + f.Err.Error()
}

// Reset forgets the failures and sets the time.
func (x *Ctx) Reset(now int64) {
	x.Now = now
	clear(x.Fails)
	x.Fails = x.Fails[:0]
}

// Failed returns the failures so far: one a row, the first that happened to it, by row.
func (x *Ctx) Failed() []Fail {
	if len(x.Fails) > 1 {
		slices.SortStableFunc(x.Fails, func(a, b Fail) int { return a.Row - b.Row })
		x.Fails = slices.CompactFunc(x.Fails, func(a, b Fail) bool { return a.Row == b.Row })
	}
	return x.Fails
}

// Drop removes the failed rows from sel (nil: the rows 0 to n-1) and returns what is left. sel is not changed.
func (x *Ctx) Drop(sel []uint32, n int) []uint32 {
	fails := x.Failed()
	if len(fails) == 0 {
		return sel
	}
	out := make([]uint32, 0, n)
	keep := func(row uint32) {
		for len(fails) > 0 && fails[0].Row < int(row) {
			fails = fails[1:]
		}
		if len(fails) == 0 || fails[0].Row != int(row) {
			out = append(out, row)
		}
	}
	if sel == nil {
		for i := range n {
			keep(uint32(i))
		}
	} else {
		for _, r := range sel {
			keep(r)
		}
	}
	return out
}
