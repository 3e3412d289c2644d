package conn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// jsonCase returns the path of a case from elsewhere, and skips the test where they are not there.
func jsonCase(t testing.TB, name string) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no go.mod above")
	}
	path := filepath.Join(dir, "../shared/cases", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the cases are not here: %v", err)
	}
	return path
}

// jsonDecoded is what a text gave: the rows that did not fail, and the messages of those that did.
type jsonDecoded struct {
	rows   [][]any
	failed map[int]string // by number of the record
	starts []int
	change []vec.Change
}

func collectJSON(out *parts, d *jsonDecoded, base int) {
	for _, p := range out.list {
		bad := map[int]bool{}
		for _, f := range p.failed {
			bad[f.row] = true
			d.failed[len(d.starts)+f.row] = f.err.Error()
		}
		for i := range p.n {
			d.starts = append(d.starts, base+int(p.starts[i]))
			if bad[i] {
				continue
			}
			row := make([]any, len(p.cols))
			for k, c := range p.cols {
				row[k] = c.Value(i)
			}
			d.rows = append(d.rows, row)
			if p.change != nil {
				d.change = append(d.change, p.change[i])
			}
		}
		for _, c := range p.cols {
			if c.Len() != p.n && c.Type.Kind != types.Record {
				panic(fmt.Sprintf("a column of %d rows in a part of %d", c.Len(), p.n))
			}
		}
	}
}

// decodeJSON decodes text at once; step > 0: as it grows by step bytes at a time.
func decodeJSON(f *jsonFormat, text string, step int) (jsonDecoded, error) {
	d := jsonDecoded{failed: map[int]string{}}
	b := append(make([]byte, 0, len(text)+slack), text...)
	l, err := f.open("x", b, true)
	if err != nil {
		return d, err
	}
	dec := l.decoder()
	if step == 0 {
		step = len(text)
	}
	from, to := 0, 0
	for {
		to = min(to+step, len(b))
		var out parts
		used, err := dec.decode(b[from:to], to == len(b), &out)
		collectJSON(&out, &d, from)
		from += used
		if err != nil {
			return d, err
		}
		if to == len(b) {
			if from != len(b) {
				err = fmt.Errorf("%d of %d bytes used", from, len(b))
			}
			return d, err
		}
	}
}

func jsonColumns(text string) []types.Field {
	var fields []types.Field
	for _, f := range strings.Split(text, ";") {
		name, typ, _ := strings.Cut(strings.TrimSpace(f), ": ")
		fields = append(fields, types.Field{Name: name, Type: jsonTypeOf(typ)})
	}
	return fields
}

// typeOf reads the type that text writes; times take a format behind a blank.
func jsonTypeOf(text string) types.Type {
	if strings.HasSuffix(text, "?") {
		return jsonTypeOf(text[:len(text)-1]).Null()
	}
	if strings.HasPrefix(text, "[") {
		return types.ListOf(jsonTypeOf(text[1 : len(text)-1]))
	}
	if strings.HasPrefix(text, "{") {
		depth, from := 0, 1
		var fields []types.Field
		for i := 1; i < len(text); i++ {
			switch {
			case text[i] == '{' || text[i] == '[':
				depth++
			case (text[i] == ',' || text[i] == '}') && depth == 0:
				if name, typ, ok := strings.Cut(strings.TrimSpace(text[from:i]), ": "); ok {
					fields = append(fields, types.Field{Name: name, Type: jsonTypeOf(typ)})
				}
				from = i + 1
			case text[i] == '}' || text[i] == ']':
				depth--
			}
		}
		return types.RecordOf(fields...)
	}
	if format, ok := strings.CutPrefix(text, "time "); ok {
		return types.Type{Kind: types.Time, Format: format}
	}
	for k := types.Bool; k <= types.Any; k++ {
		if k.String() == text {
			return types.T(k)
		}
	}
	panic("no type " + text)
}

func TestJSONValues(t *testing.T) {
	for _, c := range []struct{ columns, text, want string }{
		{"a: int", `{"a":1}`, `[1]`},
		{"a: int", `{"a":-9223372036854775808}`, `[-9223372036854775808]`},
		{"a: int", `{"a":9223372036854775807}`, `[9223372036854775807]`},
		{"a: int", `{"a":9223372036854775808}`, `! column a: 9223372036854775808 is not an int: it needs more than 64 bits (byte 6)`},
		{"a: int", `{"a":1.0}`, `[1]`},
		{"a: int", `{"a":12.5e1}`, `[125]`},
		{"a: int", `{"a":1e3}`, `[1000]`},
		{"a: int", `{"a":1e30}`, `! column a: 1e30 is not an int: it needs more than 64 bits (byte 6)`},
		{"a: int", `{"a":1e-30}`, `! column a: 1e-30 is not an int (byte 6)`},
		{"a: int", `{"a":12345678901234567890.5}`, `! column a: 12345678901234567890.5 is not an int: it needs more than 64 bits (byte 6)`},
		{"a: int", `{"a":1.5}`, `! column a: 1.5 is not an int (byte 6)`},
		{"a: int", `{"a":"1"}`, `! column a: "1" is not an int (byte 6)`},
		{"a: int", `{"a":01}`, `! not valid JSON at byte 6: not a number`},
		{"a: int", `{"a":-}`, `! not valid JSON at byte 6: not a number`},
		{"a: int", `{"a":123456789012345678}`, `[123456789012345678]`},
		{"a: int", `{"a":12345678}`, `[12345678]`},
		{"a: int", `{"a":-1234567890123456 , "b": 1234567}`, `[-1234567890123456]`},
		{"a: int", `{"a":null}`, `! column a: null, but int is not nullable; a schema may say a: int? (byte 6)`},
		{"a: int", `{"b":1}`, `! column a: missing, and int is not nullable; a schema may say a: int?`},
		{"a: int?", `{"a":null}`, `[nil]`},
		{"a: int?", `{}`, `[nil]`},
		{"a: float", `{"a":1}`, `[1.0]`},
		{"a: float", `{"a":-0.1e-2}`, `[-0.001]`},
		{"a: float", `{"a":1e400}`, `! column a: 1e400 is not a float: it is beyond 1.8e308 (byte 6)`},
		{"a: float", `{"a":123456789012345678901234567890}`, `[1.2345678901234568e+29]`},
		{"a: float", `{"a":0.1}`, `[0.1]`},
		{"a: float", `{"a":1.}`, `! not valid JSON at byte 6: not a number`},
		{"a: float", `{"a":00.1}`, `! not valid JSON at byte 6: not a number`},
		{"a: float", `{"a":"NaN"}`, `! column a: "NaN" is not a float (byte 6)`},
		{"a: bool; b: bool", `{"a":true,"b":false}`, `[true false]`},
		{"a: bool", `{"a":1}`, `! column a: 1 is not a bool (byte 6)`},
		{"a: bool", `{"a":tru}`, `! not valid JSON at byte 6: not a value`},
		{"a: string", `{"a":""}`, `[""]`},
		{"a: string", `{}`, `[""]`},
		{"a: string", `{"a":null}`, `[""]`},
		{"a: string", `{"a":5}`, `! column a: 5 is not a string (byte 6)`},
		{"a: string", `{"a":"say \"hi\"\\\/\b\f\n\r\t\u00e4 and more"}`, `["say \"hi\"\\/\b\f\n\r\tä and more"]`},
		{"a: string", `{"a":"\ud83d\ude00 \ud800 \udc00\ud800"}`, `["😀 � ��"]`},
		{"a: string", `{"a":"\ud800\u0041"}`, `["�A"]`},
		{"a: string", `{"a":"äöü 日本語 😀"}`, `["äöü 日本語 😀"]`},
		{"a: string", `{"a":"\u00zz"}`, `! not valid JSON at byte 7: no such escape`},
		{"a: string", `{"a":"\x"}`, `! not valid JSON at byte 7: no such escape`},
		{"a: string", `{"a":"unclosed}`, `! not valid JSON at byte 16: the string is not closed`},
		{"a: string", "{\"a\":\"tab\there\"}", `! not valid JSON at byte 10: a control character in a string must be escaped`},
		{"a: string", "{\"a\":\"bad \xff\"}", `! not valid JSON at byte 11: not valid UTF-8`},
		{"a: string", "{\"b\":\"bad \xed\xa0\x80\"}", `! not valid JSON at byte 11: not valid UTF-8`},
		{"a: time", `{"a":"2026-01-31T10:00:00.5Z"}`, `[1769853600500000000]`},
		{"a: time", `{"a":"31 Jan"}`, `! column a: "31 Jan" is not a time (RFC 3339, such as 2026-01-31T10:00:00Z) (byte 6)`},
		{"a: time", `{"a":1700005900001}`, `! column a: 1700005900001 is not a time (RFC 3339, such as 2026-01-31T10:00:00Z); for numbers a schema says time(ms), time(s), time(us) or time(ns) (byte 6)`},
		{"a: time ms", `{"a":1700005900001}`, `[1700005900001000000]`},
		{"a: time ms", `{"a":"1700005900001"}`, `[1700005900001000000]`},
		{"a: time s", `{"a":1517363399.65}`, `[1517363399650000000]`},
		{"a: time s", `{"a":99999999999}`, `! column a: 99999999999 is not a time (seconds since 1970) (byte 6)`},
		{"a: time 2006-01-02 15h", `{"a":"2026-01-31 10h"}`, `[1769853600000000000]`},
		{"a: duration", `{"a":"1h30m"}`, `[5400000000000]`},
		{"a: duration", `{"a":5}`, `! column a: 5 is not a duration, such as "1h30m" (byte 6)`},
		{"a: bytes", `{"a":"aGVs\u0062G8\/"}`, `["hello?"]`},
		{"a: bytes", `{"a":"aGk"}`, `["hi"]`},
		{"a: bytes", `{"a":"*"}`, `! column a: "*" is not base64 text (byte 6)`},
		{"a: any; b: any; c: any?; d: any?", `{"a": {"x": [1, "a b", null]} , "b":null,"c":null}`, `["{\"x\":[1,\"a b\",null]}" "null" nil nil]`},
		{"a: any", `{}`, `! column a: missing, and any is not nullable; a schema may say a: any?`},
		{"a: [int]", `{"a":[1, 2 ,3]}`, `[[1 2 3]]`},
		{"a: [int]; b: [[string]?]", `{"a":[],"b":[["x"],null,[]]}`, `[[] [["x"] nil []]]`},
		{"a: [int]", `{"a":[1,"x"]}`, `! column a[]: "x" is not an int (byte 9)`},
		{"a: [int]", `{"a":[1,]}`, `! not valid JSON at byte 9: not a value`},
		{"a: [int]", `{"a":[1 2]}`, `! not valid JSON at byte 9: expected , or ]`},
		{"a: [int]?", `{"a":null}`, `[nil]`},
		{"a: {b: int, c: {d: string}}", `{"a":{"b":1,"c":{"d":"x"}}}`, `[map[b:1 c:map[d:"x"]]]`},
		{"a: {b: int, c: {d: string}}", `{"a":{"c":{},"b":2}}`, `[map[b:2 c:map[d:""]]]`},
		{"a: {b: int, c: {d: int}}", `{"a":{"c":{},"b":2}}`, `! column a.c.d: missing, and int is not nullable; a schema may say a.c.d: int?`},
		{"a: {b: int}?", `{"a":null}`, `[nil]`},
		{"a: [{b: int}]", `{"a":[{"b":1},{"b":2}]}`, `[[map[b:1] map[b:2]]]`},
		{"a: int; b: int", `{"b":1,"x":{"a":[{}]},"a":2,"y":"\n"}`, `[2 1]`},
		{"a: int", `{"a":1,"a":2}`, `[2]`},
		{"a: [int]", `{"a":[1,2,3],"a":[4]}`, `[[4]]`},
		{"a: int?", `{"a":null,"a":2}`, `[2]`},
		{"a: int?", `{"a":2,"a":null}`, `[nil]`},
		{"a b: int; c: string", `{"a b":1,"\u0063":"x"}`, `[1 "x"]`},
		{"a: int", `{"a":1,}`, `! not valid JSON at byte 8: expected a field name in quotes`},
		{"a: int", `{"a":1 "b":2}`, `! not valid JSON at byte 8: expected , or }`},
		{"a: int", `{"a":1`, `! not valid JSON at byte 7: expected , or }`},
		{"a: int", `{,"a":1}`, `! not valid JSON at byte 2: expected a field name in quotes`},
		{"a: int", `{"a" 1}`, `! not valid JSON at byte 6: expected : behind the field name`},
		{"a: int", `{"a":1} {"a":2}`, `! not valid JSON at byte 9: something follows the object`},
		{"a: int", `{"a":1}}`, `! not valid JSON at byte 8: something follows the object`},
		{"a: int", `{"b":[}`, `! not valid JSON at byte 7: not a value`},
		{"a: int", `[1]x`, `! not valid JSON at byte 4: something follows the end`},
		{"a: int", `5`, `! a row must be an object, not 5`},
		{"a: int", `"` + strings.Repeat("ä", 50) + `"`, `! a row must be an object, not "` + strings.Repeat("ä", 29) + `…`},
		{"a: int", `nonsense`, `! not valid JSON at byte 1: not a value`},
		{"a: int", "{\"a\":1}\x00", `! not valid JSON at byte 8: something follows the object`},
		{"a: int", "\xfe\xff", `! not valid JSON at byte 1: not a value`},
	} {
		if strings.HasPrefix(c.text, "[") {
			continue // a list, see TestJSONList
		}
		d, err := decodeJSON(&jsonFormat{columns: jsonColumns(c.columns)}, c.text, 0)
		require.NoError(t, err, c.text)
		require.Len(t, d.starts, 1, c.text)
		got := ""
		if len(d.rows) == 1 {
			got = showValue(d.rows[0])
		} else {
			got = "! " + d.failed[0]
		}
		assert.Equal(t, c.want, got, "%s: %s", c.columns, c.text)
		// The same in the middle of other rows: text behind must not matter, and neighbours must not be touched.
		text := c.text + "\n" + c.text + "\n{\"unclosed\n" + c.text + "\n"
		d, err = decodeJSON(&jsonFormat{columns: jsonColumns(c.columns)}, text, 0)
		require.NoError(t, err)
		require.Len(t, d.starts, 4)
		if strings.HasPrefix(c.want, "!") {
			assert.Equal(t, 4, len(d.failed), c.text)
			assert.Equal(t, c.want, "! "+d.failed[0])
			assert.Equal(t, c.want, "! "+d.failed[3])
			continue
		}
		if assert.Equal(t, 3, len(d.rows), "%v", d.failed) {
			for _, r := range d.rows {
				assert.Equal(t, c.want, showValue(r), text)
			}
		}
	}
}

// showValue prints values so that types can be told apart.
func showValue(v any) string {
	switch x := v.(type) {
	case nil:
		return "nil"
	case []any:
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = showValue(e)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[string]any:
		b := map[string]rawText{}
		for k, e := range x {
			b[k] = rawText(showValue(e))
		}
		return fmt.Sprint(b)
	case string:
		b, _ := json.Marshal(x)
		return strings.NewReplacer(`\u003e`, ">", `\u003c`, "<", `\u0026`, "&").Replace(string(b))
	case float64:
		return types.FormatConst(types.T(types.Float), x)
	}
	return fmt.Sprint(v)
}

type rawText string

func (r rawText) String() string { return string(r) }

func TestJSONLines(t *testing.T) {
	f := &jsonFormat{columns: jsonColumns("a: int")}
	for _, c := range []struct {
		text   string
		rows   string
		starts []int
	}{
		{"", "", nil},
		{"\n\r\n  \n", "", nil},
		{"{\"a\":1}\r\n{\"a\":2}\r\n", "[1] [2]", []int{0, 9}},
		{"{\"a\":1}\n\n  {\"a\":2}", "[1] [2]", []int{0, 11}},
		{"{\"a\":1}\n{\"a\":2", "[1] 1:not valid JSON at byte 7: expected , or }", []int{0, 8}},
		{"{\"a\":1,\n\"b\":2}\n{\"a\":3}\n", "[1] [3]", []int{0, 15}}, // over several lines
		{"{\"a\":1}\n{\"a\":2,\n\"b\":3}\n{\"a\":4}\n", "[1] 1:not valid JSON at byte 8: expected a field name in quotes 2:a row must be an object, not \"b\" [4]", []int{0, 8, 16, 23}},
		{"{\"a\":1}  \t\n{\"a\" : 2 }\n{ \"a\":3}", "[1] [2] [3]", []int{0, 11, 22}},
	} {
		for _, step := range []int{0, 1, 3, 7} {
			d, err := decodeJSON(f, c.text, step)
			require.NoError(t, err)
			var got []string
			k := 0
			for i := range d.starts {
				if m, ok := d.failed[i]; ok {
					got = append(got, fmt.Sprintf("%d:%s", i, m))
				} else {
					got = append(got, showValue(d.rows[k]))
					k++
				}
			}
			if strings.Contains(c.rows, "something follows") || strings.Contains(c.rows, "not \"b\"") {
				assert.Equal(t, c.starts, d.starts)
				assert.Len(t, d.failed, 2)
				continue
			}
			assert.Equal(t, c.rows, strings.Join(got, " "), "%q by %d", c.text, step)
			assert.Equal(t, c.starts, d.starts, "%q by %d", c.text, step)
		}
	}
}

func TestJSONList(t *testing.T) {
	f := &jsonFormat{columns: jsonColumns("a: int; s: string")}
	for _, c := range []struct{ text, rows, err string }{
		{`[]`, "", ""},
		{" \n[ ]\n", "", ""},
		{`[{"a":1}]`, `[1 ""]`, ""},
		{"[\n  {\n    \"a\": 1,\n    \"s\": \"x, ]}\\\"\\\\\"\n  },\r\n  {\"a\":2}\n]\n", `[1 "x, ]}\"\\"] [2 ""]`, ""},
		{`[{"a":1},{"a":}, {"a":3}]`, `[1 ""] 1:not valid JSON at byte 6: not a value [3 ""]`, ""},
		{`[{"a":1},]`, `[1 ""] 1:not valid JSON at byte 1: the text ends where a value must stand`, ""},
		{`[,{"a":1}]`, `0:not valid JSON at byte 1: the text ends where a value must stand [1 ""]`, ""},
		{`[{"a":1}{"a":2}]`, `0:not valid JSON at byte 8: something follows the object`, ""},
		{`[{"a":[}, {"a":3}]`, ``, "no end"},
		{`[1, "x", [2]]`, `0:a row must be an object, not 1 1:a row must be an object, not "x" 2:a row must be an object, not [2]`, ""},
		{`[{"a":1}`, ``, "no end"},
		{`[{"a":1},`, `[1 ""]`, "no end"},
		{`[{"a":1},{"s":"x`, `[1 ""]`, "no end"},
		{`[{"a":1},{"s":"x\`, `[1 ""]`, "no end"},
		{`[{"a":1}] x`, `[1 ""]`, "something follows the end"},
		{`[{"a":1}]]`, `[1 ""]`, "something follows the end"},
		{"{\n\"a\": 1\n}\n{\n\"a\": 2, \"s\": \"\\n}{\"\n}{\"a\":3}\n", `[1 ""] [2 "\n}{"] [3 ""]`, ""},
		{"{\n\"a\": 1\n} 5\n{\n\"a\": 2}", `[1 ""] 1:a row must be an object, not 5 [2 ""]`, ""},
		{"{\n\"a\": 1\n}\n{\n\"a\": 2", `[1 ""] 1:not valid JSON at byte 9: expected , or }`, ""},
	} {
		for _, step := range []int{0, 1, 2, 5, 11} {
			d, err := decodeJSON(f, c.text, step)
			if c.err != "" {
				assert.ErrorContains(t, err, c.err, c.text)
			} else {
				assert.NoError(t, err, c.text)
			}
			var got []string
			k := 0
			for i := range d.starts {
				if m, ok := d.failed[i]; ok {
					got = append(got, fmt.Sprintf("%d:%s", i, m))
				} else {
					got = append(got, showValue(d.rows[k]))
					k++
				}
			}
			if c.err != "no end" || strings.HasSuffix(c.text, ",") {
				assert.Equal(t, c.rows, strings.Join(got, " "), "%q by %d", c.text, step)
			}
		}
	}
}

// However the text of a list or of lines comes, the same rows come out.
func TestJSONInPieces(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
	var lines, list strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "{ \"a\": %d, \"s\": \"] %d \\\\ , [\" }\n", i, i)
		fmt.Fprintf(&list, "%c\n  {\n    \"a\": %d,\n    \"s\": \"] %d \\\\ , [\"\n  }", "[,"[min(i, 1)], i, i)
	}
	list.WriteString("\n]\n")
	f := &jsonFormat{columns: jsonColumns("a: int; s: string")}
	for _, text := range []string{lines.String(), list.String(), strings.NewReplacer("[\n", "", "},\n", "}\n", "\n]\n", "\n").Replace(list.String())} {
		l, err := f.open("x", []byte(text), true)
		require.NoError(t, err)
		for seed := range uint64(30) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			most := []int{70_000, 3000, 300_000}[seed%3]
			d := jsonDecoded{failed: map[int]string{}}
			dec := l.decoder()
			for from, to := 0, 0; to < len(text); {
				to = min(len(text), to+rnd.IntN(most))
				var out parts
				used, err := dec.decode([]byte(text[from:to]), to == len(text), &out)
				require.NoError(t, err)
				collectJSON(&out, &d, from)
				from += used
			}
			require.Empty(t, d.failed)
			require.Equal(t, 5000, len(d.rows))
			for i, r := range d.rows {
				require.Equal(t, []any{int64(i), fmt.Sprintf("] %d \\ , [", i)}, r)
			}
		}
	}
}

func TestJSONChangeColumn(t *testing.T) {
	f := &jsonFormat{columns: jsonColumns("a: int"), change: true}
	d, err := decodeJSON(f, `{"_change":"+I","a":1}
{"a":1,"_change":"-U"}
{"a":x,"_change":"-U"}
{"a":2,"_change":"+U"}
{"a":2,"_change":"?"}
{"a":2}
{"_change":"-D","a":2}`, 0)
	require.NoError(t, err)
	assert.Equal(t, []vec.Change{vec.Insert, vec.UpdateBefore, vec.UpdateAfter, vec.Delete}, d.change)
	assert.Equal(t, map[int]string{2: "not valid JSON at byte 6: not a value", 4: `column _change: "?" is not one of +I -U +U -D`,
		5: `column _change: "" is not one of +I -U +U -D`}, d.failed)
}

func TestJSONDepth(t *testing.T) {
	f := &jsonFormat{columns: jsonColumns("a: any?")}
	for _, open := range []string{"[", `{"":`} {
		text := `{"a":` + strings.Repeat(open, 100_000) + "\n{\"a\":1}\n{\"b\":" + strings.Repeat(open, 250_000) + "\n{\"a\":2}\n"
		d, err := decodeJSON(f, text, 0)
		require.NoError(t, err)
		require.Equal(t, [][]any{{"1"}, {"2"}}, d.rows)
		require.Contains(t, d.failed[0], "nested deeper than 10000")
		require.Contains(t, d.failed[2], "nested deeper than 10000")
	}
	deep := strings.Repeat("[", maxJSONDepth-1) + strings.Repeat("]", maxJSONDepth-1)
	d, err := decodeJSON(f, `{"a":`+deep+`}`, 0)
	require.NoError(t, err)
	require.Equal(t, [][]any{{deep}}, d.rows)
	d, err = decodeJSON(f, `{"a":[`+deep+`]}`, 0)
	require.NoError(t, err)
	require.Len(t, d.failed, 1)
}

func TestJSONLongLine(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 100<<20/16)
	d, err := decodeJSON(&jsonFormat{columns: jsonColumns("a: string; b: int")}, `{"a":"`+long+`","b":1}`+"\n"+`{"a":"x","b":2}`, 64<<20)
	require.NoError(t, err)
	require.Len(t, d.rows, 2)
	require.True(t, d.rows[0][0] == long)
}

// Objects of different shape take turns: what is foretold is often wrong, and must never be believed.
func TestJSONKeyOrder(t *testing.T) {
	f := &jsonFormat{columns: jsonColumns("a: int?; b: int?; c: {a: int?, b: int?}?")}
	var text strings.Builder
	var want []string
	shapes := [][2]string{
		{`{"a":1,"b":2}`, `[1 2 nil]`}, {`{"b":3,"a":4}`, `[4 3 nil]`}, {`{"b":5}`, `[nil 5 nil]`}, {`{ "a": 6, "b": 7 }`, `[6 7 nil]`}, {`{}`, `[nil nil nil]`},
		{`{ }`, `[nil nil nil]`}, {`{"a": 1,"b":  2}`, `[1 2 nil]`}, {`{"a":1, "b":	2 }`, `[1 2 nil]`}, {`{"a" :1 ,"b":2, "x" : [ ]}`, `[1 2 nil]`},
		{`{"x": {},"y":  "" ,"b": 1}`, `[nil 1 nil]`}, {`{"c":{"b":8},"a":9}`, `[9 nil map[a:nil b:8]]`}, {`{"c":{"a":1,"b":2},"b":3}`, `[nil 3 map[a:1 b:2]]`},
		{`{"x":"a","a":1,"y":[{}],"b":2}`, `[1 2 nil]`}, {`{"aa":1,"ab":2,"a":3}`, `[3 nil nil]`}, {`{"c":{}}`, `[nil nil map[a:nil b:nil]]`},
		{`{"a_very_long_name_that_no_guess_has_room_for_so_it_is_always_looked_up":1,"a":2}`, `[2 nil nil]`},
	}
	for i := range 5000 {
		s := shapes[(i*i/7+i/3)%len(shapes)]
		text.WriteString(s[0] + "\n")
		want = append(want, s[1])
	}
	for i := range 1000 { // more names than are remembered
		fmt.Fprintf(&text, "{\"n%d\":%d,\"a\":%d}\n", i, i, i)
		want = append(want, fmt.Sprintf("[%d nil nil]", i))
	}
	d, err := decodeJSON(f, text.String(), 0)
	require.NoError(t, err)
	require.Empty(t, d.failed)
	require.Len(t, d.rows, len(want))
	for i, r := range d.rows {
		require.Equal(t, want[i], showValue(r))
	}
}

// TestJSONPlainAgainstCareful: plain text and digits, which are read on the way, and objects of one pattern, which are read
// by column, give what the careful readers give. These read objects one by one,
// read text that was not searched for signs, and digits that a space follows.
func TestJSONPlainAgainstCareful(t *testing.T) {
	f := &jsonFormat{columns: jsonColumns("i: int?; s: string?; t: time ms?; u: time s?; f: float?")}
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.OneOf(
			rapid.Map(rapid.Uint64(), func(n uint64) string { return fmt.Sprint(n) }),
			rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
			rapid.StringMatching(`[0-9]{0,18}`), rapid.StringMatching(`-?[0-9]{1,3}([.][0-9]{0,2})?([eE][+-]?[0-9]?)?`),
			rapid.Map(rapid.StringN(0, 80, -1), func(s string) string { b, _ := json.Marshal(s); return string(b) }),
			rapid.StringMatching(`"[ -~]{0,40}"?`), rapid.StringMatching("\"[a\\\\\"n\t\xc3\xa9]{0,8}\""),
			rapid.SampledFrom([]string{"0", "01", "00", "9999999999999999", "12345678", "null", "true", "\"", "{}", "", "\"2026-01-31T00:00:00Z\""}))
		var tight, loose strings.Builder
		tight.WriteString("{}\n") // tells the style
		loose.WriteString("{}\n")
		n := rapid.IntRange(1, 6).Draw(rt, "rows")
		for range n {
			if rapid.Bool().Draw(rt, "alike") {
				row := rapid.SampledFrom([]string{
					`{"i":12,"s":"a text","x":true,"t":1700000000000,"u":17,"f":0.5,"y":"\u00e9"}`, `{"i":12,"s":"a text","x":77,"t":1700000000000,"u":17,"f":1,"y":"plain"}`,
					`{"s":"","i":-1,"longer than sixteen bytes":[],"f":null}`, `{"s":"","i":-1,"longer than sixteen bytes":0,"f":null}`, `{"i":0, "i":1}`, `{ "t" : 5 }`,
				}).Draw(rt, "row") + rapid.SampledFrom([]string{"\n", "\n", "\r\n", " \n", "\n\n"}).Draw(rt, "end")
				for range rapid.SampledFrom([]int{1, 2, 20, plainRows, 300}).Draw(rt, "times") {
					tight.WriteString(row)
					loose.WriteString(strings.ReplaceAll(row, ",\"", " ,\""))
				}
			}
			for k, name := range []string{"i", "s", "x", "t", "u", "f", "y"} {
				v := value.Draw(rt, name)
				sep := byte(',')
				if k == 0 {
					sep = '{'
				}
				fmt.Fprintf(&tight, "%c%q:%s", sep, name, v)
				fmt.Fprintf(&loose, "%c%q:%s ", sep, name, v)
			}
			tight.WriteString("}\n")
			loose.WriteString("}\n")
		}
		decode := func(text string, careful bool) jsonDecoded {
			b := append(make([]byte, 0, len(text)+slack), text...)
			l, err := f.open("x", b, true)
			require.NoError(rt, err)
			dec := l.decoder().(*jsonDecoder)
			if careful {
				dec.scan.signs = nil
				dec.pattern.rest = 1 << 30 // objects are read one by one
			}
			d, out := jsonDecoded{failed: map[int]string{}}, parts{}
			_, err = dec.decode(b, true, &out)
			require.NoError(rt, err)
			collectJSON(&out, &d, 0)
			return d
		}
		have, want := decode(tight.String()+strings.Repeat(" ", 40), false), decode(loose.String(), true)
		require.Equal(rt, fmt.Sprint(want.rows), fmt.Sprint(have.rows), tight.String())
		require.Equal(rt, len(want.failed), len(have.failed), tight.String())
		for row := range want.failed {
			require.Contains(rt, have.failed, row)
		}
		have = decode(loose.String(), false) // the same text: the same messages
		require.Equal(rt, want, have, loose.String())
	})
}
