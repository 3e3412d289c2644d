package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// Eight times as many stages take about eight times as long to plan, not sixty-four times.
func TestLongPipeline(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: takes long under the race detector")
	}
	lib, env := stdlib.New(), exec.OS()
	took := func(n int) time.Duration {
		var b strings.Builder
		b.WriteString("rows([{x: 1}])\n")
		for i := range n / 3 {
			fmt.Fprintf(&b, "  |> where x > -%d |> derive y = x + %d |> drop y\n", i, i)
		}
		start := time.Now()
		c, diags, err := planner.Compile("long.ebb", b.String(), lib, env, planner.Options{Parallelism: 1})
		require.NoError(t, err)
		require.Empty(t, diags)
		require.Len(t, c.Physical.Groups, 1)
		return time.Since(start)
	}
	short, long := took(1000), took(8000)
	for n := 0; n < 5 && long >= 32*short; n++ { // the machine may be busy
		long = min(long, took(8000))
	}
	t.Logf("%s and %s", short, long)
	require.Less(t, long, 32*short)
}
