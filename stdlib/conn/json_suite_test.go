package conn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomJSON writes an object or another value with blanks anywhere, fields in any order and sometimes twice.
func randomJSON(rnd *rand.Rand, b *strings.Builder, deep int, blanks string) {
	blank := func() {
		for rnd.IntN(4) == 0 && blanks != "" {
			b.WriteByte(blanks[rnd.IntN(len(blanks))])
		}
	}
	many := func(open, end byte, one func()) {
		b.WriteByte(open)
		blank()
		for i := range rnd.IntN(5) {
			if i > 0 {
				b.WriteByte(',')
				blank()
			}
			one()
			blank()
		}
		b.WriteByte(end)
	}
	value := func() { randomJSON(rnd, b, deep+1, blanks) }
	switch k := rnd.IntN(8); {
	case deep == 0 || deep < 4 && k == 0:
		many('{', '}', func() {
			b.WriteString([]string{`"a"`, `"b"`, `"c"`, `"\u0061"`, `"x"`, `"y"`, `"long name"`}[rnd.IntN(7)])
			blank()
			b.WriteByte(':')
			blank()
			value()
		})
	case deep < 4 && k == 1:
		many('[', ']', value)
	default:
		b.WriteString([]string{"1", "-2.5e-3", "null", "true", "false", `"text"`, `"\\\" ü \ud83d\ude00"`, `""`, "12345678901234567890"}[rnd.IntN(9)])
	}
}

// Whatever blanks, order and nesting, the values are those that encoding/json finds.
func TestJSONAgreesWithStd(t *testing.T) {
	f := &jsonFormat{columns: jsonColumns("a: any?; b: any?; x: any?")}
	deeper := &jsonFormat{columns: jsonColumns("o: {a: any?, b: any?, c: any?, x: any?}; l: [{a: any?, y: any?}]")}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		blanks := []string{"", " ", " \t\r"}[seed%3]
		var text, nested strings.Builder
		n := 40
		for range n {
			var one strings.Builder
			randomJSON(rnd, &one, 0, blanks)
			text.WriteString(one.String() + "\n")
			fmt.Fprintf(&nested, `{"o":%s,"l":[%s,%s]}`+"\n", one.String(), one.String(), one.String())
		}
		d, err := decodeJSON(f, text.String(), 0)
		require.NoError(t, err)
		require.Empty(t, d.failed, text.String())
		e, err := decodeJSON(deeper, nested.String(), 0)
		require.NoError(t, err)
		require.Empty(t, e.failed, nested.String())
		for i, line := range strings.SplitN(text.String(), "\n", n+1)[:n] {
			var want map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &want), line)
			same := func(name string, got any) {
				var v any
				if got != nil {
					require.NoError(t, json.Unmarshal([]byte(got.(string)), &v))
				}
				require.Equal(t, want[name], v, "seed %d, %s of %s", seed, name, line)
			}
			for k, name := range []string{"a", "b", "x"} {
				same(name, d.rows[i][k])
			}
			for name, got := range e.rows[i][0].(map[string]any) {
				same(name, got)
			}
			list := e.rows[i][1].([]any)
			require.Len(t, list, 2)
			same("y", list[0].(map[string]any)["y"])
			same("a", list[1].(map[string]any)["a"])
		}
	}
}

type verdict struct {
	File    string
	Expect  string
	UTF8    bool   `json:"valid_utf8"`
	Lines   bool   `json:"one_line"`
	Wrapped string `json:"wrapped_reference"`
	Value   any
}

func jsonVerdicts(t testing.TB) (dir string, list []verdict) {
	dir = jsonCase(t, "parsing/json")
	b, err := os.ReadFile(filepath.Join(dir, "verdicts.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &list))
	require.NotEmpty(t, list)
	return dir, list
}

func TestJSONSuite(t *testing.T) {
	dir, list := jsonVerdicts(t)
	f := &jsonFormat{columns: jsonColumns("name: string; v: any; w: any?")}
	var text strings.Builder
	var want []verdict
	for _, v := range list {
		b, err := os.ReadFile(filepath.Join(dir, filepath.Base(v.File)))
		require.NoError(t, err)
		if ok := validJSON(b); v.Expect != "either" {
			assert.Equal(t, v.Expect == "accept", ok, v.File)
		}
		if v.Expect == "accept" {
			d, err := decodeJSON(&jsonFormat{columns: jsonColumns("v: any")}, "[{\"v\":"+string(b)+"}]", 0)
			require.NoError(t, err)
			require.Empty(t, d.failed, v.File)
			assertValue(t, v, d.rows[0][0].(string))
		}
		if v.Wrapped != "" {
			fmt.Fprintf(&text, "{\"name\":%q,\"v\":%s}\n", v.File, b)
			want = append(want, v)
		}
	}
	d, err := decodeJSON(f, text.String(), 0)
	require.NoError(t, err)
	require.Len(t, d.starts, len(want))
	k := 0
	for i, v := range want {
		m, failed := d.failed[i]
		assert.Equal(t, v.Wrapped == "reject", failed, "%s %s", v.File, m)
		if !failed {
			assert.Equal(t, v.File, d.rows[k][0])
			assertValue(t, v, d.rows[k][1].(string))
			k++
		}
	}
}

func assertValue(t *testing.T, v verdict, text string) {
	var got any
	require.NoError(t, json.Unmarshal([]byte(text), &got), v.File)
	assert.Equal(t, v.Value, got, v.File)
}

// validJSON reports whether b is one JSON value.
func validJSON(b []byte) bool {
	var s jsonText
	p := s.skip(b, s.space(b, 0), 0)
	return p >= 0 && s.space(b, p) == len(b)
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{``, `{}`, `[1,2.5e-7,"\ud83d\ude00",null,{"a":[[]]}]`, `{"a":-0,"b":"\u00e4"}`, "{\"a\":1}\n{\"b\":[1,{\"c\":null}]}\n", "[{\"a\":1},\n{\"s\":\"x\"}]",
		`{"l":[1,2],"r":{"x":"y"},"t":"2026-01-31","d":"1h","y":"aGk=","f":1e5,"g":true}`, "{\n\"a\":1}", "\"\xff\"", `[1,]`, `{"a":1}}`} {
		f.Add([]byte(s))
	}
	form := &jsonFormat{columns: jsonColumns("a: int?; f: float?; s: string; g: bool?; t: time?; m: time ms?; d: duration?; y: bytes?; l: [int]?; r: {x: string, n: {z: any?}?}?; v: any?")}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := validJSON(b), json.Valid(b) && utf8.Valid(b); got != want {
			t.Fatalf("valid: %v, want %v: %q", got, want, b)
		}
		whole, err := decodeJSON(form, string(b), 0)
		parts, err2 := decodeJSON(form, string(b), 3)
		if fmt.Sprint(err) != fmt.Sprint(err2) || fmt.Sprint(whole) != fmt.Sprint(parts) {
			t.Fatalf("whole: %v %v\nin parts: %v %v", whole, err, parts, err2)
		}
		if line := strings.TrimRight(string(b), "\r\n \t"); !strings.ContainsAny(line, "\n") && len(whole.starts) == 1 && len(whole.rows) == 1 && line[0] == '{' {
			if !json.Valid([]byte(line)) {
				t.Fatalf("taken: %q", line)
			}
		}
	})
}
