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
