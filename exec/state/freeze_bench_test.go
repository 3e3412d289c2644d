package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// counts is a keyed count.
type counts struct {
	t      *Table
	col    *vec.Column
	keys   []*vec.Column
	rows   []uint32
	hashes []uint64
	ids    []uint32
}

func newCounts() *counts {
	c := &counts{t: NewTable([]types.Type{types.T(types.Int)}, 1), col: vec.New(types.T(types.Int), vec.MaxRows), rows: identity(vec.MaxRows),
		hashes: make([]uint64, vec.MaxRows), ids: make([]uint32, vec.MaxRows)}
	c.keys = []*vec.Column{c.col}
	return c
}

// batch counts the keys in col.
func (c *counts) batch() {
	vec.Hash(&vec.Batch{N: vec.MaxRows}, c.keys, c.hashes)
	c.t.Lookup(c.keys, c.rows, c.hashes, c.ids, true)
	rows, off := c.t.Rows(), c.t.Off()
	for _, id := range c.ids {
		*rows.Word(id, off)++
	}
}

func (c *counts) random(rng *rand.Rand, n int) {
	for i := range c.col.Ints {
		c.col.Ints[i] = int64(rng.Uint64N(uint64(n)))
	}
}

// BenchmarkFreeze is a keyed count of five million keys: what a row costs without checkpoints, with them, and while one is
// written; and for how long a freeze and its pieces hold rows up. Run it with -benchtime 5x.
func BenchmarkFreeze(b *testing.B) {
	const n = 5_000_000
	c := newCounts()
	for from := 0; from < n; from += vec.MaxRows {
		for i := range c.col.Ints {
			c.col.Ints[i] = int64(from + i)
		}
		c.batch()
	}
	rng := rand.New(rand.NewPCG(1, 2))
	updates := func(b *testing.B, before func()) {
		for b.Loop() {
			b.StopTimer()
			c.random(rng, n)
			if before != nil {
				before()
			}
			b.StartTimer()
			c.batch()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vec.MaxRows, "ns/row")
	}
	b.Run("rows/never frozen", func(b *testing.B) { updates(b, nil) })
	id := checkpoint.ID(0)
	write := func(b *testing.B, parent checkpoint.ID, between func()) {
		var freezes, pieces []time.Duration
		var total time.Duration
		size := 0
		for b.Loop() {
			id++
			w := checkpoint.NewWriter(id, parent)
			at := time.Now()
			c.t.Freeze(w)
			freezes = append(freezes, time.Since(at))
			for more := true; more; {
				at := time.Now()
				more = w.Continue()
				d := time.Since(at)
				pieces = append(pieces, d)
				total += d
				if between != nil {
					between()
				}
			}
			size = w.Len()
			if parent > 0 {
				parent = id
			}
		}
		slices.Sort(freezes)
		slices.Sort(pieces)
		b.ReportMetric(float64(freezes[len(freezes)/2].Microseconds()), "µs/freeze")
		b.ReportMetric(float64(pieces[len(pieces)/2].Microseconds()), "µs/piece")
		b.ReportMetric(float64(pieces[len(pieces)*999/1000].Microseconds()), "µs/piece-p999")
		b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/pieces")
		b.ReportMetric(float64(size)/1e6, "MB")
	}
	b.Run("whole", func(b *testing.B) { write(b, 0, nil) })
	b.Run("whole, rows between", func(b *testing.B) {
		write(b, 0, func() {
			c.random(rng, n)
			c.batch()
		})
	})
	b.Run("rows/frozen", func(b *testing.B) { updates(b, nil) })
	for _, share := range []int{100, 10} {
		b.Run(fmt.Sprintf("delta of one row in %d", share), func(b *testing.B) {
			id++
			w := checkpoint.NewWriter(id, 0)
			c.t.Freeze(w)
			for w.Continue() {
			}
			for range n / share / vec.MaxRows {
				c.random(rng, n)
				c.batch()
			}
			c.t.rows.track.settle()
			dirty := c.t.rows.track.dirty
			write(b, id, func() { copy(c.t.rows.track.dirty, dirty) })
		})
	}
	b.Run("touch", func(b *testing.B) { // what tracking adds to a batch
		for b.Loop() {
			c.t.rows.TouchAll(c.ids)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vec.MaxRows, "ns/row")
	})
	b.Run("load", func(b *testing.B) {
		w := checkpoint.NewWriter(1, 0)
		c.t.Freeze(w)
		for w.Continue() {
		}
		data, _, _ := w.Output()
		for b.Loop() {
			t := NewTable([]types.Type{types.T(types.Int)}, 1)
			if err := t.Load(checkpoint.NewReader(1, data)); err != nil {
				b.Fatal(err)
			}
			t.indexed()
		}
	})
}
