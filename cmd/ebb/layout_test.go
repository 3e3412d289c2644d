package main

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/ebb-lang/ebb/"

// TestImportTable reads the import table out of ARCHITECTURE.md and fails on any edge that is not in it.
func TestImportTable(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)<!-- import table -->\n```\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, block, "ARCHITECTURE.md has no import table")
	allowed := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(block[1])), "\n") {
		from, to, ok := strings.Cut(line, "->")
		require.True(t, ok, line)
		for _, f := range strings.Fields(from) {
			allowed[f] = strings.Fields(to)
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "../../...").Output()
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		words := strings.Fields(line)
		from := strings.TrimPrefix(words[0], module)
		if strings.HasPrefix(from, "cmd/") || from == "examples" {
			continue // may import anything
		}
		to, ok := allowed[from]
		require.True(t, ok, "package %s is not in the import table of ARCHITECTURE.md", from)
		for _, imp := range words[1:] {
			if rel := strings.TrimPrefix(imp, module); rel != imp && !matches(to, rel) {
				t.Errorf("%s imports %s, which the import table of ARCHITECTURE.md does not allow", from, rel)
			}
		}
	}
}

func matches(patterns []string, pkg string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, pkg); ok {
			return true
		}
	}
	return false
}

// TestTopLevel keeps the folders of the repository to those of the layout.
func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir("../..")
	require.NoError(t, err)
	want := "lang planner exec checkpoint repl stdlib examples cmd docs bin"
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !strings.Contains(" "+want+" ", " "+e.Name()+" ") {
			t.Errorf("folder %s is not part of the layout", e.Name())
		}
	}
}

// TestSeam keeps time, chance and disk out of the engine except through exec.Env.
func TestSeam(t *testing.T) {
	out, err := exec.Command("grep", "-rnE", `time\.Now\(|math/rand|os\.(Open|Create|ReadFile|WriteFile)`, "--include=*.go", "--exclude=*_test.go", "../../exec", "../../checkpoint").Output()
	if err != nil && len(out) == 0 {
		return // grep found nothing
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if !strings.HasPrefix(line, "../../exec/env.go:") && !strings.HasPrefix(line, "../../checkpoint/disk/") && // the seam itself
			!strings.HasPrefix(line, "../../exec/sim/") { // the simulator owns chance
			t.Errorf("outside the seam: %s", line)
		}
	}
}
