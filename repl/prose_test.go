package repl

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
)

func TestFold(t *testing.T) {
	require.Equal(t, "a b c\n", fold("a b c\n", 5))
	require.Equal(t, strings.Repeat("word ", 20)+"\n", fold(strings.Repeat("word ", 20)+"\n", 0), "no terminal")
	for _, text := range []string{
		"1  demo: running for 3s\n   5 rows in (1.0k/s), 2 out (3/s), watermark 2026-01-31 09:01:35 (lag 3s)\n",
		"  .checkpoint   take a checkpoint of a job now; with a name it is kept, which may be long\n",
		"晴れの日には東京で 晴れの日には東京で 晴れの日には東京で\n",
	} {
		folded := fold(text, 40)
		require.Equal(t, strings.Fields(text), strings.Fields(folded))
		for _, line := range strings.Split(folded, "\n") {
			require.LessOrEqual(t, runewidth.StringWidth(line), 40, folded)
		}
	}
	require.Contains(t, fold("   5 rows in (1.0k/s), 2 out (3/s), watermark 2026-01-31 09:01:35\n", 40), "\n   watermark", "goes on below its beginning")
	for _, line := range strings.Split(fold(demoHints, 40), "\n") {
		require.True(t, runewidth.StringWidth(line) <= 40 || strings.HasPrefix(line, "    "), line)
	}
	const example = "    csv(\"a.csv\") |> where amount > 5 and amount < 10 and id != 7\n"
	require.Equal(t, example, fold(example, 40))
}

// narrow is a terminal of 40 columns and 10 lines.
type narrow struct{ *desk }

func (narrow) Size() (int, int) { return 40, 10 }

// What is said on a narrow terminal is folded at words, errors are cut to it, and what is higher than it goes to the pager.
func TestNarrowTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	d := &desk{answer: true}
	var paged bytes.Buffer
	s := New(narrow{d}, exec.OS, Options{Pager: func(int) (io.WriteCloser, error) { return nopCloser{&paged}, nil }})
	fits := func(text string) {
		t.Helper()
		for _, line := range strings.Split(text, "\n") {
			require.LessOrEqual(t, runewidth.StringWidth(line), 40, text)
		}
	}
	require.NoError(t, s.Eval(`source orders = rows([{id: 1, customer: "a", amount: 2.5}])`))
	s.Screen.Note(`nothing is written: a pipeline that ends in "into csv" is what a job runs; one without is shown at once`)
	fits(d.take())
	err := s.Do(Statement{Text: `orders |> where customer == "abc" and amuont > 5 and amount < 10`, Line: 1}, typedName)
	var wrong *ScriptError
	require.True(t, errors.As(err, &wrong))
	excerpt := strings.Split(err.Error(), "\n")
	fits(excerpt[1] + "\n" + excerpt[2])
	require.Contains(t, excerpt[1], "amuont")
	for _, l := range []string{`source b = nexmark("bid")`, `stream hot = b |> aggregate n = count(), best = max(price) by auction window tumbling(2s)`, `hot |> into csv("hot.csv")`} {
		require.NoError(t, s.Eval(l))
	}
	d.take()
	require.NoError(t, s.Eval(".lint W406"))
	excerpt = strings.Split(d.take(), "\n")
	fits(excerpt[1] + "\n" + excerpt[2])
	require.Contains(t, excerpt[2], "^")
	require.NoError(t, s.Eval(".help"))
	require.Contains(t, paged.String(), "time travel")
	fits(paged.String())
	require.Empty(t, d.take())
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
