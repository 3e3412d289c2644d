package syntax

import (
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMutations takes good scripts apart token by token: leaves one out, doubles one, swaps two, puts in one from elsewhere.
// Each must parse to an end with sound spans, and a mistake in one statement must not cost another: the statements before
// and after it come out as they did.
func TestMutations(t *testing.T) {
	text, err := os.ReadFile("testdata/nexmark.ebb")
	require.NoError(t, err)
	tests := string(text) + `
stream y = orders |> split { when a > 1 => b when c => csv("x") schema { id: int } else => d }
stream z = tx |> pattern by card within 10m { a = k == "x" times 2..5 then b = x > 1 then not c = y for 2m }
source s = csv("o.csv") schema { id: int, at: time(ms)? } time at lag 5s idle 1m key id on_error into bad
pipe recent(age: duration) = |> where at > now() - age |> limit 5
test "x" {
    given s = [{id: 1}]
    checkpoint
    expect ordered y = []
}
`
	script, diags := Parse("t", tests)
	require.Empty(t, diags)
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	rnd := rand.New(rand.NewSource(1))
	src := script.Source.Text
	all, _ := Lex(script.Source)
	var words []string
	for _, tok := range all {
		if !tok.Trivia() && tok.Kind != KindEOF {
			words = append(words, tok.Text)
		}
	}
	words = append(words, ";", "|", "(", ")", "{", "}", "[", "]", "=", "==", ":", "?", "~", "'", "`", "/*", "\n", "@", "..")
	for range rounds {
		i := rnd.Intn(len(script.Stmts))
		r := script.Stmts[i].Range()
		stmt := src[r.Start.Offset:r.End.Offset]
		toks, _ := Lex(&Source{Text: stmt})
		var parts []string
		for _, tok := range toks {
			parts = append(parts, tok.Text)
		}
		for range 1 + rnd.Intn(2) {
			at := rnd.Intn(len(parts))
			switch rnd.Intn(4) {
			case 0:
				parts[at] = ""
			case 1:
				parts[at] += " " + parts[at]
			case 2:
				other := rnd.Intn(len(parts))
				parts[at], parts[other] = parts[other], parts[at]
			case 3:
				parts[at] = words[rnd.Intn(len(words))] + " " + parts[at]
			}
		}
		broken := strings.Join(parts, "")
		if strings.Contains(broken, "/*") {
			continue // swallows the rest, rightly
		}
		mutant := "let before = 1\n" + broken + "\nlet after = 2\n"
		got, diags := Parse("t", mutant)
		checkScript(t, got, diags)
		checkTokens(t, got, diags)
		require.GreaterOrEqual(t, len(got.Stmts), 1, mutant)
		if strings.Count(broken, "`")%2 == 1 {
			continue // so does a raw string
		}
		if first, ok := got.Stmts[0].(*Let); !ok || first.Name.Name != "before" {
			// Only a mutant that starts with what continues the statement before it may break that one.
			c := strings.TrimLeft(broken, " ")
			require.True(t, c != broken || strings.ContainsAny(c[:1], "|)]}"), mutant)
		}
		last, ok := got.Stmts[len(got.Stmts)-1].(*Let)
		require.True(t, ok && last.Name.Name == "after", mutant)
	}
}
