package conn

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// encodeJSON encodes a batch, and checks that block and lines agree.
func encodeJSON(t testing.TB, w *spec.Write, b *vec.Batch) string {
	e, err := newJSONEncoder(w)
	require.NoError(t, err)
	out, err := e.Encode(b)
	require.NoError(t, err)
	require.Equal(t, b.Rows(), out.N)
	require.Equal(t, string(out.Block), strings.Join(out.Cols[0].Strs, ""))
	return string(out.Block)
}

func TestJSONEncode(t *testing.T) {
	fields := jsonColumns(`i: int?; f: float?; s: string?; b: bool?; t: time?; m: time ms; l: time 02/Jan/2006; d: duration; y: bytes; v: any?; x: [float?]?; r: {a b: string, c: {d: int}?}?; e: {}`)
	fields[11].Type.Fields[0].Name = `a "b"`
	s := types.NewSchema(fields...)
	rec := map[string]any{`a "b"`: "x", "c": map[string]any{"d": int64(1)}}
	b := vec.FromRows(s, [][]any{
		{int64(-5), 1.5, "a&b<c>", true, int64(1_700_000_000_123_000_000), int64(1_700_000_000_123_456_789), int64(0), int64(5400e9), "hi", `{"x":[1,2]}`, []any{1.0, nil, math.NaN()}, rec, map[string]any{}},
		{nil, math.Inf(-1), "\"\\\n\t\r\x00\x1f\x7fä\u2028😀\xff\xed\xa0\x80z", false, nil, int64(-1), int64(0), int64(0), "", nil, nil, nil, map[string]any{}},
		{int64(math.MinInt64), 1e21, "", nil, int64(-1), int64(0), int64(0), int64(-1), "\x00\xff", "null", []any{}, map[string]any{`a "b"`: "", "c": nil}, map[string]any{}},
	})
	want := []string{
		`{"i":-5,"f":1.5,"s":"a&b<c>","b":true,"t":"2023-11-14T22:13:20.123Z","m":1700000000123,"l":"01/Jan/1970","d":"1h30m","y":"aGk=","v":{"x":[1,2]},"x":[1,null,null],"r":{"a \"b\"":"x","c":{"d":1}},"e":{}}`,
		`{"i":null,"f":null,"s":"\"\\\n\t\r\u0000\u001f` + "\x7fä\u2028😀\ufffd\ufffd\ufffd\ufffd" + `z","b":false,"t":null,"m":-1,"l":"01/Jan/1970","d":"0s","y":"","v":null,"x":null,"r":null,"e":{}}`,
		`{"i":-9223372036854775808,"f":1e+21,"s":"","b":null,"t":"1969-12-31T23:59:59.999999999Z","m":0,"l":"01/Jan/1970","d":"-1ns","y":"AP8=","v":null,"x":[],"r":{"a \"b\"":"","c":null},"e":{}}`,
	}
	got := strings.Split(strings.TrimSuffix(encodeJSON(t, &spec.Write{Schema: s}, b), "\n"), "\n")
	assert.Equal(t, want, got)
	for _, g := range got {
		assert.True(t, json.Valid([]byte(g)), g)
	}
	assert.Equal(t, want[2]+"\n"+want[0]+"\n", encodeJSON(t, &spec.Write{Schema: s}, b.Gather([]uint32{2, 0})))
	assert.Equal(t, want[1]+"\n", encodeJSON(t, &spec.Write{Schema: s}, b.Select([]uint32{1})))
	b.Change = []vec.Change{vec.Insert, vec.UpdateBefore, vec.Delete}
	lines := strings.Split(encodeJSON(t, &spec.Write{Schema: s, Changes: true}, b), "\n")
	assert.Equal(t, `{"_change":"+I",`+want[0][1:], lines[0])
	assert.Equal(t, `{"_change":"-D",`+want[2][1:], lines[2])

	none := &vec.Batch{N: 2}
	assert.Equal(t, "{}\n{}\n", encodeJSON(t, &spec.Write{}, none))
	assert.Equal(t, "{\"_change\":\"+I\"}\n{\"_change\":\"+I\"}\n", encodeJSON(t, &spec.Write{Changes: true}, none))
}

// randomType returns a type for columns, with any nesting.
func randomType(rnd *rand.Rand, deep int) types.Type {
	kinds := []types.Kind{types.Bool, types.Int, types.Float, types.String, types.Bytes, types.Time, types.Duration, types.Any, types.List, types.Record}
	n := len(kinds)
	if deep > 2 {
		n -= 2
	}
	t := types.T(kinds[rnd.IntN(n)])
	t.Nullable = rnd.IntN(2) == 0
	switch t.Kind {
	case types.Time:
		t.Format = []string{"", "ns", time3339, ""}[rnd.IntN(4)]
	case types.List:
		e := randomType(rnd, deep+1)
		t.Elem = &e
	case types.Record:
		for i := range rnd.IntN(4) {
			t.Fields = append(t.Fields, types.Field{Name: fmt.Sprintf("%c\"%d ü", 'a'+rnd.IntN(26), i), Type: randomType(rnd, deep+1)})
		}
	}
	return t
}

const time3339 = "2006-01-02 15h04m05.999999999s"

var randomTexts = []string{"", "a", "plain text of some length", "\"quoted\"", "back\\slash", "line\nbreak\r\t", "\x00\x01\x1f", "äöü", "日本語テキスト", "😀 and 8+ more", "\u2028", "]}{[,:", "null", "\x7f"}

func randomValue(rnd *rand.Rand, t types.Type) any {
	if t.Nullable && rnd.IntN(4) == 0 {
		return nil
	}
	switch t.Kind {
	case types.Bool:
		return rnd.IntN(2) == 0
	case types.Int, types.Duration, types.Time:
		v := rnd.Int64() >> rnd.IntN(63)
		if rnd.IntN(2) == 0 {
			v = -v
		}
		if t.Kind == types.Time {
			v /= 2 // years of four digits that end before 2262
		}
		return v
	case types.Float:
		for {
			if f := math.Float64frombits(rnd.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
				return []float64{f, math.Round(f), float64(rnd.IntN(100000)) / 100, 0, math.Copysign(0, -1)}[rnd.IntN(5)]
			}
		}
	case types.String:
		return randomTexts[rnd.IntN(len(randomTexts))] + randomTexts[rnd.IntN(len(randomTexts))]
	case types.Bytes:
		b := make([]byte, rnd.IntN(12))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return string(b)
	case types.Any:
		return []string{`{"a":[1,2.5,null,"x\"\\"],"b":{}}`, `[]`, `"text"`, `-1e5`, `true`}[rnd.IntN(5)]
	case types.List:
		list := make([]any, rnd.IntN(4))
		for i := range list {
			list[i] = randomValue(rnd, *t.Elem)
		}
		return list
	}
	rec := map[string]any{}
	for _, f := range t.Fields {
		rec[f.Name] = randomValue(rnd, f.Type)
	}
	return rec
}

// What is written reads back as the same columns.
func TestJSONRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var fields []types.Field
		for i := range 1 + rnd.IntN(6) {
			fields = append(fields, types.Field{Name: fmt.Sprintf("f%d", i), Type: randomType(rnd, 0)})
		}
		s := types.NewSchema(fields...)
		rows := make([][]any, rnd.IntN(40))
		for i := range rows {
			for _, f := range fields {
				rows[i] = append(rows[i], randomValue(rnd, f.Type))
			}
		}
		text := encodeJSON(t, &spec.Write{Schema: s}, vec.FromRows(s, rows))
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			require.True(t, line == "" || json.Valid([]byte(line)), line)
		}
		for _, list := range []bool{false, true} {
			if list {
				text = "[\n" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", ",\n\t") + "\n]\n"
			}
			d, err := decodeJSON(&jsonFormat{columns: fields}, text, []int{0, 7, 100}[seed%3])
			require.NoError(t, err)
			require.Empty(t, d.failed, "%s\n%s", s, text)
			require.Len(t, d.rows, len(rows))
			for i := range rows {
				require.Equal(t, showValue(rows[i]), showValue(d.rows[i]), "seed %d: %s\n%s", seed, s, text)
			}
		}
	}
}

func BenchmarkJSONEncode(b *testing.B) {
	text := bidLines(b, false)
	l, err := (&jsonFormat{columns: bidColumns}).open("x", text, true)
	require.NoError(b, err)
	var out parts
	_, err = l.decoder().decode(text, true, &out)
	require.NoError(b, err)
	e, err := newJSONEncoder(&spec.Write{Schema: types.NewSchema(bidColumns...)})
	require.NoError(b, err)
	rows := 0
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		rows = 0
		for _, p := range out.list {
			if _, err := e.Encode(&vec.Batch{N: p.n, Cols: p.cols}); err != nil {
				b.Fatal(err)
			}
			rows += p.n
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}
