package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProofs looks for every test that docs/proofs.md names, in its package; for a part of one, in the tests of the package
// or as a page or a story of its testdata; and for every fault, in the list of faults.
func TestProofs(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "proofs.md"))
	require.NoError(t, err)
	sources := map[string]string{}
	named := regexp.MustCompile(`\b([a-z]+(?:/[a-z]+)?)\.((?:Test|Fuzz)[A-Za-z0-9]+)(?:/([a-z_]+))?`).FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(named), 80)
	for _, m := range named {
		dir, test, part := filepath.Join(root, m[1]), m[2], m[3]
		if sources[dir] == "" {
			files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
			require.NoError(t, err)
			for _, f := range files {
				text, err := os.ReadFile(f)
				require.NoError(t, err)
				sources[dir] += string(text)
			}
		}
		require.True(t, strings.Contains(sources[dir], "func "+test+"("), "docs/proofs.md: %s", m[0])
		if part == "" || strings.Contains(sources[dir], `"`+strings.ReplaceAll(part, "_", " ")+`"`) {
			continue
		}
		pages, err := filepath.Glob(filepath.Join(dir, "testdata", "*", part))
		require.NoError(t, err)
		stories, err := filepath.Glob(filepath.Join(dir, "testdata", part+".txtar"))
		require.NoError(t, err)
		require.NotEmpty(t, append(pages, stories...), "docs/proofs.md: %s", m[0])
	}
	bugs := regexp.MustCompile(`(?s)## Bugs that others have had.*`).FindString(string(page))
	faults, err := os.ReadFile(filepath.Join(root, "docs", "checkpoints-proof.md"))
	require.NoError(t, err)
	used := regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(bugs, -1)
	require.Greater(t, len(used), 50)
	for _, m := range used {
		require.True(t, strings.Contains(string(faults), "\n| "+m[1]+" | "), "docs/proofs.md: fault %s", m[1])
	}
	for _, row := range regexp.MustCompile(`(?m)^\| .*`).FindAllString(bugs, -1)[1:] {
		require.Regexp(t, "`[a-z-]+`|Test[A-Z]|does not apply: ", row, "docs/proofs.md")
	}
}
