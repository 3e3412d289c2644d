package conn

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// zipped is text as a gzip file.
func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

func TestFilesGoOn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		paths := []any{}
		for i := range rapid.IntRange(1, 3).Draw(rt, "files") {
			name := fmt.Sprintf("f%d.csv", i)
			files[name] = messyCSV(rt)
			if rapid.IntRange(0, 4).Draw(rt, "packed") == 0 {
				files[name] = zipped(files[name])
			}
			paths = append(paths, name)
		}
		r := read{args: map[string]any{"path": paths}, schema: messySchema, time: "t", lag: 7}
		once := r.again(t, memEnv(files), 1, openCSV(1<<20))
		require.NoError(rt, once.run(0))
		want, wantErrs := once.sorted()
		for range 3 {
			chunk := int64(rapid.IntRange(1, 90).Draw(rt, "chunk"))
			many := r.again(t, memEnv(files), uint64(rapid.IntRange(0, 1<<30).Draw(rt, "seed")), openCSV(chunk))
			require.NoError(rt, many.run(rapid.IntRange(1, 6).Draw(rt, "restarts")))
			have, errs := many.sorted()
			require.Equal(rt, want, have, "chunk %d, text %q", chunk, files)
			require.Equal(rt, wantErrs, errs)
			require.Equal(rt, once.high, many.high)
		}
	})
}

// A restart in the middle of a piece: the rows before it were emitted, failed ones told.
func TestSkipRows(t *testing.T) {
	for n, want := range [][]uint32{{0, 2, 4}, {2, 4}, {2, 4}, {4}, {4}, nil} {
		b := &vec.Batch{N: 5, Sel: []uint32{0, 2, 4}, Time: []int64{30, 0, 50, 0, 40}}
		x := piece{batch: b, fails: []pieceError{{row: 1}, {row: 3}}}
		high := x.skip(n, 35)
		require.ElementsMatch(t, want, b.Sel, "%d rows skipped", n)
		left := 0
		for _, row := range []int{1, 3} {
			if row >= n {
				left++
			}
		}
		require.Len(t, x.fails, left)
		if require.Equal(t, []int64{35, 35, 35, 50, 50, 50}[n], high); n > 0 && left > 0 {
			require.GreaterOrEqual(t, x.fails[0].row, n)
		}
	}
}

// What is enough stays so: chunks that nobody wants have no place.
func TestFilesGoOnLimited(t *testing.T) {
	var text strings.Builder
	text.WriteString("n,s,t,u\n")
	for i := range 200 {
		fmt.Fprintf(&text, "%d,a,%d,b\n", i, 1000+i)
	}
	r := read{args: map[string]any{"path": "a.csv"}, schema: messySchema, time: "t", limit: 60}
	for seed := range uint64(40) {
		many := r.again(t, memEnv(map[string]string{"a.csv": text.String()}), seed, openCSV(40))
		require.NoError(t, many.run(5))
		have, _ := many.sorted()
		require.GreaterOrEqual(t, len(have), 60)
		for i, e := range have[:60] {
			require.Equal(t, fmt.Sprintf("[]interface {}{%d, \"a\", %d, \"b\"}", i, 1000+i), e.text)
		}
	}
}

// What a task had told of event time it tells again after a restart, though there are as many tasks as before: those that listen
// may be others.
func TestFilesTellEventTimeAgain(t *testing.T) {
	var text strings.Builder
	text.WriteString("n,s,t,u\n")
	for i := range 200 {
		fmt.Fprintf(&text, "%d,a,%d,b\n", i, 1000+i)
	}
	r := read{args: map[string]any{"path": "a.csv"}, schema: messySchema, time: "t"}
	many := r.again(t, memEnv(map[string]string{"a.csv": text.String()}), 1, openCSV(1000))
	sources, err := many.open(nil, 1)
	require.NoError(t, err)
	told := types.MinInstant
	out := exec.NewTap(func(_ int, it exec.Item) {
		if it.Kind == exec.Watermark {
			told = it.W
		}
	})
	for told == types.MinInstant {
		_, err := sources[0].Poll(out)
		require.NoError(t, err)
	}
	w := checkpoint.NewWriter(1, 0)
	require.NoError(t, sources[0].(*chunkTask).Save(w))
	data, _, _ := w.Output()
	was := told
	sources, err = many.open([]*checkpoint.Reader{checkpoint.NewReader(1, data)}, 1)
	require.NoError(t, err)
	task := sources[0].(*chunkTask)
	task.relay.waiting = nil // nothing but what it says by itself
	told = types.MinInstant
	_, err = task.Poll(out)
	require.NoError(t, err)
	require.Equal(t, was, told)
}

// A file that is not an extension of what was read is refused, one that was read to its end may be gone.
func TestFilesThatChanged(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	text := "n,s,t,u\n"
	for i := range 300 {
		text += fmt.Sprintf("%d,%s,%d,b\n", i, line[:90], i)
	}
	files := map[string]string{"a.csv": text, "b.csv": text}
	r := read{args: map[string]any{"path": []any{"a.csv", "b.csv"}}, schema: messySchema, time: "t"}
	s := r.again(t, memEnv(files), 1, openCSV(1000))
	sources, err := s.open(nil, 1)
	require.NoError(t, err)
	task := sources[0].(*chunkTask)
	for task.next < task.files[1].first+10 {
		_, err := task.Poll(exec.NewTap(func(int, exec.Item) {}))
		require.NoError(t, err)
	}
	w := checkpoint.NewWriter(1, 0)
	require.NoError(t, task.Save(w))
	data, _, _ := w.Output()
	again := func(files map[string]string) error {
		r := r.again(t, memEnv(files), 1, openCSV(1000))
		_, err := r.open([]*checkpoint.Reader{checkpoint.NewReader(1, data)}, 2)
		return err
	}
	require.NoError(t, again(files))
	require.NoError(t, again(map[string]string{"b.csv": text + "more"}))
	require.ErrorContains(t, again(map[string]string{"a.csv": text}), "cannot open b.csv")
	require.EqualError(t, again(map[string]string{"b.csv": text[:9000]}), "cannot go on with b.csv: it has 9000 bytes; when the run began it had "+
		fmt.Sprint(len(text))+". Start anew with --fresh, or go back with --from to a checkpoint from before it was read")
	require.ErrorContains(t, again(map[string]string{"b.csv": text[:len(text)-1]}), "when the run began it had")
	require.ErrorContains(t, again(map[string]string{"b.csv": "m" + text[1:]}), "its bytes 0 to 4096 are not those that were read")
	require.ErrorContains(t, again(map[string]string{"b.csv": text[:9990] + "y" + text[9991:]}), "are not those that were read")
	require.ErrorContains(t, again(map[string]string{"a.csv": text[1:] + " ", "b.csv": text}), "cannot go on with a.csv")

	// any damage is an error or nothing at all
	for i := range data {
		for _, x := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(data)
			bad[i] ^= x
			many := r.again(t, memEnv(files), 1, openCSV(1000))
			if sources, err := many.open([]*checkpoint.Reader{checkpoint.NewReader(1, bad)}, 2); err == nil {
				for _, s := range sources {
					s.Close()
				}
			}
		}
	}
}
