package syntax

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzParse checks what holds of every text: Parse returns, spans lie in the text, tokens make up the text, and a text with
// something in it that gives no statement gives a diagnostic. The corpus is all of testdata.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	require.NoError(f, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		f.Add(string(b))
		for _, part := range strings.Split(string(b), "\n\n") {
			f.Add(strings.TrimPrefix(strings.TrimPrefix(part, "bad\n"), "parse\n"))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, diags := Parse("fuzz.ebb", text)
		checkScript(t, script, diags)
		for _, d := range diags {
			require.NotEmpty(t, Render(script.Source, d))
		}
		checkTokens(t, script, diags)
	})
}

// checkTokens compares Lex with the text and with what Parse made of it.
func checkTokens(t *testing.T, script *Script, diags []Diagnostic) {
	t.Helper()
	tokens, _ := Lex(script.Source)
	var b strings.Builder
	words := 0
	for _, tok := range tokens {
		require.Equal(t, b.Len(), tok.Span.Start.Offset)
		b.WriteString(tok.Text)
		require.Equal(t, b.Len(), tok.Span.End.Offset)
		if !tok.Trivia() && tok.Kind != KindEOF {
			words++
		}
	}
	require.Equal(t, script.Source.Text, b.String())
	if words > 0 && len(script.Stmts) == 0 {
		require.NotEmpty(t, diags)
	}
	if len(diags) > 0 {
		return
	}
	// Without diagnostics nothing is lost: the statements cover every token.
	require.True(t, utf8.ValidString(script.Source.Text))
	i := 0
	for _, s := range script.Stmts {
		r := s.Range()
		for i < len(tokens) && tokens[i].Span.Start.Offset < r.Start.Offset {
			require.True(t, tokens[i].Trivia(), "%q is in no statement", tokens[i].Text)
			i++
		}
		for i < len(tokens) && tokens[i].Span.End.Offset <= r.End.Offset {
			i++
		}
	}
	for ; i < len(tokens)-1; i++ {
		require.True(t, tokens[i].Trivia(), "%q is in no statement", tokens[i].Text)
	}
}
