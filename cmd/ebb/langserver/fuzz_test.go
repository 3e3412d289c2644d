package langserver

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/complete"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// askAll asks everything at a place of a text. What panics fails the test: nothing is guarded here.
func askAll(t *testing.T, s *Server, raw string, at int) {
	t.Helper()
	d := &document{s: s, uri: "file:///nowhere/f.ebb", path: "/nowhere/f.ebb", version: 1, text: newText(raw)}
	s.open[d.path] = d
	ctx := context.Background()
	p := positionParams{documentParams{documentID{URI: d.uri}}, d.text.position(at)}
	check := func(_ any, err error) {
		t.Helper()
		if err != nil {
			require.NotContains(t, err.Error(), "panic")
		}
	}
	a := d.look()
	for _, x := range s.diagnostics(a) {
		require.LessOrEqual(t, x.Range.Start.Line, x.Range.End.Line)
	}
	check(hover(ctx, s, d, p))
	check(completion(ctx, s, d, p))
	check(signatureHelpAt(ctx, s, d, p))
	check(definition(ctx, s, d, p))
	check(references(ctx, s, d, referenceParams{positionParams: p}))
	check(highlights(ctx, s, d, p))
	check(prepareRename(ctx, s, d, p))
	check(rename(ctx, s, d, renameParams{p, "another"}))
	check(documentSymbols(ctx, s, d, p.documentParams))
	check(semanticTokensOf(ctx, s, d, p.documentParams))
	check(formatting(ctx, s, d, p.documentParams))
	check(codeActions(ctx, s, d, codeActionParams{documentParams: p.documentParams, Range: d.text.whole()}))
}

func seeds(t testing.TB) []string {
	var out []string
	files, err := filepath.Glob("../../../examples/*/*.ebb")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		out = append(out, string(b))
	}
	return append(out, "a |> derive x = 1, y = x |> pattern by x within 1m { a = x > 1 then b = a.x == y }\n",
		"pipe p(n: int) = where x > n |> p(1)\nnexmark(\"bid\") |> p(3) |> into q\nq |> into q\n", "stream a = b\nstream b = a\na |> where x > 1\n",
		"use \"f.ebb\"\ntest \"t\" { given a = [{x: 1}] \n expect b = [{y: 2}] }\n", "// 😀\r\nlet x = '😀'\r\n")
}

// Whatever is typed wherever, everything is answered.
func FuzzEdits(f *testing.F) {
	for i, text := range seeds(f) {
		f.Add(text, uint16(i*37), uint16(3), "|> where ")
	}
	s := New(Options{})
	f.Fuzz(func(t *testing.T, text string, at, n uint16, by string) {
		if len(text) > 4000 || len(by) > 100 || strings.Contains(text, "csv(\"/") {
			t.Skip()
		}
		from := min(int(at), len(text))
		text = text[:from] + by + text[min(from+int(n), len(text)):]
		askAll(t, s, text, min(from+len(by), len(text)))
	})
}

// Every place of every example, and with every statement cut off there.
func TestEveryPlace(t *testing.T) {
	s, places := New(Options{}), 12
	if testing.Short() {
		places = 3
	}
	for _, text := range seeds(t) {
		tokens, _ := syntax.Lex(&syntax.Source{Text: text})
		step := max(1, len(tokens)/places)
		for i := 0; i < len(tokens); i += step {
			at := tokens[i].Span.End.Offset
			askAll(t, s, text, at)
			askAll(t, s, text[:at], at)
			askAll(t, s, text[:at]+" |> "+text[at:], at+4)
		}
	}
}

// Every kind of completion has a number.
func TestCompletionKinds(t *testing.T) {
	for k := complete.Word; k <= complete.File; k++ {
		require.NotZero(t, completionKinds[k])
	}
}
