package conn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func openJSON(chunk int64) func(*spec.Scan) ([]exec.Source, error) {
	return func(s *spec.Scan) ([]exec.Source, error) {
		return openChunked(s, newJSONFormat(s), jsonExts, chunk)
	}
}

// messyJSON makes lines with nested and escaped values, blank and wrong lines.
func messyJSON(t *rapid.T) string {
	value := rapid.SampledFrom([]string{`1`, `-5`, `null`, `"x"`, `1.0`, `[1,{"a":"]"}]`, `{"s":"\n\"}"}`, `"é \u00e9"`, `1e400`, "\"\xff\"", `tru`})
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\n\n", " \n \t\n"})
	var s strings.Builder
	s.WriteString(rapid.SampledFrom([]string{"", "\ufeff", "\n"}).Draw(t, "bom"))
	for i := range rapid.IntRange(0, 30).Draw(t, "rows") {
		switch rapid.IntRange(0, 12).Draw(t, "kind") {
		case 0:
			s.WriteString(rapid.SampledFrom([]string{`{`, `5`, `{"n":1,"t":3}}`, `{"t":"x"}`, `"`, `{}`, `{"n":1 "t":2}`, `][`}).Draw(t, "bad"))
		case 1:
			fmt.Fprintf(&s, `{ "t" : %d, "x": %s }`, 1000+i*10, value.Draw(t, "x"))
		default:
			fmt.Fprintf(&s, `{"n":%s,"s":"%s","t":%d,"v":%s}`, rapid.SampledFrom([]string{"1", "2.0", "null", "123456789012"}).Draw(t, "n"),
				rapid.SampledFrom([]string{"", "plain", `\"`, "and a longer one: ]},{["}).Draw(t, "s"), 1000+i*10+rapid.IntRange(-50, 50).Draw(t, "t"), value.Draw(t, "v"))
		}
		s.WriteString(end.Draw(t, "end"))
	}
	text := s.String()
	if rapid.Bool().Draw(t, "cut") {
		text = strings.TrimRight(text, "\r\n \t")
	}
	return text
}

var messyJSONSchema = types.NewSchema(field("n", types.T(types.Int).Null()), field("s", types.T(types.String)), field("t", types.Type{Kind: types.Time, Format: "ns"}), field("v", types.T(types.Any).Null()))

// Whatever the chunks and the number of tasks, the same rows, positions, watermarks of rows and failures come out, and
// the same again from a compressed file, which is read as a stream.
func TestJSONChunksAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		paths := []any{}
		for i := range rapid.IntRange(1, 3).Draw(rt, "files") {
			name := fmt.Sprintf("f%d.jsonl", i)
			files[name] = messyJSON(rt)
			paths = append(paths, name)
		}
		r := read{args: map[string]any{"path": paths}, schema: messyJSONSchema, time: "t", lag: 7}
		if rapid.Bool().Draw(rt, "project") {
			r.columns = []int{2, 0}
		}
		want := r.run(t, memEnv(files), openJSON(1<<20))
		require.NoError(rt, want.err)
		for k := range 4 {
			if k == 3 {
				for name, text := range files {
					files[name] = gzipped(t, text)
				}
			}
			r.width = rapid.SampledFrom([]int{1, 2, 3, 5}).Draw(rt, "width")
			r.shuffle = rand.New(rand.NewPCG(1, uint64(rapid.IntRange(0, 1000).Draw(rt, "seed"))))
			chunk := int64(rapid.IntRange(1, 90).Draw(rt, "chunk"))
			have := r.run(t, memEnv(files), openJSON(chunk))
			require.NoError(rt, have.err)
			require.Equal(rt, want.rows, have.rows, "width %d, chunk %d, text %q", r.width, chunk, files)
			require.Equal(rt, want.pos, have.pos)
			require.Equal(rt, want.late, have.late)
			require.Equal(rt, want.errors, have.errors)
		}
	})
}

// An error row holds the text of its object, without what separates objects.
func TestJSONRawText(t *testing.T) {
	for _, text := range []string{"[{\"n\":1}, {\"n\":\"x\"} ,\n\n {\"n\":\"y\"}\n]\n", "{\"n\":\"x\"}\n\n \n{\"n\":\"y\"} \r\n\n", "\n{\"n\":\"x\"\n}\n\n{\"n\":\n\"y\"} {\"n\":2}"} {
		g := read{args: map[string]any{"path": "a.jsonl"}, schema: types.NewSchema(field("n", types.T(types.Int)))}.run(t, memEnv(map[string]string{"a.jsonl": text}), openJSON(1<<20))
		require.NoError(t, g.err)
		require.Len(t, g.errors, 2)
		for i, want := range []string{`{"n":"x"}`, `{"n":"y"}`} {
			_, raw, _ := strings.Cut(g.errors[i], " | ")
			require.Equal(t, want, strings.ReplaceAll(raw, "\n", ""))
			require.True(t, strings.HasSuffix(raw, "}"))
		}
	}
}

// The first wrong row ends the run, and is told with its place.
func TestJSONFailFirst(t *testing.T) {
	var s strings.Builder
	for i := range 500 {
		if i == 300 || i == 320 {
			s.WriteString("\n{\"n\":\"oops\"}\r\n")
		}
		fmt.Fprintf(&s, "{\"n\":%d}\n", i)
	}
	for _, width := range []int{1, 2, 5} {
		r := read{args: map[string]any{"path": "a.jsonl"}, schema: types.NewSchema(field("n", types.T(types.Int))), width: width, mode: "fail"}
		g := r.run(t, memEnv(map[string]string{"a.jsonl": s.String()}), openJSON(64))
		require.EqualError(t, g.err, `src: a.jsonl: row 301 (line 302): column n: "oops" is not an int (byte 6)`+"\n  "+`{"n":"oops"}`)
	}
}

// The lines of the suite, as a source.
func TestJSONSuiteSource(t *testing.T) {
	dir, list := jsonVerdicts(t)
	var text strings.Builder
	var failed []string
	n := 0
	for _, v := range list {
		if v.Wrapped == "" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.Base(v.File)))
		require.NoError(t, err)
		fmt.Fprintf(&text, "{\"name\":%q,\"v\":%s}\n", v.File, b)
		n++
		if v.Wrapped == "reject" {
			failed = append(failed, fmt.Sprintf("a.jsonl %d:", n))
		}
	}
	for _, project := range [][]int{nil, {0}} { // what is not read is checked all the same
		r := read{args: map[string]any{"path": "a.jsonl"}, schema: types.NewSchema(jsonColumns("name: string; v: any")...), width: 3, columns: project}
		g := r.run(t, memEnv(map[string]string{"a.jsonl": text.String()}), openJSON(100))
		require.NoError(t, g.err)
		require.Len(t, g.rows, n-len(failed))
		require.Len(t, g.errors, len(failed))
		for i, e := range g.errors {
			assert.True(t, strings.HasPrefix(e, failed[i]), "%s %s", failed[i], e)
			assert.Contains(t, e, "not valid JSON at byte")
		}
	}
}

// What newcomers bring is read without a schema.
func TestJSONRealFiles(t *testing.T) {
	c := connector(t, "jsonl")
	for _, f := range []struct {
		name string
		rows int
		has  []string
	}{
		{"earthquakes.jsonl", 1707, []string{"mag: float?", "place: string?", "time: int?", "felt: int?", "alert: string?"}},
		{"earthquakes-raw-300.geojson", 1, []string{"type: string?", "metadata: {generated: int?", "features: [{type: string?, properties: {mag: float?", "coordinates: [float?]?"}},
		{"flights-2k.json", 2000, []string{"date: time?", "delay: int?", "origin: string?"}},
		{"github-events.jsonl", 30, []string{"type: string?", "created_at: time?", "actor: {gravatar_id: string?, login: string?", "commits: [{url: string?"}},
		{"movies-1500.json", 1500, []string{"Title: any?", "US Gross: ", "Release Date: ", "IMDB Rating: float?"}},
		{"nginx-plus-status.jsonl", 125, []string{"version: int?", "connections: {accepted: int?"}},
		{"penguins.json", 344, []string{"Species: string?", "Body Mass (g): int?", "Beak Length (mm): float?"}},
	} {
		t.Run(f.name, func(t *testing.T) {
			path := jsonCase(t, "files/"+f.name)
			args := map[string]any{"path": path}
			env := testEnv()
			info, err := c.Info(callArgs(c, args), nil, env)
			require.NoError(t, err)
			for _, h := range f.has {
				assert.Contains(t, info.Schema.String(), h)
			}
			g := read{args: args, schema: info.Schema, info: info, width: 2}.run(t, env, c.Open)
			require.NoError(t, g.err)
			assert.Empty(t, g.errors)
			assert.Len(t, g.rows, f.rows)
			assertSameJSON(t, path, info.Schema, g.batch)
		})
	}
}

// assertSameJSON checks that what is written of the batches says the same as the file, fields that are missing there
// aside.
func assertSameJSON(t *testing.T, path string, s types.Schema, batches []*vec.Batch) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	dec := json.NewDecoder(bytes.NewReader(b))
	var want []any
	for dec.More() {
		var v any
		require.NoError(t, dec.Decode(&v))
		if list, ok := v.([]any); ok {
			want = list
		} else {
			want = append(want, v)
		}
	}
	k := 0
	for _, batch := range batches {
		for _, line := range strings.Split(strings.TrimSuffix(encodeJSON(t, &spec.Write{Schema: s}, batch), "\n"), "\n") {
			var v any
			require.NoError(t, json.Unmarshal([]byte(line), &v))
			require.True(t, sameJSON(want[k], v), "row %d: %v\n%v", k, want[k], v)
			k++
		}
	}
	require.Equal(t, len(want), k)
}

// sameJSON reports whether got says what want does: null may stand for what is missing, and times may be normalised.
func sameJSON(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range w {
			if !sameJSON(v, g[k]) {
				return false
			}
		}
		for k, v := range g {
			if _, ok := w[k]; !ok && v != nil {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !sameJSON(w[i], g[i]) {
				return false
			}
		}
		return true
	case string:
		g, ok := got.(string)
		a, isTime := types.ParseInstant(w)
		b, _ := types.ParseInstant(g)
		return ok && (w == g || isTime && a == b)
	}
	return want == got
}

// A list is read from a file, from a compressed one and from standard input.
func TestJSONListSources(t *testing.T) {
	var b strings.Builder
	b.WriteString("\ufeff\n[\n")
	for i := range 5000 {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  {\n    \"a\": %d,\n    \"s\": \"] %d , [\"\n  }", i, i)
	}
	b.WriteString("\n]\n")
	c := connector(t, "jsonl")
	for _, env := range []*exec.Env{memEnv(map[string]string{"a.json": b.String()}), memEnv(map[string]string{"a.json": gzipped(t, b.String())}), testEnv()} {
		args := map[string]any{"path": "a.json"}
		if _, ok := env.FS.(memFS); !ok {
			args["path"] = "-"
			env.Stdin = strings.NewReader(b.String())
		}
		info, err := c.Info(callArgs(c, args), nil, env)
		require.NoError(t, err)
		require.Equal(t, "{a: int?, s: string?}", info.Schema.String())
		g := read{args: args, schema: info.Schema, info: info, width: 2}.run(t, env, c.Open)
		require.NoError(t, g.err)
		require.Equal(t, 5000, len(g.rows))
		require.Equal(t, `[]interface {}{4999, "] 4999 , ["}`, g.rows[4999])
	}
	env := memEnv(map[string]string{"a.json": b.String()[:b.Len()-20]})
	g := read{args: map[string]any{"path": "a.json"}, schema: types.NewSchema(field("a", types.T(types.Int)))}.run(t, env, c.Open)
	require.ErrorContains(t, g.err, "a.json: the JSON list has no end: the file seems to be cut off")
}

// A list that is longer than a chunk is read once.
func TestJSONListOfChunks(t *testing.T) {
	text := "[" + strings.Repeat(`{"a":1},`, 99) + `{"a":2}]`
	for _, width := range []int{1, 2, 3} {
		r := read{args: map[string]any{"path": []any{"a.json", "b.json"}}, schema: types.NewSchema(field("a", types.T(types.Int))), width: width}
		g := r.run(t, memEnv(map[string]string{"a.json": text, "b.json": text}), openJSON(64))
		require.NoError(t, g.err)
		require.Equal(t, 200, len(g.rows), "files that cannot be cut must count as one chunk")
	}
}

// What a sink writes is there when it is finished, in partitions as well, and reads back.
func TestJSONSink(t *testing.T) {
	s := types.NewSchema(field("k", types.T(types.String).Null()), field("n", types.T(types.Int)))
	rows := vec.FromRows(s, [][]any{{"a", int64(1)}, {"b/c", int64(2)}, {nil, int64(3)}, {"a", int64(4)}})
	c := connector(t, "jsonl")
	write := func(path string, w *spec.Write) {
		w.Args, w.Schema, w.Env = callArgs(c, map[string]any{"path": path}), s, testEnv()
		sink, err := c.Sink(w)
		require.NoError(t, err)
		e, err := c.Encoder(w)
		require.NoError(t, err)
		out, err := e.Encode(rows)
		require.NoError(t, err)
		require.NoError(t, sink.Write(out))
		require.NoError(t, sink.Finish())
		require.NoError(t, sink.Close())
	}
	dir := t.TempDir()
	for _, name := range []string{"out.jsonl", "out.jsonl.gz", "out.jsonl.zst"} {
		path := filepath.Join(dir, name)
		write(path, &spec.Write{})
		g := read{args: map[string]any{"path": path}, schema: s}.run(t, testEnv(), c.Open)
		require.NoError(t, g.err)
		require.Equal(t, []string{`[]interface {}{"a", 1}`, `[]interface {}{"b/c", 2}`, `[]interface {}{interface {}(nil), 3}`, `[]interface {}{"a", 4}`}, g.rows)
	}
	b, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	require.NoError(t, err)
	require.Equal(t, "{\"k\":\"a\",\"n\":1}\n{\"k\":\"b/c\",\"n\":2}\n{\"k\":null,\"n\":3}\n{\"k\":\"a\",\"n\":4}\n", string(b))

	parted := filepath.Join(dir, "parts")
	write(parted, &spec.Write{PartNames: []string{"k"}, Parts: func(b *vec.Batch) ([]*vec.Column, []string, error) { return b.Cols[:1], []string{"k"}, nil }})
	for name, want := range map[string]string{"k=a": "{\"k\":\"a\",\"n\":1}\n{\"k\":\"a\",\"n\":4}\n", "k=b%2Fc": "{\"k\":\"b/c\",\"n\":2}\n", "k=__null__": "{\"k\":null,\"n\":3}\n"} {
		b, err := os.ReadFile(filepath.Join(parted, name, "part-0.jsonl"))
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
	require.True(t, c.Updating(callArgs(c, map[string]any{"path": "x", "changes": true})))
	require.False(t, c.Updating(callArgs(c, map[string]any{"path": "x"})))
}

func TestJSONInfo(t *testing.T) {
	c := connector(t, "jsonl")
	env := memEnv(map[string]string{"a.jsonl": "{\"_change\":\"-D\",\"n\":1}\n"})
	s := types.NewSchema(field("n", types.T(types.Int)))
	info, err := c.Info(callArgs(c, map[string]any{"path": "a.jsonl", "follow": true}), &s, env)
	require.NoError(t, err)
	require.Equal(t, types.SourceInfo{Schema: s}, info)
	_, err = c.Info(callArgs(c, map[string]any{"path": "missing.jsonl"}), &s, env)
	require.NoError(t, err, "a check needs no data")
	_, err = c.Info(callArgs(c, map[string]any{"path": "missing.jsonl"}), nil, env)
	require.ErrorContains(t, err, "missing.jsonl")
	_, err = c.Info(callArgs(c, map[string]any{"path": ""}), &s, env)
	require.ErrorContains(t, err, "the path is empty")
	bad := types.NewSchema(field(changeColumn, types.T(types.String)))
	_, err = c.Info(callArgs(c, map[string]any{"path": "a.jsonl", "changes": true}), &bad, env)
	require.ErrorContains(t, err, "no part of the schema")
	g := read{args: map[string]any{"path": "a.jsonl", "changes": true}, schema: s}.run(t, env, c.Open)
	require.NoError(t, g.err)
	require.Equal(t, []vec.Change{vec.Delete}, g.batch[0].Change)
}
