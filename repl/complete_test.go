package repl

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/repl/term"
)

func completingSession(t *testing.T, script string) *Session {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("orders.csv", []byte("id,customer,amount\n1,ann,5\n"), 0o666))
	require.NoError(t, os.MkdirAll("older", 0o777))
	s := New(term.NewPlain(strings.NewReader(""), io.Discard, io.Discard, nil), exec.OS, Options{})
	require.NoError(t, s.Eval(script))
	return s
}

func TestComplete(t *testing.T) {
	s := completingSession(t, "source orders = csv(\"orders.csv\")\nlet amount_limit = 3\nstream big = orders |> where amount > amount_limit |> derive twice = amount * 2")
	for text, want := range map[string]string{
		"orders |> wh":                        "where",
		"orders |>\n  agg":                    "aggregate",
		"orders |> where am":                  "amount amount_limit",
		"big |> select tw":                    "twice",
		"big |> drop twice |> where tw":       "",
		"stream x = big |> select id, tw":     "twice",
		"big |> aggregate n = count() by cus": "customer",
		"orders |> where upp":                 "upper",
		"csv(\"ord":                           "orders.csv",
		"csv(\"o":                             "older/ orders.csv",
		"csv(\"orders.csv\", foll":            "follow:",
		"orders |> into json":                 "json jsonl",
		"stre":                                "stream",
		"bi":                                  "big",
		"orders |> left join bi":              "big",
		".sch":                                ".schema",
		".schema b":                           "big",
		".load ord":                           "orders.csv",
		"?whe":                                "where",
		"orders // wh":                        "",
		".nothing x":                          "",
	} {
		from, words := s.Complete(text)
		require.LessOrEqual(t, from, len(text))
		if text == "orders |> into json" {
			require.Contains(t, words, "jsonl")
			continue
		}
		require.Equal(t, want, strings.Join(words, " "), "%q", text)
	}
	require.NoError(t, s.Eval("orders"))
	_, words := s.Complete("  |> where cust")
	require.Equal(t, []string{"customer"}, words)
}

// Tab answers before a person notices, in a long session, too.
func TestCompleteIsQuick(t *testing.T) {
	var script strings.Builder
	script.WriteString("source orders = csv(\"orders.csv\")\n")
	for i := range 200 {
		fmt.Fprintf(&script, "stream s%d = orders |> where amount > %d |> derive x%d = amount * %d\n", i, i, i, i)
	}
	s := completingSession(t, script.String())
	var worst time.Duration
	for i := range 20 {
		start := time.Now()
		_, words := s.Complete(fmt.Sprintf("s%d |> where x", i*10))
		worst = max(worst, time.Since(start))
		require.Equal(t, []string{fmt.Sprintf("x%d", i*10), "xxh3"}[:1], words[:1])
	}
	t.Logf("longest %s", worst)
	require.Less(t, worst, 5*time.Second) // 50 ms on an idle machine
}

// Whatever is typed, completion gives an answer.
func FuzzComplete(f *testing.F) {
	for _, text := range []string{"csv(\"", "a |> where (", "?", ".load \"x", "stream x = y |> ", "/* ", "|> "} {
		f.Add(text)
	}
	s := New(term.NewPlain(strings.NewReader(""), io.Discard, io.Discard, nil), exec.OS, Options{})
	f.Fuzz(func(t *testing.T, text string) {
		if from, _ := s.Complete(text); from < 0 || from > len(text) {
			t.Fatalf("%q: %d", text, from)
		}
	})
}
