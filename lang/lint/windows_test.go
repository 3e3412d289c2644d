package lint_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// TestLateDropChangesNothing: with the fix of W406 a script has the plan that it had.
func TestLateDropChangesNothing(t *testing.T) {
	all := scriptsOf(t)
	t.Chdir("testdata/files")
	lib, env := stdlib.New(), exec.OS().ReadOnly()
	where := regexp.MustCompile(`case\.ebb:\d+:\d+`)
	plan := func(text string) string {
		c, _, err := planner.Compile(caseName, text, lib, env, planner.Options{Parallelism: 4})
		require.NoError(t, err)
		if c == nil {
			return "" // it has errors
		}
		out, err := c.Explain("")
		require.NoError(t, err)
		return where.ReplaceAllString(strings.ReplaceAll(out, " late drop", ""), "")
	}
	fixed := 0
	for _, text := range all {
		if strings.HasPrefix(text, "-- ") {
			continue
		}
		for _, f := range with("W406", looked(t, text)) {
			after := lint.Apply(text, f.Fix.Edits)
			require.NotEqual(t, text, after)
			require.Equal(t, plan(text), plan(after), text)
			fixed++
		}
	}
	require.Greater(t, fixed, 20)
}
