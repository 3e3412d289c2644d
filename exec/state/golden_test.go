package state

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

var writeGolden = flag.Bool("write-golden", false, "write the newest form in testdata anew; only before an engine that writes it is released")

// forms are the ways in which what has changed was ever written, the newest last.
var forms = []string{"units", "words"}

// TestGolden reads a table that every form was written in: a base and a delta, of both of which rows changed while they
// were written.
func TestGolden(t *testing.T) {
	parts, want := goldenTable(t)
	newest := forms[len(forms)-1]
	for _, form := range forms {
		got := NewTable([]types.Type{types.T(types.String)}, 1)
		for i, made := range parts {
			name := fmt.Sprintf("testdata/%s-%d", form, i)
			if *writeGolden && form == newest {
				require.NoError(t, os.MkdirAll("testdata", 0o777))
				require.NoError(t, os.WriteFile(name, made, 0o666))
			}
			p, err := os.ReadFile(name)
			require.NoError(t, err)
			if form == newest {
				require.True(t, bytes.Equal(p, made), "it is written in another way, which needs a form of its own")
			}
			c := checkpoint.NewReader(1, p)
			require.NoError(t, got.Load(c))
			require.NoError(t, c.Done())
		}
		require.True(t, bytes.Equal(want, whole(got)), form)
	}
}

// goldenTable returns what is written of a table, and what is in it at the end.
func goldenTable(t *testing.T) (parts [][]byte, want []byte) {
	x, y := NewTable([]types.Type{types.T(types.String)}, 1), NewTable([]types.Type{types.T(types.String)}, 1)
	col := vec.New(types.T(types.String), 1)
	keys, hash, id := []*vec.Column{col}, []uint64{0}, []uint32{0}
	count := func(from, to, step int, in ...*Table) {
		for i := from; i < to; i += step {
			col.Strs[0] = fmt.Sprintf("the key of row %d, which is long", i)
			if i%3 == 0 {
				col.Strs[0] = fmt.Sprint(i)
			}
			vec.Hash(&vec.Batch{N: 1}, keys, hash)
			for _, x := range in {
				x.Lookup(keys, identity(1), hash, id, true)
				*x.Rows().Word(id[0], x.Off()) += uint64(i)
			}
		}
	}
	write := func(id, parent checkpoint.ID, between func()) {
		w := checkpoint.NewWriter(id, parent)
		w.AtOnce, w.Piece = -1, 500
		x.Freeze(w)
		w.Continue()
		w.Continue()
		between()
		for w.Continue() {
		}
		data, _, _ := w.Output()
		require.Equal(t, parent > 0, w.IsDelta())
		parts = append(parts, data)
	}
	count(0, 1500, 1, x, y)
	write(1, 0, func() { count(0, 1500, 100, x, y) })
	count(700, 760, 1, x, y)
	count(0, 1600, 25, x, y)
	write(2, 1, func() { count(0, 1500, 25, x) })
	return parts, whole(y)
}
