package lint_test

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// scriptsOf are the examples and cases of all rules.
func scriptsOf(t *testing.T) (all []string) {
	for _, r := range lint.Rules() {
		all = append(all, r.Bad, r.Good)
	}
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, block := range strings.Split(string(text), "\n\n") {
			_, script, _ := strings.Cut(block, "\n")
			script, _, is := strings.Cut(script, "----\n")
			if is && len(txtar.Parse([]byte(script)).Files) == 0 {
				all = append(all, script)
			}
		}
	}
	require.Greater(t, len(all), 100)
	return all
}

// TestAnyText: whatever the text is, no rule panics, and what it finds and mends lies in the text. Texts are those of the rules with
// tokens taken out, doubled, exchanged and put in from others.
func TestAnyText(t *testing.T) {
	all := scriptsOf(t)
	t.Chdir("testdata/files")
	r := rand.New(rand.NewSource(6))
	rounds := 1500
	if testing.Short() {
		rounds = 300
	}
	for range rounds {
		text := all[r.Intn(len(all))]
		if r.Intn(3) == 0 { // a script that is right, with another one behind it
			text += all[r.Intn(len(all))]
		}
		for range r.Intn(4) {
			text = damaged(r, text, all[r.Intn(len(all))])
		}
		func() {
			defer func() {
				if x := recover(); x != nil {
					t.Errorf("panic %v in\n%s", x, text)
					panic(x)
				}
			}()
			looked(t, text)
		}()
	}
}

// damaged changes a token of a text.
func damaged(r *rand.Rand, text, other string) string {
	pick := func(s string) (from, to int) {
		toks, _ := syntax.Lex(syntax.NewSource("", s))
		k := toks[r.Intn(len(toks))]
		return k.Span.Start.Offset, k.Span.End.Offset
	}
	from, to := pick(text)
	switch r.Intn(4) {
	case 0:
		return text[:from] + text[to:]
	case 1:
		return text[:to] + " " + text[from:]
	case 2:
		a, b := pick(text)
		return text[:from] + text[a:b] + text[to:]
	}
	a, b := pick(other)
	return text[:from] + other[a:b] + text[to:]
}

// TestLongScript: thousands of stages, which a few pipes make, take the linter no longer than the checker, about. Each with each
// would take minutes.
func TestLongScript(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, many texts: takes minutes under the race detector")
	}
	text := "source a = csv(\"in.csv\", follow: true) schema { price: float, n: int, at: time } time at lag 5s\n" +
		"pipe p0() = select price, n, at |> aggregate n = count(), at = max(event_time()) by price window tumbling(1s)\n"
	for i := 1; i <= 12; i++ {
		text += fmt.Sprintf("pipe p%d() = p%d() |> p%d()\n", i, i-1, i-1)
	}
	text += "a |> p12() |> into csv(\"out.csv\")\n"
	started := time.Now()
	require.NotEmpty(t, with("W402", looked(t, text)))
	require.Less(t, time.Since(started), 30*time.Second)
}
