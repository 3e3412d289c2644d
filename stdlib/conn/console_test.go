package conn

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var consoleSchema = types.NewSchema(
	types.Field{Name: "name", Type: types.T(types.String).Null()},
	types.Field{Name: "n", Type: types.T(types.Int).Null()},
	types.Field{Name: "ratio", Type: types.T(types.Float)},
	types.Field{Name: "at", Type: types.T(types.Time)},
	types.Field{Name: "tags", Type: types.ListOf(types.T(types.String))},
)

var consoleRows = [][]any{
	{"Ann", int64(7), 0.5, int64(0), []any{"x", "y"}},
	{nil, nil, 1.25e30, int64(1_500_000_000), []any{}},
	{"tab\there\nand \x1b[31mred\x1b[0m \xff", int64(-1234567), 3.0, int64(86400e9), []any{"\t"}},
	{"", int64(0), 0.0, int64(-1), []any{}},
	{"漢字", int64(5), 0.1, int64(0), []any{}},
}

// printTo writes batches to a console and returns what it has printed after each of them, and at the end.
func printTo(t *testing.T, format string, changes bool, s types.Schema, finish bool, batches ...*vec.Batch) []string {
	t.Helper()
	c := connector(t, "console")
	var buf bytes.Buffer
	env := exec.OS()
	env.Stdout = &buf
	w := &spec.Write{Name: "console", Args: callArgs(c, map[string]any{"format": format}), Schema: s, Changes: changes, Env: env}
	enc, err := c.Encoder(w)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := c.Sink(w)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range batches {
		lines, err := enc.Encode(b)
		if err != nil {
			t.Fatal(err)
		}
		if lines.Block == nil || lines.N != b.Rows() {
			t.Fatalf("%d lines for %d rows", lines.N, b.Rows())
		}
		if err := sink.Write(lines); err != nil {
			t.Fatal(err)
		}
		out = append(out, buf.String())
		buf.Reset()
	}
	if finish {
		if err := sink.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return append(out, buf.String())
}

func TestConsoleFormats(t *testing.T) {
	b := vec.FromRows(consoleSchema, consoleRows)
	for format, want := range map[string]string{
		"table": `
name                                           n     ratio  at                              tags
──────────────────────────────────────  ────────  ────────  ──────────────────────────────  ─────────
Ann                                            7       0.5  1970-01-01T00:00:00Z            ["x","y"]
null                                        null  1.25e+30  1970-01-01T00:00:01.500Z        []
tab\there\nand \x1b[31mred\x1b[0m \xff  -1234567         3  1970-01-02T00:00:00Z            ["\t"]
                                               0         0  1969-12-31T23:59:59.999999999Z  []
漢字                                           5       0.1  1970-01-01T00:00:00Z            []
`,
		"jsonl": `
{"name":"Ann","n":7,"ratio":0.5,"at":"1970-01-01T00:00:00Z","tags":["x","y"]}
{"name":null,"n":null,"ratio":1.25e+30,"at":"1970-01-01T00:00:01.500Z","tags":[]}
{"name":"tab\there\nand \u001b[31mred\u001b[0m ` + "\uFFFD" + `","n":-1234567,"ratio":3,"at":"1970-01-02T00:00:00Z","tags":["\t"]}
{"name":"","n":0,"ratio":0,"at":"1969-12-31T23:59:59.999999999Z","tags":[]}
{"name":"漢字","n":5,"ratio":0.1,"at":"1970-01-01T00:00:00Z","tags":[]}
`,
		"csv": "\nname,n,ratio,at,tags\n" + `Ann,7,0.5,1970-01-01T00:00:00Z,"[""x"",""y""]"
,,1.25e+30,1970-01-01T00:00:01.500Z,[]
"tab` + "\there\nand \x1b[31mred\x1b[0m \xff" + `",-1234567,3,1970-01-02T00:00:00Z,"[""\t""]"
"",0,0,1969-12-31T23:59:59.999999999Z,[]
漢字,5,0.1,1970-01-01T00:00:00Z,[]
`,
	} {
		got := strings.Join(printTo(t, format, false, consoleSchema, true, b), "")
		if want = want[1:]; got != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
}

func TestConsoleChanges(t *testing.T) {
	s := types.NewSchema(types.Field{Name: "k", Type: types.T(types.String)}, types.Field{Name: "n", Type: types.T(types.Int)})
	plain := vec.FromRows(s, [][]any{{"a", int64(1)}})
	b := vec.FromRows(s, [][]any{{"a", int64(1)}, {"gone", int64(1)}, {"a", int64(2)}, {"b", int64(10)}})
	b.Change = []vec.Change{vec.UpdateBefore, vec.Insert, vec.UpdateAfter, vec.Delete}
	b = b.Select([]uint32{0, 2, 3})
	for format, want := range map[string]string{
		"table": "_change  k   n\n───────  ─  ──\n+I       a   1\n-U       a   1\n+U       a   2\n-D       b  10\n",
		"csv":   "_change,k,n\n+I,a,1\n-U,a,1\n+U,a,2\n-D,b,10\n",
		"jsonl": `{"_change":"+I","k":"a","n":1}` + "\n" + `{"_change":"-U","k":"a","n":1}` + "\n" + `{"_change":"+U","k":"a","n":2}` + "\n" + `{"_change":"-D","k":"b","n":10}` + "\n",
	} {
		if got := strings.Join(printTo(t, format, true, s, true, plain, b), ""); got != want {
			t.Errorf("%s:\n%s", format, got)
		}
	}
	if c := connector(t, "console"); !c.Updating(callArgs(c, nil)) {
		t.Error("console takes updating streams")
	}
}

// TestConsoleStreams: rows are printed once the widths are known, and memory does not grow with their number.
func TestConsoleStreams(t *testing.T) {
	s := types.NewSchema(types.Field{Name: "id", Type: types.T(types.Int)}, types.Field{Name: "text", Type: types.T(types.String)}, types.Field{Name: "end", Type: types.T(types.Bool)})
	rows := func(from, n int, text string) *vec.Batch {
		var list [][]any
		for i := range n {
			list = append(list, []any{int64(from + i), text, true})
		}
		return vec.FromRows(s, list)
	}
	out := printTo(t, "table", false, s, true, rows(1, 999, "abc"), rows(1000, 10, "abcdef"), rows(2000, 2, "longer than before"))
	if out[0] != "" {
		t.Error("printed before the widths are known")
	}
	if !strings.HasPrefix(out[1], "  id  text    end\n────  ──────  ────\n   1  abc     true\n") || strings.Count(out[1], "\n") != 2+1009 {
		t.Errorf("%.200s", out[1])
	}
	if out[2] != "2000  longer than before  true\n2001  longer than before  true\n" || out[3] != "" {
		t.Errorf("%q", out[2:])
	}
	if out := printTo(t, "table", false, s, true); out[0] != "id  text  end\n──  ────  ───\n" {
		t.Errorf("without rows: %q", out)
	}
	// A run that fails shows what it had.
	if out := printTo(t, "table", false, s, false, rows(1, 1, "abc")); out[1] != "id  text  end\n──  ────  ────\n 1  abc   true\n" {
		t.Errorf("after a failure: %q", out)
	}
}

// TestConsoleEndless: a stream without an end is not kept waiting, nor is a slow one.
func TestConsoleEndless(t *testing.T) {
	s := types.NewSchema(types.Field{Name: "n", Type: types.T(types.Int)})
	row := []*vec.Batch{vec.FromRows(s, [][]any{{int64(1)}}), vec.FromRows(s, [][]any{{int64(22)}})}
	for _, endless := range []bool{true, false} {
		var buf bytes.Buffer
		env := exec.OS()
		now := int64(5e9)
		env.Now = func() int64 { return now }
		env.Stdout = &buf
		env.Stats.Unbounded.Store(endless)
		w := &spec.Write{Args: &types.ConnArgs{}, Schema: s, Env: env}
		sink := newTable(w)
		for i, b := range row {
			lines, _ := newTableEncoder(w).Encode(b)
			if err := sink.Write(lines); err != nil {
				t.Fatal(err)
			}
			if printed := buf.Len() > 0; printed != (endless || i == 1) {
				t.Errorf("endless %v, batch %d: %q", endless, i, buf.String())
			}
			now += tableWait
		}
	}
}

type failingWriter struct{ err error }

func (b failingWriter) Write([]byte) (int, error) { return 0, b.err }

func TestConsoleErrors(t *testing.T) {
	c := connector(t, "console")
	b := vec.FromRows(consoleSchema, consoleRows)
	for _, format := range []string{"table", "jsonl", "csv"} {
		for _, broken := range []error{syscall.EPIPE, io.ErrShortWrite} {
			env := exec.OS()
			env.Stdout = failingWriter{broken}
			w := &spec.Write{Args: callArgs(c, map[string]any{"format": format}), Schema: consoleSchema, Env: env}
			enc, _ := c.Encoder(w)
			sink, err := c.Sink(w)
			if err == nil {
				lines, _ := enc.Encode(b)
				if err = sink.Write(lines); err == nil {
					err = sink.Finish()
				}
				sink.Close()
			}
			if broken == syscall.EPIPE && !errors.Is(err, exec.ErrReaderGone) || broken != syscall.EPIPE && (errors.Is(err, exec.ErrReaderGone) || !errors.Is(err, io.ErrShortWrite)) {
				t.Errorf("%s, %v: %v", format, broken, err)
			}
		}
	}
	w := &spec.Write{Args: callArgs(c, map[string]any{"format": "xml"}), Env: exec.OS()}
	if _, err := c.Sink(w); err == nil || !strings.Contains(err.Error(), `"xml" is not one of "table", "jsonl" and "csv"`) {
		t.Error(err)
	}
	if _, err := c.Encoder(w); err == nil {
		t.Error("no error")
	}
}

func TestBlackhole(t *testing.T) {
	c := connector(t, "blackhole")
	sink, err := c.Sink(&spec.Write{Args: callArgs(c, nil), Env: exec.OS()})
	if err != nil || !c.Updating(nil) || c.Encoder != nil {
		t.Fatal(err)
	}
	env := exec.OS()
	op := &exec.SinkOperator{Sink: sink, Stats: env.Stats}
	b := vec.FromRows(consoleSchema, consoleRows)
	if err := op.Process(0, b.Select([]uint32{1, 2}), nil); err != nil {
		t.Fatal(err)
	}
	if env.Stats.RowsOut.Load() != 2 || op.Finish(nil) != nil || op.Close() != nil {
		t.Error("not counted")
	}
}

func BenchmarkConsoleTable(b *testing.B) {
	r := newSourceRun(b, "nexmark", map[string]any{"kind": "bid", "events": int64(4000)}, 1)
	batch := vec.Concat(r.run())
	env := exec.OS()
	env.Stdout = io.Discard
	w := &spec.Write{Args: &types.ConnArgs{}, Schema: r.info.Schema, Env: env}
	sink, enc := newTable(w), newTableEncoder(w)
	for b.Loop() {
		lines, _ := enc.Encode(batch)
		if err := sink.Write(lines); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(batch.N)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
