package repl

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/repl/term"
)

func piped(t *testing.T, text string, keepGoing bool) (out, notes string, failed bool) {
	t.Helper()
	t.Chdir(t.TempDir())
	var o, n bytes.Buffer
	p := term.NewPlain(strings.NewReader(text), &o, &n, make(chan struct{}))
	failed, err := New(p, exec.OS, Options{Output: "csv"}).Read(p, keepGoing)
	require.NoError(t, err)
	return o.String(), n.String(), failed
}

func TestReadPipeErrors(t *testing.T) {
	_, notes, failed := piped(t, "let a = 1\n\n\nlet b = c\n.nope\n", true)
	require.True(t, failed)
	require.Contains(t, notes, "<stdin>:4:9: error[")
	require.Contains(t, notes, "unknown command .nope")
	_, notes, failed = piped(t, "let b = c\n.nope\n", false)
	require.True(t, failed)
	require.NotContains(t, notes, ".nope")
}

// A fault in a command is shown, and the session goes on.
func TestPanicIsAnError(t *testing.T) {
	before := commands
	defer func() { commands = before }()
	command(Command{Name: "zzz", Group: "session", Run: func(*Session, *Args) error { panic("a fault") }})
	_, notes, failed := piped(t, ".zzz\nlet b = c\n", true)
	require.True(t, failed)
	require.Contains(t, notes, "internal error: a fault")
	require.Contains(t, notes, "serve_test.go")
	require.Contains(t, notes, "<stdin>:2:9")
}

func TestUnits(t *testing.T) {
	require.Equal(t, []Statement{{"stream a = b\n\nstream b = c\n|> limit 1", 1}, {".jobs", 5}, {"a", 6}},
		units(term.Input{Text: "\nstream a = b\n\nstream b = c\n|> limit 1\n.jobs\na\n", Pasted: true}))
	require.Equal(t, []Statement{{"  |> limit 1", 1}}, units(term.Input{Text: "  |> limit 1"}))
}
