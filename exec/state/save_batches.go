package state

import (
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Save writes the rows in the order in which they came, those of a batch in order of time.
func (u *Buffer) Save(w *checkpoint.Writer) {
	runs := u.inOrder()
	batches := make([]*vec.Batch, len(runs))
	for i, r := range runs {
		batches[i] = r.rest()
	}
	SaveBatches(w, batches)
}

// SaveBatches writes batches, what does not fit at once in pieces.
func SaveBatches(w *checkpoint.Writer, batches []*vec.Batch) {
	w.Uint(uint64(len(batches)))
	size := 0
	for _, b := range batches {
		size += b.Bytes()
	}
	write := func(w *checkpoint.Writer) bool {
		if len(batches) > 0 {
			w.Append(func(p []byte) []byte { return vec.AppendBlock(p, batches[0]) })
			batches = batches[1:]
		}
		return len(batches) > 0
	}
	if !w.Fits(size) {
		batches = slices.Clone(batches) // the caller goes on with its own
		w.Later(size, write)
		return
	}
	for write(w) {
	}
}

// LoadBatches reads what SaveBatches wrote; see LoadBatch.
func LoadBatches(c *checkpoint.Reader, ts []types.Type) []*vec.Batch {
	var out []*vec.Batch
	for range c.Count(4) {
		b := LoadBatch(c, ts)
		if b == nil {
			return nil
		}
		out = append(out, b)
	}
	return out
}

// inOrder returns the runs in the order in which they came.
func (u *Buffer) inOrder() []*run {
	runs := slices.Clone(u.runs)
	slices.SortFunc(runs, func(a, b *run) int { return a.seq - b.seq })
	return runs
}

// rest returns the rows that are left of a run.
func (r *run) rest() *vec.Batch { return r.b.Select(r.sel[r.at:]) }

// Load reads what Save wrote. The rows have columns of the types.
func (u *Buffer) Load(c *checkpoint.Reader, ts []types.Type) error {
	*u = Buffer{}
	for _, b := range LoadBatches(c, ts) {
		if b.Time == nil {
			c.Fail("kept rows have no event time")
			*u = Buffer{}
			break
		}
		u.Add(b)
	}
	return c.Err()
}

// LoadBatch reads a block of vec.AppendBlock whose columns must have the types; nil after an error.
func LoadBatch(c *checkpoint.Reader, ts []types.Type) *vec.Batch {
	var b *vec.Batch
	c.Rest(func(p []byte) (rest []byte, err error) {
		b, rest, err = vec.DecodeBlock(p)
		return rest, err
	})
	if c.Err() != nil {
		return nil
	}
	same := len(b.Cols) == len(ts)
	for i := 0; same && i < len(ts); i++ {
		same = b.Cols[i].Type.Same(ts[i])
	}
	if !same {
		c.Fail("saved rows have other columns")
		return nil
	}
	return b
}
