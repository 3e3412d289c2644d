package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocs executes every block of README.md and docs/*.md. A block tagged with a file name is written; `ebb` blocks
// are run and print the `text` block after them; the commands of a `console` block print what stands below them.
func TestDocs(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	pages = append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "ARCHITECTURE.md"))
	bin := ebbDir(t)
	for _, page := range pages {
		switch filepath.Base(page) {
		case "reference.md": // its examples are run from the definitions, by TestReferenceExamples
			continue
		case "tour.md": // is one session, see TestSessions
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			runPage(t, string(text), root, bin)
		})
	}
}

var fence = regexp.MustCompile("(?ms)^```(\\w*) ?([^\n]*)\n(.*?)^```$")

func runPage(t *testing.T, text, root, bin string) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples")))
	blocks := fence.FindAllStringSubmatch(text, -1)
	for i, b := range blocks {
		kind, name, body := b[1], b[2], b[3]
		switch {
		case name != "":
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666))
			if kind == "ebb" {
				shell(t, dir, root, bin, "ebb check "+name)
			}
		case kind == "ebb":
			cmd := exec.Command(filepath.Join(bin, "ebb"), "run", "-")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(body)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if i+1 < len(blocks) && blocks[i+1][1] == "text" {
				require.Equal(t, blocks[i+1][3], out.String()+errs.String(), "the output of\n%s", body)
				continue
			}
			require.NoError(t, err, "%s\n%s", body, errs.String())
		case kind == "console":
			console(t, body, dir, root, bin)
		case kind == "sh":
			for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
				if !documented(t, line, root) {
					shell(t, dir, root, bin, line)
				}
			}
		case kind == "session": // by TestSessions
		case kind == "text", kind == "":
		default:
			t.Errorf("block of kind %q is not executed", kind)
		}
	}
}

// documented reports whether a command is run by CI itself instead of here, and checks that it really is.
func documented(t *testing.T, line, root string) bool {
	switch {
	case strings.HasPrefix(line, "go test"):
		ci, err := os.ReadFile(filepath.Join(root, ".ci/run"))
		require.NoError(t, err)
		require.Contains(t, string(ci), line, ".ci/run must call the documented test command")
		return true
	case strings.HasPrefix(line, "make "):
		makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
		require.NoError(t, err)
		for _, target := range strings.Fields(line)[1:] {
			require.Contains(t, string(makefile), "\n"+target+":", "a target of the Makefile")
		}
		return true
	case strings.HasPrefix(line, "git clone"), strings.HasPrefix(line, "cd "):
		return true // of this repository, which is here
	}
	return false
}

// console runs the `$ ` lines of a block; what each prints must be the lines below it.
func console(t *testing.T, body, dir, root, bin string) {
	lines := strings.SplitAfter(body, "\n")
	for i := 0; i < len(lines); {
		command, ok := strings.CutPrefix(lines[i], "$ ")
		require.True(t, ok || strings.TrimSpace(lines[i]) == "", "a console block starts with a command: %q", lines[i])
		i++
		want := ""
		for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") {
			want += lines[i]
			i++
		}
		if ok {
			require.Equal(t, want, shell(t, dir, root, bin, strings.TrimSpace(command)), "the output of %s", command)
		}
	}
}

func shell(t *testing.T, dir, root, bin, command string) string {
	t.Helper()
	if strings.HasPrefix(command, "go run ") {
		dir = root
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("PATH=%s:%s", bin, os.Getenv("PATH")), "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	if strings.HasPrefix(command, "ebb check") || strings.HasPrefix(command, "go run") {
		require.NoError(t, err, "%s\n%s", command, out)
	}
	return string(out)
}
