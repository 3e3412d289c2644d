package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/repl"
	"github.com/ebb-lang/ebb/stdlib"
)

// TestReferenceExamples runs the example of every stage, connector, aggregate and word of the grammar; those of functions of the
// catalog are run by their own package. Every definition must have one.
func TestReferenceExamples(t *testing.T) {
	bin := filepath.Join(ebbDir(t), "ebb")
	lib := stdlib.New()
	for _, kind := range []string{"statement", "stage", "clause", "window", "conn", "agg", "func"} {
		for _, d := range lib.Docs(kind) {
			if kind == "func" && lib.Func(d.Name) != nil {
				continue
			}
			t.Run(kind+"/"+d.Name, func(t *testing.T) {
				t.Parallel()
				require.NotEmpty(t, d.Text)
				require.NotEmpty(t, d.Signature)
				require.True(t, len(d.Examples) > 0 || kind == "statement" || kind == "clause", "%s has no example", d.Name)
				for _, e := range d.Examples {
					cmd := exec.Command(bin, "run", "-", "--output", "jsonl", "--parallelism", "1")
					cmd.Dir = fixtures(t)
					cmd.Stdin = strings.NewReader(e.Code)
					var out, errs bytes.Buffer
					cmd.Stdout, cmd.Stderr = &out, &errs
					require.NoError(t, cmd.Run(), "%s\n%s", e.Code, errs.String())
					require.Equal(t, strings.TrimSpace(e.Want), strings.TrimSpace(out.String()), e.Code)
				}
			})
		}
	}
	for _, d := range lib.Docs("func") {
		require.NotEmpty(t, d.Examples, "function %s has no example", d.Name)
	}
}

// fixtures is a folder with the files that the examples of the reference speak of.
func fixtures(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"orders.csv":   "id,customer,amount\n1,ada,12.5\n2,bob,99\n",
		"orders.jsonl": "{\"id\":1,\"customer\":\"ada\",\"amount\":12.5}\n{\"id\":2,\"customer\":\"bob\",\"amount\":99}\n",
		"access.log":   "GET /index.html 200\nGET /missing 404\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// TestReferenceIsUpToDate compares docs/reference.md, docs/repl.md and docs/lint.md with what the definitions say.
func TestReferenceIsUpToDate(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference.md")
	require.NoError(t, err)
	require.Equal(t, stdlib.New().Reference(), string(text), "run `make gen`")
	text, err = os.ReadFile("../../docs/repl.md")
	require.NoError(t, err)
	require.Equal(t, repl.Manual(), string(text), "run `make gen`")
	text, err = os.ReadFile("../../docs/lint.md")
	require.NoError(t, err)
	require.Equal(t, lint.Manual(), string(text), "run `make gen`")
}
