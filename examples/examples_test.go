// Package examples proves the scripts of this folder: each is run at several parallelisms and must give what lies beside it.
package examples

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the scripts give as what is wanted")

var ebb string // the binary under test

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "ebb")
	if err != nil {
		panic(err)
	}
	ebb = filepath.Join(dir, "ebb")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", ebb, "../cmd/ebb").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build ebb: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// wanted is the folder with what an example gives: a file for each output, `stdout` for what it prints.
func wanted(script string) string { return strings.TrimSuffix(script, ".ebb") + ".want" }

func TestExamples(t *testing.T) {
	scripts, err := filepath.Glob("*/*.ebb")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	widths := []int{1, 2, 5}
	if *update {
		widths = widths[:1]
	}
	for _, script := range scripts {
		for _, parallelism := range widths {
			t.Run(fmt.Sprintf("%s/%d", script, parallelism), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				inputs := copyTree(t, filepath.Dir(script), dir)
				got := runExample(t, dir, filepath.Base(script), parallelism, inputs)
				if *update {
					write(t, wanted(script), got)
				}
				want := read(t, wanted(script))
				require.Equal(t, names(want), names(got))
				for name := range want {
					require.Equal(t, canonical(want[name]), canonical(got[name]), name)
				}
			})
		}
	}
}

// canonical is an output with its rows sorted: rows of different keys may come in any order.
func canonical(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func names(m map[string]string) []string {
	var out []string
	for n := range m {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// runExample runs a script in dir and returns what it printed and each file that it made.
func runExample(t *testing.T, dir, script string, parallelism int, inputs map[string]bool) map[string]string {
	cmd := exec.Command(ebb, "run", script, "--parallelism", fmt.Sprint(parallelism))
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	require.Empty(t, stderr.String())
	got := map[string]string{}
	if stdout.Len() > 0 {
		got["stdout"] = stdout.String()
	}
	for name, text := range read(t, dir) {
		if !inputs[name] {
			got[name] = text
		}
	}
	return got
}

// copyTree copies the inputs of an example and returns their names.
func copyTree(t *testing.T, from, to string) map[string]bool {
	inputs := map[string]bool{}
	for name, text := range read(t, from) {
		if strings.Contains(name, ".want"+string(filepath.Separator)) {
			continue
		}
		inputs[name] = true
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(to, name), []byte(text), 0o666))
	}
	return inputs
}

func read(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(b)
		return err
	})
	require.NoError(t, err)
	return out
}

func write(t *testing.T, dir string, files map[string]string) {
	require.NoError(t, os.RemoveAll(dir))
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
}
