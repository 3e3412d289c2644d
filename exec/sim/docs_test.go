package sim_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultsInDocs compares the faults that docs/checkpoints-proof.md lists with those that are switched on.
func TestFaultsInDocs(t *testing.T) {
	names := func(file, pattern string) (out []string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			out = append(out, m[1])
		}
		return out
	}
	have := names("mutants_test.go", `(?m)^\t\{"([a-z0-9-]+)", ".*", "[a-zA-Z ./]*"\},$`)
	require.Greater(t, len(have), 50)
	require.Equal(t, append([]string{"fault"}, have...), names("../../docs/checkpoints-proof.md", `(?m)^\| ([a-z0-9-]+) \| .* \| .* \| .* \| .* \|$`))
}
