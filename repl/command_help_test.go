package repl

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/stdlib"
)

// on evaluates lines in a new session and returns what they show; the last may fail.
func on(t *testing.T, width int, lines ...string) (string, error) {
	t.Helper()
	p := &paper{width: width}
	s := New(p, exec.OS, Options{})
	for i, l := range lines {
		if err := s.Eval(l); err != nil {
			require.Equal(t, len(lines)-1, i, "%s: %v", l, err)
			return p.String(), err
		}
	}
	return p.String(), nil
}

func TestHelp(t *testing.T) {
	out, err := on(t, 0, ".help")
	require.NoError(t, err)
	for _, c := range Commands() {
		require.Contains(t, out, "  ."+c.Name+" ", "every command is listed")
		require.Contains(t, groups, c.Group, ".%s is of a group of .help", c.Name)
	}
	for name, want := range map[string]string{
		"where": "rows", "csv": "options", "count": "count", "N150": "N150 ", "n100": "N100 unknown-stream-or-source\n\nError. An unknown stream", "[P001]": "P001 single-pipe",
		".quit": "usage", "quit": ".quit", "catalog": "Connectors", "codes": "P099  error          Too many errors.",
	} {
		out, err := on(t, 0, ".help "+name)
		require.NoError(t, err, name)
		if want != "usage" {
			require.Contains(t, out, want, name)
		}
	}
	for name, want := range map[string]string{
		"wher": `nothing is called "wher"; did you mean ` + "`where`?", "hlep": "did you mean `.help`?", "N199": "did you mean `N1", "\"\"": "nothing is called",
		"a b": "usage: .help [NAME]",
	} {
		_, err := on(t, 0, ".help "+name)
		if name == `""` {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want, name)
	}
}

// TestVoice keeps the texts of all commands to one form.
func TestVoice(t *testing.T) {
	for _, c := range Commands() {
		require.NotEmpty(t, c.Summary, c.Name)
		require.False(t, strings.HasSuffix(c.Summary, "."), ".%s: the summary is a line of a list, without a full stop", c.Name)
		require.Equal(t, strings.ToLower(c.Summary[:1]), c.Summary[:1], ".%s: the summary begins with a small letter", c.Name)
		require.LessOrEqual(t, len(c.Summary), 100, ".%s: the summary fits a line", c.Name)
		if c.Text != "" {
			require.True(t, strings.HasSuffix(strings.TrimSpace(c.Text), "."), ".%s: the text is sentences", c.Name)
		}
		for _, f := range c.Flags {
			require.NotEmpty(t, f.Text, ".%s %s", c.Name, f.Name)
			require.Contains(t, c.Args, f.Name, ".%s: the usage names the flag %s", c.Name, f.Name)
		}
		require.Contains(t, Manual(), "### ."+c.Name+"\n")
	}
	require.NotEmpty(t, Topics(stdlib.New()))
	greeting := strings.Split(Greeting("v1"), "\n")
	require.Len(t, greeting, 3)
	s := newSession(t, 0, Options{})
	s.say(strings.TrimSpace(greeting[1]))
	out, _ := s.say(strings.TrimSpace(greeting[2]))
	require.Equal(t, 5, strings.Count(out, "\n"), "the greeting shows what works")
}

func TestHelpFitsTheTerminal(t *testing.T) {
	for _, name := range []string{"", "run", "csv", "codes", "catalog"} {
		out, err := on(t, 80, ".help "+name)
		require.NoError(t, err)
		whole, err := on(t, 0, ".help "+name)
		require.NoError(t, err)
		require.Equal(t, strings.Fields(whole), strings.Fields(out), "nothing is lost")
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "    ") || strings.HasPrefix(line, strings.Repeat(" ", 15)) {
				require.LessOrEqual(t, runewidth.StringWidth(strings.TrimSuffix(line, "\n")), 80, line)
			}
		}
	}
}

// What other tools call our commands is understood, or says how it is written here.
func TestOtherCommands(t *testing.T) {
	for word, own := range otherCommands {
		require.NotNil(t, findCommand(own), word)
		require.Nil(t, findCommand(word), word)
	}
	require.Equal(t, "help", commandOf("doc").Name)
	require.Equal(t, "quit", commandOf("exit").Name)
	require.Nil(t, commandOf("nothing"))
}
