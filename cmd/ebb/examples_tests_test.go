package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExampleTests runs the tests that stand in the examples.
func TestExampleTests(t *testing.T) {
	cmd := exec.Command(filepath.Join(ebbDir(t), "ebb"), "test", "examples", "--chaos", "5")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `(?m)^([5-9]|[1-9][0-9]+) tests passed, `, string(out))
}
