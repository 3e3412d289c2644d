package syntax

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFound keeps what fuzzing has found: texts on which Parse once panicked or left a hole among the statements.
func TestFound(t *testing.T) {
	for _, text := range []string{
		" pattern{A\"000000",
		"000000(\nA)\nA",
	} {
		script, diags := Parse("found.ebb", text)
		require.NotEmpty(t, diags, "%q", text)
		for _, s := range script.Stmts {
			require.NotNil(t, s, "%q", text)
		}
	}
}
