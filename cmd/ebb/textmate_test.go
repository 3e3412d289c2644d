package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/stdlib"
)

const grammarFile = "../../docs/editors/vscode/ebb.tmLanguage.json"

func TestGrammarIsCurrent(t *testing.T) {
	want, err := textMate(stdlib.New())
	require.NoError(t, err)
	got, err := os.ReadFile(grammarFile)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run `make gen`")
}

// mate reads text by a grammar as TextMate does: line by line, and of the rules the one that matches first.
type mate struct {
	rules []*mateRule
}

type mateRule struct {
	rule
	match, end *regexp2.Regexp
	inside     []*mateRule
}

func compileMate(t *testing.T, rules []rule) []*mateRule {
	var out []*mateRule
	re := func(s string) *regexp2.Regexp {
		if s == "" {
			return nil
		}
		x, err := regexp2.Compile(s)
		require.NoError(t, err, s)
		return x
	}
	for _, r := range rules {
		out = append(out, &mateRule{r, re(r.Match + r.Begin), re(r.End), compileMate(t, r.Patterns)})
	}
	return out
}

// scopes gives each rune of a text its scopes, joined by blanks.
func (m *mate) scopes(text string) []string {
	var out []string
	var open *mateRule
	for _, line := range strings.SplitAfter(text, "\n") {
		runes := []rune(strings.TrimSuffix(line, "\n"))
		of := make([]string, len(runes))
		put := func(from, to int, scope string) {
			for i := from; i < to && scope != ""; i++ {
				of[i] = strings.TrimSpace(of[i] + " " + scope)
			}
		}
		for at := 0; at <= len(runes); {
			rules := m.rules
			if open != nil {
				rules = open.inside
			}
			var best *regexp2.Match
			var rule *mateRule
			ends := false
			if open != nil {
				best, _ = open.end.FindRunesMatchStartingAt(runes, at)
				ends = best != nil
			}
			for _, r := range rules {
				if x, _ := r.match.FindRunesMatchStartingAt(runes, at); x != nil && (best == nil || x.RuneIndex < best.RuneIndex) {
					best, rule, ends = x, r, false
				}
			}
			if best == nil {
				if open != nil {
					put(at, len(runes), open.Name)
				}
				break
			}
			from, to := best.RuneIndex, best.RuneIndex+best.RuneLength
			if open != nil {
				put(at, to, open.Name)
			}
			switch {
			case ends:
				open = nil
			case rule.end != nil:
				put(from, to, rule.Name)
				open = rule
			default:
				put(from, to, rule.Name)
				for i, g := range best.Groups() {
					if c := rule.Captures[string(rune('0'+i))]; c.Name != "" && g.RuneLength > 0 {
						put(g.RuneIndex, g.RuneIndex+g.RuneLength, c.Name)
					}
				}
			}
			if to == at && !ends {
				to++ // a rule that matches nothing
			}
			at = to
		}
		out = append(out, of...)
		if strings.HasSuffix(line, "\n") {
			out = append(out, "")
		}
	}
	return out
}

// Every example, tokenised by the grammar, agrees with what the lexer and the parser say.
func TestGrammarOnExamples(t *testing.T) {
	var g struct{ Patterns []rule }
	b, err := os.ReadFile(grammarFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	m := &mate{compileMate(t, g.Patterns)}
	lib := stdlib.New()
	texts := map[string]string{"odd": "/* two\nlines */\nlet a = b\"x\" // c\nlet @\"b c\" = `raw\n// text`\nlet d = 'it\\'s // no'\nlet t = @2026-01-31T10:00:00Z\nlet k = 1_000 + 0xff + 1.5e3\nlet x = 1h30m\n" +
		"source s = csv(\"a.csv\") schema { by: int, rows: time(ms)?, key: [string] } time rows lag 5s\ns |> where by > 1 and rows == nil |> sort by key desc |> into jsonl(\"x\")\n"}
	files, err := filepath.Glob("../../examples/*/*.ebb")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		texts[f] = string(b)
	}
	for _, kind := range []string{"stage", "conn", "agg"} {
		for _, d := range lib.Docs(kind) {
			for _, e := range d.Examples {
				texts[kind+" "+d.Name] = e.Code
			}
		}
	}
	for name, text := range texts {
		tree, broken := syntax.Parse(name, text)
		require.Empty(t, broken, name)
		scopes := m.scopes(tree.Source.Text)
		rune0 := make([]int, len(tree.Source.Text)+1) // of bytes
		n := 0
		for i := range tree.Source.Text {
			rune0[i] = n
			n++
		}
		rune0[len(tree.Source.Text)] = n
		wants := func(at, to int, scope string) {
			t.Helper()
			for i := rune0[at]; i < rune0[to]; i++ {
				if tree.Source.Text[at:to] != "" && scopes[i] != "" || scope != "" {
					if !assert.Contains(t, " "+scopes[i], " "+scope, "%s: %q in %q", name, tree.Source.Text[at:to], lineAround(tree.Source.Text, at)) {
						return
					}
				}
			}
		}
		tokens, _ := syntax.Lex(tree.Source)
		tokens = slices.DeleteFunc(tokens, func(t syntax.Token) bool { return t.Kind == syntax.KindSpace })
		for i, k := range tokens {
			at, to := k.Span.Start.Offset, k.Span.End.Offset
			switch k.Kind {
			case syntax.KindComment:
				for line := range strings.Lines(k.Text) {
					wants(at, at+len(strings.TrimSuffix(line, "\n")), "comment.")
					at += len(line)
				}
			case syntax.KindString:
				wants(at, to, "string.")
			case syntax.KindNumber:
				wants(at, to, "constant.numeric.ebb")
			case syntax.KindDuration:
				wants(at, to, "constant.numeric.duration")
			case syntax.KindTime:
				wants(at, to, "constant.other.time")
			case syntax.KindQuoted:
				wants(at, to, "variable.other.quoted")
			case syntax.KindPipe:
				wants(at, to, "keyword.operator.pipe")
			case syntax.KindIdent:
				require.NotContains(t, scopes[rune0[at]], "string.", "%s: %s", name, k.Text)
				require.NotContains(t, scopes[rune0[at]], "comment.", "%s: %s", name, k.Text)
				if tokens[i+1].Text == "(" && tokens[i+1].Span.Start == k.Span.End && tokens[max(i-1, 0)].Text != "window" {
					switch {
					case tree.Source.Text[max(at-3, 0):at] == "|> ", tokens[max(i-1, 0)].Text == ":":
					case lib.Conn(k.Text) != nil:
						wants(at, to, "support.class.connector")
					case lib.Func(k.Text) != nil || lib.Agg(k.Text) != nil:
						wants(at, to, "support.function")
					}
				}
			}
		}
		label := func(k *syntax.Clause) {
			if k != nil {
				wants(k.Start.Offset, k.Start.Offset+len(k.Label), "keyword.other.clause")
			}
		}
		stages := func(list []*syntax.Stage) {
			for _, s := range list {
				if s.Call {
					wants(s.Name.Start.Offset, s.Name.End.Offset, "entity.name.function.pipe")
				} else {
					wants(s.Name.Start.Offset, s.Name.End.Offset, "keyword.control.stage")
				}
				for _, k := range s.Clauses {
					label(k)
				}
			}
		}
		for _, s := range tree.Stmts {
			word, _, _ := strings.Cut(tree.Source.Slice(s.Range()), " ")
			at := s.Range().Start.Offset
			switch s := s.(type) {
			case *syntax.PipelineStmt:
				stages(s.Pipeline.Stages)
				continue
			case *syntax.Stream:
				stages(s.Pipeline.Stages)
			case *syntax.SourceStmt:
				label(s.OnError)
				if s.Time != nil {
					wants(s.Time.Start.Offset, s.Time.Start.Offset+len("time"), "keyword.other.clause")
				}
				if s.Schema != nil {
					for _, f := range s.Schema.Fields {
						if f.Type.Name != "" {
							wants(f.Type.Start.Offset, f.Type.Start.Offset+len(f.Type.Name), "support.type")
						}
					}
				}
			}
			wants(at, at+len(word), "keyword.declaration")
		}
	}
}

func lineAround(text string, at int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return line
}
