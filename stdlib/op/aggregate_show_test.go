package op

import (
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

func TestAggregateShows(t *testing.T) {
	kinds := append([]*types.Window{nil, {Kind: types.Session, Size: 5}, {Kind: types.CountWindow, Size: 3}, {Kind: types.Session, Size: 5, Max: 6}}, aligned...)
	rapid.Check(t, func(t *rapid.T) {
		a := drawTest(t, kinds)
		for i := range a.rows {
			a.rows[i].mark = types.MinInstant // none is late
			a.rows[i].split = 0
		}
		ordered := a.args.Window != nil && (a.args.Window.Kind == types.CountWindow || a.args.Window.Max > 0)
		if form := rapid.IntRange(0, 3).Draw(t, "form"); form > 0 && !ordered {
			a.args.Emit = types.Emit{Set: true, Changes: form < 3}
			if form == 2 {
				a.args.Emit.Every = 5
			}
			if form == 3 && a.args.Window != nil {
				a.args.Late = types.Late{Set: true, Allow: 15}
			}
		}
		c := a.context(a.finish(t))
		op, err := newAggregate(c)
		require.NoError(t, err)
		choose := chooser(t)
		for left := a.rows; len(left) > 0; {
			n := min(1+choose(8), len(left))
			require.NoError(t, op.Process(0, a.batch(left[:n]), exec.NewTap(nil)))
			left = left[n:]
		}
		var got []string
		require.NoError(t, exec.Show(op, exec.NewTap(func(_ int, it exec.Item) {
			for i := range it.Batch.Rows() {
				r := it.Batch.Row(i)
				require.True(t, it.Batch.Change == nil || !it.Batch.Change[r].Retracts())
				got = append(got, rowText(it.Batch, r))
			}
		})))
		sort.Strings(got)
		want, _ := a.expect()
		require.Equal(t, want, got)
	})
}
