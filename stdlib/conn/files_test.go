package conn

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// messyCSV makes a text with quoted fields, line ends in them, empty lines and wrong rows.
func messyCSV(t *rapid.T) string {
	word := rapid.SampledFrom([]string{"", "a", "bc", "é", "\"\"", "x y", "\"q\"", "\"a,b\"", "\"1\n2\"", "\"\r\n\"", "\"say \"\"hi\"\"\"", "long text that goes on and on", "\"\n\n\n\""})
	num := rapid.SampledFrom([]string{"0", "-1", "42", "1234567", "123456789012", "-9223372036854775808", "9223372036854775807", "", "x", "1.0"})
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\n\n", "\r\n\r\n"})
	var s strings.Builder
	s.WriteString(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom"))
	s.WriteString("n,s,t,u\n")
	for i := range rapid.IntRange(0, 30).Draw(t, "rows") {
		if rapid.IntRange(0, 20).Draw(t, "kind") == 0 {
			s.WriteString(rapid.SampledFrom([]string{"1,2", "1,2,3,4,5", "1,\"x\"y,3,4", "3,a\"b\"c,4,5"}).Draw(t, "bad"))
		} else {
			fmt.Fprintf(&s, "%s,%s,%d,%s", num.Draw(t, "n"), word.Draw(t, "s"), 1000+i*10+rapid.IntRange(-50, 50).Draw(t, "t"), word.Draw(t, "u"))
		}
		s.WriteString(end.Draw(t, "end"))
	}
	text := s.String()
	if rapid.Bool().Draw(t, "cut") {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

var messySchema = types.NewSchema(field("n", types.T(types.Int).Null()), field("s", types.T(types.String).Null()), field("t", types.Type{Kind: types.Time, Format: "ns"}), field("u", types.T(types.String)))

// Whatever the chunks and the number of tasks, the same rows, positions, watermarks of rows and failures come out.
func TestChunksAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		paths := []any{}
		for i := range rapid.IntRange(1, 3).Draw(rt, "files") {
			name := fmt.Sprintf("f%d.csv", i)
			files[name] = messyCSV(rt)
			paths = append(paths, name)
		}
		r := read{args: map[string]any{"path": paths}, schema: messySchema, time: "t", lag: 7}
		if rapid.Bool().Draw(rt, "project") {
			r.columns = []int{2, 3}
		}
		want := r.run(t, memEnv(files), openCSV(1<<20))
		require.NoError(rt, want.err)
		for range 4 {
			r.width = rapid.SampledFrom([]int{1, 2, 3, 5}).Draw(rt, "width")
			r.shuffle = rand.New(rand.NewPCG(1, uint64(rapid.IntRange(0, 1000).Draw(rt, "seed"))))
			chunk := int64(rapid.IntRange(1, 90).Draw(rt, "chunk"))
			have := r.run(t, memEnv(files), openCSV(chunk))
			require.NoError(rt, have.err)
			require.Equal(rt, want.rows, have.rows, "width %d, chunk %d, text %q", r.width, chunk, files)
			require.Equal(rt, want.pos, have.pos)
			require.Equal(rt, want.late, have.late)
			require.Equal(rt, want.errors, have.errors)
		}
		var rows int
		for _, b := range want.batch {
			rows += b.Rows()
		}
		require.Equal(rt, rows, len(want.rows))
	})
}

func openLines(chunk int64) func(*spec.Scan) ([]exec.Source, error) {
	return func(s *spec.Scan) ([]exec.Source, error) {
		return openChunked(s, lineFormat{columns: s.Schema.Fields, wanted: s.Columns}, nil, chunk)
	}
}

var lineSchema = types.NewSchema(field("line", types.T(types.String)))

func TestLines(t *testing.T) {
	r := read{args: map[string]any{"path": "a.log"}, schema: lineSchema}
	text := "one\r\n\ntwo \"x\n\x00three"
	for _, chunk := range []int64{1, 2, 3, 5, 100} {
		for _, width := range []int{1, 2, 3} {
			r.width = width
			g := r.run(t, memEnv(map[string]string{"a.log": text}), openLines(chunk))
			require.NoError(t, g.err)
			require.Equal(t, []string{`[]interface {}{"one"}`, `[]interface {}{""}`, `[]interface {}{"two \"x"}`, `[]interface {}{"\x00three"}`}, g.rows)
		}
	}
	for _, text := range []string{"", "\n", "x", "x\n"} {
		g := r.run(t, memEnv(map[string]string{"a.log": text}), openLines(1<<20))
		require.NoError(t, g.err)
		require.Equal(t, len(bytes.SplitAfter([]byte(text), []byte("\n")))-map[bool]int{true: 1}[text == "" || strings.HasSuffix(text, "\n")], len(g.rows), "%q", text)
	}
}

// A watermark is sent when event time advances, and only once the last file is being read.
func TestWatermarks(t *testing.T) {
	files := map[string]string{"a.csv": "t\n100\n90\n300\n", "b.csv": "t\n50\n60\n"}
	s := types.NewSchema(field("t", types.Type{Kind: types.Time, Format: "ns"}))
	g := read{args: map[string]any{"path": []any{"b.csv", "a.csv"}}, schema: s, time: "t", lag: 5}.run(t, memEnv(files), openCSV(1<<20))
	require.NoError(t, g.err)
	require.Equal(t, []string{"0: 55"}, g.marks)
	require.Equal(t, []string{fmt.Sprintf("%d: 95", vec.Position(1, 0, 1))}, g.late)
	env := memEnv(files)
	sources, err := openCSV(1 << 20)(read{args: map[string]any{"path": "a.csv"}, schema: s, time: "t"}.scanOf(env))
	require.NoError(t, err)
	got{}.drain(t, sources, nil)
	name, row := env.Splits.Where(vec.Position(1, 0, 2))
	require.Equal(t, "a.csv", name)
	require.EqualValues(t, 3, row)
}

func TestFailFirst(t *testing.T) {
	var s strings.Builder
	s.WriteString("n,s\n")
	for i := range 500 {
		if i == 300 || i == 320 {
			s.WriteString("oops,\"a\nb\"\n")
		}
		fmt.Fprintf(&s, "%d,\"x\ny\"\n", i)
	}
	schema := types.NewSchema(field("n", types.T(types.Int)), field("s", types.T(types.String)))
	for _, width := range []int{1, 2, 5} {
		for seed := range uint64(20) {
			r := read{args: map[string]any{"path": "a.csv"}, schema: schema, width: width, mode: "fail", shuffle: rand.New(rand.NewPCG(1, seed))}
			g := r.run(t, memEnv(map[string]string{"a.csv": s.String()}), openCSV(64))
			var e *exec.RowError
			require.ErrorAs(t, g.err, &e)
			require.EqualValues(t, 301, e.Row)
			require.EqualValues(t, 602, e.Line)
			require.Equal(t, "oops,\"a\nb\"", e.Raw)
			require.Equal(t, `src: a.csv: row 301 (line 602): column n: "oops" is not an int`+"\n  oops,\"a\nb\"", e.Error())
		}
	}
}

// With a goroutine for each task, waking alone keeps the chunks going.
func TestConcurrently(t *testing.T) {
	files := map[string]string{"a.csv": numbers(0, 20_000), "b.csv": numbers(20_000, 30_000), "c.csv.gz": gzipped(t, numbers(30_000, 40_000)), "d.csv": "n,s\n"}
	for _, width := range []int{1, 2, 4, 7} {
		s := read{args: map[string]any{"path": []any{"a.csv", "b.csv", "c.csv.gz", "d.csv"}}, schema: numberSchema, width: width, time: "n"}.scanOf(memEnv(files))
		wakes := make([]chan struct{}, width)
		for i := range wakes {
			wakes[i] = make(chan struct{}, 1)
			s.Hosts = append(s.Hosts, &exec.Host{Env: s.Env, Wake: func() {
				select {
				case wakes[i] <- struct{}{}:
				default:
				}
			}})
		}
		sources, err := openCSV(700)(s)
		require.NoError(t, err)
		var sum, rows atomic.Int64
		errs := make(chan error, width)
		for i, src := range sources {
			go func() {
				out := exec.NewTap(func(_ int, it exec.Item) {
					if it.Kind == exec.Rows {
						rows.Add(int64(it.Batch.Rows()))
						for i := range it.Batch.Rows() {
							sum.Add(it.Batch.Cols[0].Ints[it.Batch.Row(i)])
						}
					}
				})
				for {
					st, err := src.Poll(out)
					if st == exec.Done || err != nil {
						errs <- err
						return
					}
					if st == exec.Idle {
						select {
						case <-wakes[i]:
						case <-time.After(time.Minute):
							errs <- errors.New("nobody wakes the task")
							return
						}
					}
				}
			}()
		}
		for range sources {
			require.NoError(t, <-errs)
		}
		for _, src := range sources {
			require.NoError(t, src.Close())
		}
		require.EqualValues(t, 40_000, rows.Load())
		require.EqualValues(t, 40_000*39_999/2, sum.Load())
	}
}

// A task that is stopped early does not leave the others waiting.
func TestStopped(t *testing.T) {
	s := read{args: map[string]any{"path": "a.csv"}, schema: numberSchema, width: 3, time: "n"}.scanOf(memEnv(map[string]string{"a.csv": numbers(0, 1000)}))
	sources, err := openCSV(100)(s)
	require.NoError(t, err)
	out := exec.NewTap(func(int, exec.Item) {})
	st, err := sources[1].Poll(out)
	require.NoError(t, err)
	require.Equal(t, exec.Idle, st)
	require.NoError(t, sources[0].Close())
	st, err = sources[1].Poll(out)
	require.NoError(t, err)
	require.Equal(t, exec.Done, st)
}

func TestTimeMustBeThere(t *testing.T) {
	schema := types.NewSchema(field("t", types.Type{Kind: types.Time, Format: "s", Nullable: true}), field("x", types.T(types.Int)))
	text := "t,x\n1,1\n,2\n3,3\n4,oops\n,\n6,6\n"
	g := read{args: map[string]any{"path": "a.csv"}, schema: schema, time: "t"}.run(t, memEnv(map[string]string{"a.csv": text}), openCSV(1<<20))
	require.NoError(t, g.err)
	require.Len(t, g.rows, 3)
	require.Equal(t, []string{"a.csv 2: the event time is null | ,2", `a.csv 4: column x: "oops" is not an int | 4,oops`, "a.csv 5: column x: empty, but int is not nullable; a schema may say x: int? | ,"}, g.errors)
	require.Equal(t, []uint64{vec.Position(1, 0, 0), vec.Position(1, 0, 2), vec.Position(1, 0, 5)}, g.pos)
}

// A record that is longer than a chunk, and one far longer than what is read at once.
func TestLongRecords(t *testing.T) {
	long := strings.Repeat("0123456789\n", 1<<20)
	text := "n,s\n1,a\n2,\"" + long + "\"\n3,c\n"
	schema := types.NewSchema(field("n", types.T(types.Int)), field("s", types.T(types.String)))
	for _, width := range []int{1, 2, 3} {
		g := read{args: map[string]any{"path": "a.csv"}, schema: schema, width: width}.run(t, memEnv(map[string]string{"a.csv": text}), openCSV(1<<20))
		require.NoError(t, g.err)
		require.Len(t, g.rows, 3)
		require.Equal(t, long, g.batch[0].Cols[1].Strs[1])
	}
	env := testEnv()
	env.Stdin = strings.NewReader(text)
	g := read{args: map[string]any{"path": "-"}, schema: schema}.run(t, env, openCSV(1<<20))
	require.NoError(t, g.err)
	require.Len(t, g.rows, 3)
}

func TestHundredMegabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	long := strings.Repeat("x", 100<<20)
	schema := types.NewSchema(field("n", types.T(types.Int)), field("s", types.T(types.String)))
	for _, args := range []map[string]any{{"path": "a.csv"}, {"path": "a.csv", "lazy_quotes": true}} {
		g := read{args: args, schema: schema, width: 2}.run(t, memEnv(map[string]string{"a.csv": "n,s\n1," + long + "\n2,b"}), func(s *spec.Scan) ([]exec.Source, error) { return csvOpen(s) })
		require.NoError(t, g.err)
		require.Len(t, g.rows, 2)
		require.Len(t, g.batch[0].Cols[1].Strs[0], len(long))
	}
}

func TestUnclosedQuote(t *testing.T) {
	schema := types.NewSchema(field("n", types.T(types.Int)), field("s", types.T(types.String)))
	text := "n,s\n1,a\n2,\"b\n3,c\n4,d\n"
	for _, chunk := range []int64{3, 1 << 20} {
		g := read{args: map[string]any{"path": "a.csv"}, schema: schema, width: 2}.run(t, memEnv(map[string]string{"a.csv": text}), openCSV(chunk))
		require.NoError(t, g.err)
		require.Len(t, g.rows, 1)
		require.Equal(t, []string{"a.csv 2: the quote that opens field 2 is never closed | 2,\"b\n3,c\n4,d"}, g.errors)
	}
}

// paths

func writeFiles(t testing.TB, dir string, files map[string]string) {
	for name, text := range files {
		p := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o777))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o666))
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"b.csv": "b", "a.csv": "a", "c.txt": "c", "d.json": "d", ".hidden.csv": "h", "_x.csv": "x", "sub/e.csv": "e", "sub/deep/f.csv": "f", "odd[1].csv": "o", "empty/g.json": "g", "packed/a.csv.gz": "", "packed/b.csv.zst": "", "packed/c.gz": ""})
	t.Chdir(dir)
	list := func(paths ...any) string {
		ins, err := listFiles(&types.ConnArgs{Args: map[string]any{"path": paths}}, exec.OS(), csvExts)
		if err != nil {
			return err.Error()
		}
		var names []string
		for _, in := range ins {
			names = append(names, in.name)
		}
		return strings.Join(names, " ")
	}
	require.Equal(t, "a.csv b.csv odd[1].csv", list("*.csv"))
	require.Equal(t, "a.csv b.csv", list("b.csv", "a.csv", "a.csv"))
	require.Equal(t, "a.csv b.csv c.txt odd[1].csv packed/a.csv.gz packed/b.csv.zst sub/deep/f.csv sub/e.csv", list("."))
	require.Equal(t, "sub/deep/f.csv sub/e.csv", list("sub"))
	require.Equal(t, "sub/deep/f.csv sub/e.csv", list("sub/**/*.csv"))
	require.Equal(t, "a.csv b.csv odd[1].csv sub/deep/f.csv sub/e.csv", list("**/*.csv"))
	require.Equal(t, "sub/deep/f.csv sub/e.csv", list("sub/**"))
	require.Equal(t, ".hidden.csv _x.csv", list(".h*.csv", "_*.csv"))
	require.Equal(t, "odd[1].csv", list("odd[1].csv"))
	require.Equal(t, `no file matches "z*.csv"`, list("z*.csv"))
	require.Equal(t, `the pattern "[": syntax error in pattern`, list("["))
	require.Equal(t, "cannot open a.cvs: there is no such file; did you mean a.csv?", list("a.cvs"))
	require.Equal(t, "cannot open no/a.csv: there is no folder no", list("no/a.csv"))
	require.Contains(t, list("empty"), "the folder empty has no files that end in .csv .tsv .txt")
	require.Contains(t, list(""), "the path is empty")
}
