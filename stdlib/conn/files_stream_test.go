package conn

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func gzipped(t testing.TB, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

func zstded(t testing.TB, text string) string {
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return string(z.EncodeAll([]byte(text), nil))
}

func numbers(from, to int) string {
	var s strings.Builder
	s.WriteString("n,s\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&s, "%d,\"x\ny\"\n", i)
	}
	return s.String()
}

var numberSchema = types.NewSchema(field("n", types.Type{Kind: types.Time, Format: "ns"}), field("s", types.T(types.String)))

// Plain and compressed files, read side by side, come out in the order of their names.
func TestCompressed(t *testing.T) {
	files := map[string]string{
		"a.csv.gz": gzipped(t, numbers(0, 30_000)), "b.csv": numbers(30_000, 31_000), "c.csv.zst": zstded(t, numbers(31_000, 32_000)),
		"d": gzipped(t, numbers(32_000, 33_000)) + gzipped(t, "33000,z\n"), // two members
	}
	names := []any{"d", "c.csv.zst", "b.csv", "a.csv.gz"}
	for _, width := range []int{1, 2, 3} {
		env := memEnv(files)
		g := read{args: map[string]any{"path": names}, schema: numberSchema, width: width, time: "n", lag: 10, shuffle: rand.New(rand.NewPCG(1, 2))}.run(t, env, openCSV(100))
		require.NoError(t, g.err)
		require.Empty(t, g.errors)
		require.Len(t, g.rows, 33_001)
		for i, r := range g.rows[:33_000] {
			require.Equal(t, fmt.Sprintf(`[]interface {}{%d, "x\ny"}`, i), r)
		}
		for _, m := range g.marks {
			require.Contains(t, m, ": 3", "watermarks only from the last file")
		}
		require.EqualValues(t, 33_001, env.Stats.RowsIn.Load())
		require.Equal(t, env.Stats.BytesTotal.Load(), env.Stats.BytesIn.Load())
		require.False(t, env.Stats.SizeUnknown.Load())
	}
	cut := files["a.csv.gz"]
	g := read{args: map[string]any{"path": "a.gz"}, schema: numberSchema}.run(t, memEnv(map[string]string{"a.gz": cut[:len(cut)/2]}), csvOpen)
	require.EqualError(t, g.err, "a.gz: the gzip data is damaged or cut off: unexpected EOF")
	g = read{args: map[string]any{"path": "a.gz", "compression": "none"}, schema: numberSchema}.run(t, memEnv(files), csvOpen)
	require.ErrorContains(t, g.err, "cannot open a.gz")
}

func TestStreamFails(t *testing.T) {
	for _, args := range []map[string]any{{"path": "-"}, {"path": "a.csv", "comments": "#"}, {"path": "a.csv.gz"}} {
		text := "\ufeff" + numbers(0, 20_000) + "# x\noops,\"a\nb\"\n"
		env := memEnv(map[string]string{"a.csv": text, "a.csv.gz": gzipped(t, text)})
		env.Stdin = strings.NewReader(text)
		if args["comments"] == nil {
			text = strings.ReplaceAll(text, "# x\n", "")
			env = memEnv(map[string]string{"a.csv.gz": gzipped(t, text)})
			env.Stdin = strings.NewReader(text)
		}
		g := read{args: args, schema: numberSchema, mode: "fail"}.run(t, env, csvOpen)
		var e *exec.RowError
		require.ErrorAs(t, g.err, &e)
		require.EqualValues(t, 20_001, e.Row)
		require.EqualValues(t, strings.Count(text[:strings.Index(text, "oops")], "\n")+1, e.Line)
		require.Equal(t, "oops,\"a\nb\"", e.Raw)
	}
}

// slow hands out its text in pieces.
type slow struct {
	mu     sync.Mutex
	pieces []string
	more   chan struct{}
}

func (s *slow) Read(b []byte) (int, error) {
	for {
		s.mu.Lock()
		if len(s.pieces) > 0 {
			n := copy(b, s.pieces[0])
			if s.pieces[0] = s.pieces[0][n:]; s.pieces[0] == "" {
				s.pieces = s.pieces[1:]
			}
			s.mu.Unlock()
			return n, nil
		}
		s.mu.Unlock()
		if _, ok := <-s.more; !ok {
			return 0, io.EOF
		}
	}
}

func (s *slow) add(text string) {
	s.mu.Lock()
	s.pieces = append(s.pieces, text)
	s.mu.Unlock()
	s.more <- struct{}{}
}

// live polls a source in the background and tells what came.
type live struct {
	t    *testing.T
	mu   sync.Mutex
	rows []string
	sigs []string
	errs []string
	done bool
	err  error
	stop chan struct{}
	end  chan struct{}
}

func goLive(t *testing.T, src exec.Source) *live {
	l := &live{t: t, stop: make(chan struct{}), end: make(chan struct{})}
	out := exec.NewTap(func(port int, it exec.Item) {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch {
		case port == 1:
			for i := range it.Batch.Rows() {
				l.errs = append(l.errs, fmt.Sprint(it.Batch.Cols[4].Ints[i], " ", it.Batch.Cols[0].Strs[i]))
			}
		case it.Kind == exec.Rows:
			for i := range it.Batch.Rows() {
				var v []any
				for _, c := range it.Batch.Cols {
					v = append(v, c.Value(it.Batch.Row(i)))
				}
				if r := it.Batch.Row(i); it.Batch.Mark != nil && it.Batch.Time[r] < it.Batch.Mark[r] {
					v = append(v, "late")
				}
				l.rows = append(l.rows, strings.TrimSuffix(fmt.Sprintln(v...), "\n"))
			}
		case it.Kind == exec.Watermark:
			l.sigs = append(l.sigs, fmt.Sprint(it.W))
		case it.Kind == exec.WentIdle:
			l.sigs = append(l.sigs, "idle")
		case it.Kind == exec.WentActive:
			l.sigs = append(l.sigs, "active")
		}
	})
	go func() {
		defer close(l.end)
		defer src.Close()
		for {
			st, err := src.Poll(out)
			if err != nil || st == exec.Done {
				l.mu.Lock()
				l.done, l.err = true, err
				l.mu.Unlock()
				return
			}
			if st == exec.Idle {
				select {
				case <-l.stop:
					return
				case <-time.After(time.Millisecond):
				}
			}
		}
	}()
	t.Cleanup(func() {
		select {
		case <-l.stop:
		default:
			close(l.stop)
		}
		<-l.end
	})
	return l
}

// want waits until the rows so far are these.
func (l *live) want(rows ...string) {
	l.t.Helper()
	require.Eventually(l.t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.rows) >= len(rows) || l.err != nil
	}, time.Minute, time.Millisecond, "want %v", rows)
	l.mu.Lock()
	defer l.mu.Unlock()
	require.NoError(l.t, l.err)
	require.Equal(l.t, rows, l.rows)
}

func (l *live) signals(want ...string) {
	l.t.Helper()
	require.Eventually(l.t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.sigs) >= len(want)
	}, time.Minute, time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Equal(l.t, want, l.sigs)
}

func (l *live) finished() {
	l.t.Helper()
	require.Eventually(l.t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.done }, time.Minute, time.Millisecond)
	require.NoError(l.t, l.err)
}

// Rows of a pipe come as soon as they are whole.
func TestStdin(t *testing.T) {
	for _, follow := range []bool{false, true} {
		env := testEnv()
		in := &slow{more: make(chan struct{}, 100)}
		env.Stdin = in
		s := read{args: map[string]any{"path": "-", "follow": follow}, schema: numberSchema, time: "n", lag: 1, idle: int64(50 * time.Millisecond)}.scanOf(env)
		sources, err := csvOpen(s)
		require.NoError(t, err)
		require.Len(t, sources, 1)
		l := goLive(t, sources[0])
		in.add("n,")
		in.add("s\n5,a\n7,b")
		l.want("5 a")
		l.signals("4", "idle")
		in.add("b\n8")
		l.want("5 a", "7 bb")
		l.signals("4", "idle", "active", "6", "idle")
		in.add(",x")
		close(in.more)
		l.want("5 a", "7 bb", "8 x")
		l.finished()
	}
}

// A reader that is slower than its pipe holds it back, and nothing is lost.
func TestStdinBounded(t *testing.T) {
	env := testEnv()
	var s strings.Builder
	for i := range 200_000 {
		fmt.Fprintln(&s, "line", i)
	}
	env.Stdin = strings.NewReader(s.String())
	g := read{args: map[string]any{"path": "-"}, schema: lineSchema}.run(t, env, openLines(1<<20))
	require.NoError(t, g.err)
	require.Len(t, g.rows, 200_000)
	require.Equal(t, `[]interface {}{"line 199999"}`, g.rows[199_999])
}

func appendTo(t *testing.T, path, text string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func following(t *testing.T, r read) *live {
	r.args["follow"] = true
	sources, err := csvOpen(r.scanOf(testEnv()))
	require.NoError(t, err)
	require.Len(t, sources, 1)
	return goLive(t, sources[0])
}

func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	appendTo(t, path, "n,s\n1,a\n2,b")
	l := following(t, read{args: map[string]any{"path": path}, schema: numberSchema, time: "n"})
	l.want("1 a")
	appendTo(t, path, "bb\n3,\"c")
	l.want("1 a", "2 bbb")
	appendTo(t, path, "\nc\"\n")
	l.want("1 a", "2 bbb", "3 c\nc")
	l.signals("1", "2", "3")

	// rotated by renaming: what is still written to the old file counts, even if its last line has no end
	require.NoError(t, os.Rename(path, path+".1"))
	appendTo(t, path+".1", "4,d")
	appendTo(t, path, "n,s\n5,e\n")
	l.want("1 a", "2 bbb", "3 c\nc", "4 d", "5 e")

	// truncated and written anew
	require.NoError(t, os.Truncate(path, 0))
	appendTo(t, path, "s,n\nf,6\n")
	l.want("1 a", "2 bbb", "3 c\nc", "4 d", "5 e", "6 f")

	// written anew, and at once longer than before
	require.NoError(t, os.WriteFile(path, []byte("s,n,x\ng,7,1\nh,8,1\ni,9,1\n"), 0o666))
	l.want("1 a", "2 bbb", "3 c\nc", "4 d", "5 e", "6 f", "7 g", "8 h", "9 i")

	// removed, and there again later: event time goes on
	require.NoError(t, os.Remove(path))
	time.Sleep(2 * followEvery)
	appendTo(t, path, "n,s\n3,j\n")
	l.want("1 a", "2 bbb", "3 c\nc", "4 d", "5 e", "6 f", "7 g", "8 h", "9 i", "3 j late")
}

// Several followed files are splits: the slowest holds event time back until it counts as idle; new files are found.
func TestFollowMany(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")
	appendTo(t, a, "n,s\n100,a\n")
	appendTo(t, b, "n,s\n")
	l := following(t, read{args: map[string]any{"path": filepath.Join(dir, "*.csv")}, schema: numberSchema, time: "n", lag: 1, idle: int64(300 * time.Millisecond)})
	l.want("100 a")
	l.signals("99", "idle")
	appendTo(t, b, "50,b\n200,c\n")
	l.want("100 a", "50 b", "200 c")
	l.signals("99", "idle", "active", "199", "idle")
	appendTo(t, filepath.Join(dir, "c.csv"), "n,s\n300,d\n")
	l.want("100 a", "50 b", "200 c", "300 d")
	l.signals("99", "idle", "active", "199", "idle", "active", "299", "idle")
	appendTo(t, a, "oops,x\n")
	require.Eventually(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.errs) > 0 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{`2 column n: "oops" is not a time (nanoseconds since 1970)`}, l.errs)
}

func TestFollowRefuses(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"a.csv.gz": gzipped(t, "n,s\n"), "b.csv": "n,x\n", "c.csv": "n,s"})
	for path, want := range map[string]string{
		"a.csv.gz": "a.csv.gz is compressed and cannot be followed",
		"b.csv":    "has no column s",
		"no.csv":   "cannot open",
	} {
		_, err := csvOpen(read{args: map[string]any{"path": filepath.Join(dir, path), "follow": true}, schema: numberSchema}.scanOf(testEnv()))
		require.ErrorContains(t, err, want)
	}
	l := following(t, read{args: map[string]any{"path": filepath.Join(dir, "c.csv")}, schema: numberSchema})
	appendTo(t, filepath.Join(dir, "c.csv"), "\n1,x\n")
	l.want("1 x")
}
