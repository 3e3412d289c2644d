package eval

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// TestTooLongTextFailsItsRow doubles texts: the row that would be too long fails, its neighbour does not.
func TestTooLongTextFailsItsRow(t *testing.T) {
	s := types.NewSchema(types.Field{Name: "s", Type: types.T(types.String)})
	col := types.ColRef(s, 0)
	p, err := Compile(&types.Expr{Op: types.OpCall, Name: "+", Type: types.T(types.String), Args: []*types.Expr{col, col}}, nil)
	require.NoError(t, err)
	b := &vec.Batch{N: 2, Cols: []*vec.Column{{Type: types.T(types.String), Strs: []string{strings.Repeat("x", vec.MaxValue/2+1), "ab"}}}}
	x := &Ctx{}
	out := p.Eval(x, b, nil)
	require.Len(t, x.Failed(), 1)
	require.Equal(t, 0, x.Failed()[0].Row)
	require.ErrorContains(t, x.Failed()[0].Err, "more than the 64 MiB")
	require.Equal(t, "abab", out.Strs[1])
}
