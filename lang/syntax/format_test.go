package syntax

import (
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// checkFormat checks what holds of every text: formatted it has the same tokens, comments, statements and mistakes, and
// formatted again it is the same. It reports how many
// statements the formatter had to leave alone though they are right.
func checkFormat(t require.TestingT, text string) (refused int) {
	out, diags := Format("t", text)
	if src := NewSource("t", text); !utf8.ValidString(src.Text) || strings.Contains(text, "\x00") {
		require.Equal(t, text, out)
		require.NotEmpty(t, diags)
		return 0
	}
	again, _ := Format("t", out)
	require.Equal(t, out, again, "formatted twice, at first\n%s", text)
	before, was := Parse("t", text)
	after, is := Parse("t", out)
	require.Equal(t, codes(was), codes(is), "from\n%s\nto\n%s", text, out)
	require.Equal(t, codes(was), codes(diags))
	require.Equal(t, texts(before), texts(after), "from\n%s\nto\n%s", text, out)
	require.Equal(t, shape(before), shape(after), "from\n%s\nto\n%s", text, out)
	_, refused = format(before)
	return refused
}

func codes(diags []Diagnostic) (out []string) {
	for _, d := range diags {
		out = append(out, d.Code)
	}
	return out
}

// texts is the tokens and comments of a script.
func texts(s *Script) []string {
	tokens, _ := Lex(s.Source)
	var out []string
	for _, t := range tokens {
		switch t.Kind {
		case KindSpace:
		case KindComment:
			out = append(out, strings.TrimRight(t.Text, " \t\r\n"))
		default:
			out = append(out, fmt.Sprintf("%d %s", t.Kind, t.Text))
		}
	}
	return out
}

// shape is the tree of a script; expressions are their tokens.
func shape(s *Script) string {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if e, ok := v.Addr().Interface().(*Expr); ok {
				var words []string
				for _, t := range e.Tokens {
					words = append(words, t.Text)
				}
				e.Text = strings.Join(words, " ")
				return
			}
			if v.Type() == reflect.TypeFor[Source]() {
				return
			}
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i))
				}
			}
		}
	}
	walk(reflect.ValueOf(&s.Stmts))
	return dump(s)
}

var (
	ebbBlock  = regexp.MustCompile("(?ms)^```ebb[^\n]*\n(.*?)^```$")
	archiveOf = regexp.MustCompile(`(?m)^-- .*\.ebb --$`)
	quoted    = regexp.MustCompile("(?s)`[^`]*\\|>[^`]*`")
)

// corpus is every script that the project's files hold: scripts, blocks of documents, files in stories, examples in
// definitions and tests. Some are broken on purpose.
func corpus(t testing.TB) []string {
	var out []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == ".git" || d.Name() == ".bench") {
				return filepath.SkipDir
			}
			return err
		}
		ext := filepath.Ext(path)
		if info, err := d.Info(); err != nil || info.Size() > 200_000 {
			return err
		}
		if ext != ".ebb" && ext != ".md" && ext != ".go" && ext != ".txtar" && !strings.Contains(path, "testdata") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(b) {
			return err
		}
		text := string(b)
		switch ext {
		case ".ebb":
			out = append(out, text)
		case ".md":
			for _, m := range ebbBlock.FindAllStringSubmatch(text, -1) {
				out = append(out, m[1])
			}
		case ".go":
			for _, m := range quoted.FindAllString(text, -1) {
				out = append(out, strings.Trim(m, "`\n"))
			}
		case ".txtar":
			for _, part := range archiveOf.Split(text, -1)[1:] {
				part, _, _ = strings.Cut(part, "\n-- ")
				out = append(out, strings.TrimPrefix(part, "\n"))
			}
		default:
			if strings.Contains(text, "|>") {
				for _, part := range strings.Split(text, "\n\n") {
					_, script, found := strings.Cut(part, "\n")
					script, _, _ = strings.Cut(script, "\n----")
					if found {
						out = append(out, script)
					}
				}
			}
		}
		return nil
	})
	require.NoError(t, err)
	return out
}

// TestFormatCorpus formats every script there is.
func TestFormatCorpus(t *testing.T) {
	all := corpus(t)
	good := 0
	for _, text := range all {
		require.Zero(t, checkFormat(t, text), text)
		script, _ := Parse("t", text)
		good += len(script.Stmts)
	}
	t.Logf("%d texts, %d statements", len(all), good)
	require.Greater(t, len(all), 500)
	require.Greater(t, good, 2000)
}

// TestFormatStrewn strews blanks, line breaks and comments into good scripts, wherever they do not change what is meant.
func TestFormatStrewn(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	rnd := rand.New(rand.NewSource(1))
	done, lost := 0, 0
	for _, text := range corpus(t) {
		script, diags := Parse("t", text)
		if len(diags) > 0 || len(script.Stmts) == 0 || len(text) > 4000 {
			continue
		}
		for range rounds {
			got, ok := strew(rnd, script)
			if !ok {
				lost++
				continue
			}
			done++
			require.Zero(t, checkFormat(t, got), got)
		}
	}
	t.Logf("%d strewn, %d lost", done, lost)
	require.Greater(t, done, lost)
}

var litter = []string{"\n    ", "\n  ", " // c\n   ", " /* c */ ", "\n    // c\n    ", "\n// c  \n    ", " /* c\n  d */ ", "\n\n\n    ", "  ", "\n  /* c */\n  ", "\n    /* c */ ", " /* c */ // d\n    "}

// strew puts litter between tokens of a script. It reports false if that gave another script.
func strew(rnd *rand.Rand, script *Script) (string, bool) {
	tokens, _ := Lex(script.Source)
	var b strings.Builder
	often := 2 + rnd.Intn(30)
	for i, tok := range tokens {
		if tok.Kind == KindEOF {
			break
		}
		if i > 0 && !tok.Trivia() && tokens[i-1].Kind != KindComment && rnd.Intn(often) == 0 {
			s := litter[rnd.Intn(len(litter))]
			if tok.Lead == LeadMargin {
				s = strings.TrimRight(s, " ")
				if !strings.HasSuffix(s, "\n") {
					s += "\n"
				}
			}
			b.WriteString(s)
		}
		b.WriteString(tok.Text)
	}
	got, diags := Parse("t", b.String())
	word := func(s *Script) []string {
		return slices.DeleteFunc(texts(s), func(s string) bool { return strings.HasPrefix(s, "/") })
	}
	return b.String(), len(diags) == 0 && slices.Equal(word(script), word(got)) && shape(script) == shape(got)
}

// FuzzFormat checks it of any text.
func FuzzFormat(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkFormat(t, text) })
}

// TestFormatGolden shows layouts: testdata_format/format holds texts and what becomes of them, with `|` at the beginning of lines.
func TestFormatGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata_format/format", func(t *testing.T, d *datadriven.TestData) string {
		require.Zero(t, checkFormat(t, d.Input+"\n"), d.Input)
		out, _ := Format("t", d.Input+"\n")
		return "|" + strings.ReplaceAll(strings.TrimSuffix(out, "\n"), "\n", "\n|") + "\n"
	})
}

// TestFormatFound: texts that were once wrong.
func TestFormatFound(t *testing.T) {
	for _, text := range []string{
		"rows([{ : 1: b: 2}]) |> where a / b == b / a",
		"let a = 1 // x\nlet b = (\n// y\n",
		"let x = 1 ~",
		"let x = 1 /* never closed",
		"  let indented = 1\n\tlet b = 2",
		"let a = [let x = 1; x, // c\n let\n y = 2; y]",
		"stream a = b |> where [stream c = d,\n stream e = f]",
		"let a = 1 let b=2\nlet  c = 3",
		")\nlet a = (1\n) let  b = 2",
	} {
		checkFormat(t, text)
	}
}
