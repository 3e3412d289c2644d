package conn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func inferText(t *testing.T, text string, args map[string]any) (types.SourceInfo, error) {
	c := connector(t, "jsonl")
	if args == nil {
		args = map[string]any{}
	}
	args["path"] = "a.jsonl"
	return c.Info(callArgs(c, args), nil, memEnv(map[string]string{"a.jsonl": text}))
}

func TestJSONInfer(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1,"b":1.5,"c":"x","d":true,"e":null,"f":"2026-01-31T10:00:00Z"}`, `{a: int?, b: float?, c: string?, d: bool?, e: any?, f: time?}`},
		{`{"a":1}` + "\n\n" + `{"a":2.5,"b":"x"}` + "\r\n", `{a: float?, b: string?}`},
		{`{"a":12345678901234567890}`, `{a: float?}`},
		{`{"a":1}` + "\n" + `{"a":"x"}`, `{a: any?}`},
		{`{"a":"2026-01-31"}` + "\n" + `{"a":"soon"}`, `{a: string?}`},
		{`{"a":null}` + "\n" + `{"a":"2026/01/31 10:00"}`, `{a: time?}`},
		{`{"a":{"x":1,"y":[]}}` + "\n" + `{"a":{"y":[1,null,2.5],"z":{"q":"w"}}}`, `{a: {x: int?, y: [float?]?, z: {q: string?}?}?}`},
		{`{"a":[],"b":{}}`, `{a: [any?]?, b: any?}`},
		{`{"a":[1,"x"],"b":[{"c":1},{"d":2}],"e":[[1],[2.5]]}`, `{a: [any?]?, b: [{c: int?, d: int?}?]?, e: [[float?]?]?}`},
		{`{"a":{"x":1}}` + "\n" + `{"a":5}` + "\n" + `{"a":{"y":2}}`, `{a: any?}`},
		{`{"a b":1,"":2,"ä":3}`, `{@"a b": int?, @"": int?, @"ä": int?}`},
		{`nonsense` + "\n" + `{"a":1}` + "\n" + `{"a":"x",}` + "\n" + `5`, `{a: int?}`},
		{"[\n  {\"a\": 1},\n  {\"a\": 2.5, \"b\": {}}\n]", `{a: float?, b: any?}`},
		{"{\n  \"a\": 1\n}\n{\n  \"b\": \"x\"\n}\n", `{a: int?, b: string?}`},
		{strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30), `{` + strings.Repeat("a: {", 16) + "a: any?" + strings.Repeat("}?", 16) + `}`},
	} {
		info, err := inferText(t, c.text, nil)
		if assert.NoError(t, err, c.text) {
			assert.Equal(t, c.want, strings.ReplaceAll(quoteNames(info.Schema), "@a", "a"), c.text)
			assert.True(t, info.Inferred && info.Bounded)
			assert.Regexp(t, `schema inferred from the \d+ rows? of a.jsonl`, info.Note)
		}
	}
	var many strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&many, "{\"a\":%d,\"m\":{\"k%d\":1}%s}\n", i, i, map[bool]string{true: `,"b":1`}[i >= 1000])
	}
	info, err := inferText(t, many.String(), nil)
	require.NoError(t, err)
	assert.Equal(t, `{a: int?, m: any?}`, info.Schema.String())
	assert.Equal(t, `schema inferred from the first 1,000 rows of a.jsonl`, info.Note)

	info, err = inferText(t, `{"_change":"+I","a":1}`, map[string]any{"changes": true})
	require.NoError(t, err)
	assert.Equal(t, `{a: int?}`, info.Schema.String())
	for text, want := range map[string]string{"": "a.jsonl is empty, so its columns are not known; write a schema", "[]": "is empty", "5\nx\n": "no JSON object in the 2 rows, so its columns are not known; row 1 is 5", `{"a":NaN}`: "row 1 is not valid JSON at byte 6", `{"a":1} {"a":2}`: "row 1 is not valid JSON at byte 8", "\xff\xfe{\x00": "UTF-16"} {
		_, err = inferText(t, text, nil)
		assert.ErrorContains(t, err, want)
	}
	c := connector(t, "jsonl") // empty files say nothing, as long as one is not
	info, err = c.Info(callArgs(c, map[string]any{"path": []any{"a.jsonl", "b.jsonl"}}), nil, memEnv(map[string]string{"a.jsonl": "", "b.jsonl": `{"a":1}`}))
	require.NoError(t, err)
	assert.Equal(t, `{a: int?}`, info.Schema.String())
	_, err = inferText(t, `{"a":1}`, map[string]any{"changes": true})
	assert.ErrorContains(t, err, "no field _change")
}

// quoteNames prints a schema with its names as a script must write them.
func quoteNames(s types.Schema) string {
	parts := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		parts[i] = types.QuoteName(f.Name) + ": " + f.Type.String()
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// A later row that does not fit is told why its column has the type.
func TestJSONInferredMisfit(t *testing.T) {
	var text strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&text, "{\"a\":%d,\"r\":{\"x\":[%v]}}\n", i, i)
	}
	text.WriteString("{\"a\":\"many\"}\n{\"a\":-1.5}\n{\"r\":{\"x\":[1,\"two\"]}}\n")
	env := memEnv(map[string]string{"a.jsonl": text.String()})
	c := connector(t, "jsonl")
	args := map[string]any{"path": "a.jsonl"}
	info, err := c.Info(callArgs(c, args), nil, env)
	require.NoError(t, err)
	g := read{args: args, schema: info.Schema, info: info}.run(t, env, c.Open)
	require.NoError(t, g.err)
	require.Len(t, g.rows, 1200)
	assert.Equal(t, []string{
		`a.jsonl 1201: column a: "many" is not an int (byte 6). Row 1 (0) made it an int, from the first 1,000 rows; to read other values write the types: schema {a: any?, …} | {"a":"many"}`,
		`a.jsonl 1202: column a: -1.5 is not an int (byte 6). Row 1 (0) made it an int, from the first 1,000 rows; to read other values write the types: schema {a: float?, …} | {"a":-1.5}`,
		`a.jsonl 1203: column r.x[]: "two" is not an int (byte 14). Row 1 (0) made it an int, from the first 1,000 rows; to read other values write the types: schema {r: any?, …} | {"r":{"x":[1,"two"]}}`,
	}, g.errors)
	args["path"] = "b.jsonl"
	env = memEnv(map[string]string{"b.jsonl": strings.Repeat("{\"t\":\"2026-01-31\"}\n", 1000) + "{\"t\":\"soon\"}\n{\"u\":1,\"t\":5}\n"})
	info, err = c.Info(callArgs(c, args), nil, env)
	require.NoError(t, err)
	g = read{args: args, schema: info.Schema, info: info}.run(t, env, c.Open)
	require.NoError(t, g.err)
	require.Len(t, g.errors, 2)
	assert.Contains(t, g.errors[0], `. Row 1 ("2026-01-31") made it a time, from the first 1,000 rows; to read other values write the types: schema {t: string?, …}`)
	assert.Contains(t, g.errors[1], `write the types: schema {t: any?, …}`)
	args["path"] = "a.jsonl"
	env = memEnv(map[string]string{"a.jsonl": text.String()})
	declared := types.NewSchema(field("a", types.T(types.Int)))
	g = read{args: args, schema: declared}.run(t, env, c.Open)
	require.NoError(t, g.err)
	assert.Equal(t, []string{`a.jsonl 1201: column a: "many" is not an int (byte 6) | {"a":"many"}`, `a.jsonl 1202: column a: -1.5 is not an int (byte 6) | {"a":-1.5}`,
		`a.jsonl 1203: column a: missing, and int is not nullable; a schema may say a: int? | {"r":{"x":[1,"two"]}}`}, g.errors)
}
