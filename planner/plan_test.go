package planner

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// TestPlan compares the plans of scripts with golden text: `logical`, `physical`, `dot`, `mermaid` or `json`, with an
// optional parallelism.
func TestPlan(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			o := Options{Parallelism: 2, Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": "jsonl"}}}
			for _, a := range d.CmdArgs {
				if a.Key == "parallelism" {
					n, err := strconv.Atoi(a.Vals[0])
					require.NoError(t, err)
					o.Parallelism = n
				}
			}
			c, diags, err := Compile("plan.ebb", d.Input, stdlib.New(), exec.OS(), o)
			require.NoError(t, err)
			if c == nil {
				var s strings.Builder
				for _, x := range diags {
					s.WriteString(check.Render(x))
				}
				return s.String()
			}
			switch d.Cmd {
			case "logical":
				return c.Physical.Logical.Text()
			case "physical":
				return c.Physical.Text()
			case "dot":
				return c.Physical.Dot(nil)
			case "mermaid":
				return c.Physical.Mermaid()
			case "json":
				text, err := c.Physical.JSON()
				require.NoError(t, err)
				return text
			}
			return fmt.Sprintf("unknown command %q", d.Cmd)
		})
	})
}

// Which rows fail does not depend on where the plan has a filter, however seldom it is that one fails.
func TestFiltersStayBehindWhatFails(t *testing.T) {
	for name, stage := range map[string]string{
		"time":  "derive e = at + d",
		"scale": "derive e = d * f",
		"unit":  "derive e = truncate(at, u)",
		"zone":  "derive e = hour(at, u)",
		"range": "derive e = 1..n",
		"text":  "derive e = repeat(u, n)",
	} {
		got := runIn(t, t.TempDir(), `rows([{x: 1, at: @2200-01-01, d: 36500d, f: 1e9, u: "nowhere", n: 1_000_000_000}]) |> `+stage+` |> where x > 5 |> select x`, sizes{parallelism: 1}, nil)
		require.Empty(t, got.refused, name)
		require.NoError(t, got.err, name) // nothing reads what fails
		got = runIn(t, t.TempDir(), `rows([{x: 1, at: @2200-01-01, d: 36500d, f: 1e9, u: "nowhere", n: 1_000_000_000}]) |> `+stage+` |> where x > 5`, sizes{parallelism: 1}, nil)
		require.Empty(t, got.refused, name)
		require.Error(t, got.err, name)
	}
}
