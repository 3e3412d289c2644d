package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

var outSchema = types.NewSchema(field("k", types.T(types.String).Null()), field("n", types.T(types.Int)))

func outRows(rows ...[]any) *vec.Batch { return vec.FromRows(outSchema, rows) }

// openPut opens a CSV output.
func openPut(env *exec.Env, args map[string]any) (exec.Sink, spec.Encoder, error) {
	w := &spec.Write{Name: "out", Args: &types.ConnArgs{Args: args}, Schema: outSchema, Env: env}
	if args["partition_by"] != nil {
		w.PartNames = []string{"k", "odd?"}
		w.Parts = func(b *vec.Batch) ([]*vec.Column, []string, error) {
			odd := vec.New(types.T(types.Bool), b.N)
			for i := range b.N {
				odd.Bools[i] = b.Cols[1].Ints[i]&1 == 1
			}
			return []*vec.Column{b.Cols[0], odd}, w.PartNames, nil
		}
	}
	e, err := newCSVEncoder(w)
	if err != nil {
		return nil, nil, err
	}
	d, _ := csvOptions(w.Args)
	s, err := openSink(w, ".csv", d.headerLine(w))
	return s, e, err
}

func putBatch(s exec.Sink, e spec.Encoder, b *vec.Batch) error {
	x, err := e.Encode(b)
	if err != nil {
		return err
	}
	if b.Sel != nil {
		x = x.Gather([]uint32{0}) // loses its block
	}
	return s.Write(x)
}

// put opens a CSV output and writes the batches.
func put(env *exec.Env, args map[string]any, batches ...*vec.Batch) (exec.Sink, error) {
	s, e, err := openPut(env, args)
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		if err := putBatch(s, e, b); err != nil {
			return s, err
		}
	}
	return s, nil
}

func tree(t *testing.T, dir string) string {
	var names []string
	require.NoError(t, filepath.Walk(dir, func(p string, info fs.FileInfo, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if !info.IsDir() {
			names = append(names, filepath.ToSlash(rel))
		} else if entries, _ := os.ReadDir(p); len(entries) == 0 && rel != "." {
			names = append(names, rel+"/")
		}
		return err
	}))
	sort.Strings(names)
	return strings.Join(names, " ")
}

func text(t *testing.T, path string) string {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestSinkFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	s, err := put(testEnv(), map[string]any{"path": path}, outRows([]any{"a", int64(1)}), outRows([]any{"b", int64(2)}, []any{"c", int64(3)}).Select([]uint32{1}))
	require.NoError(t, err)
	require.Regexp(t, `^\.out\.csv\.lock \.out\.csv\.tmp-\S+$`, tree(t, dir), "nothing is visible before the end")
	require.NoError(t, s.Finish())
	require.NoError(t, s.Close())
	require.Equal(t, "out.csv", tree(t, dir))
	require.Equal(t, "k,n\na,1\nc,3\n", text(t, path))

	// a run that fails leaves what was there, and nothing of its own
	s, err = put(testEnv(), map[string]any{"path": path}, outRows([]any{"x", int64(1)}))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, "out.csv", tree(t, dir))
	require.Equal(t, "k,n\na,1\nc,3\n", text(t, path))

	// no rows: the header comes
	s, err = put(testEnv(), map[string]any{"path": path})
	require.NoError(t, err)
	require.NoError(t, s.Finish())
	require.NoError(t, s.Close())
	require.Equal(t, "k,n\n", text(t, path))

	// what a killed run left goes: with the lock nobody else has any
	writeFiles(t, dir, map[string]string{".out.csv.tmp-999999999-1": "x", fmt.Sprintf(".out.csv.tmp-%d-0", os.Getppid()): "x", ".out.csv.tmp-note": "x"})
	s, err = put(testEnv(), map[string]any{"path": path})
	require.NoError(t, err)
	require.NoError(t, s.Finish())
	require.Equal(t, ".out.csv.tmp-note out.csv", tree(t, dir))
}

func TestSinkAppend(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	args := map[string]any{"path": path, "append": true}
	for i := range 3 {
		s, err := put(testEnv(), args, outRows([]any{"a", int64(i)}))
		require.NoError(t, err)
		require.NoError(t, s.Finish())
		require.NoError(t, s.Close())
	}
	require.Equal(t, "k,n\na,0\na,1\na,2\n", text(t, path))
	require.NoError(t, os.WriteFile(path, []byte("\ufeffk,n\r\nx,1"), 0o666)) // no line end
	s, err := put(testEnv(), args, outRows([]any{"a", int64(9)}))
	require.NoError(t, err)
	require.NoError(t, s.Finish())
	require.Equal(t, "\ufeffk,n\r\nx,1\na,9\n", text(t, path))
	require.Equal(t, "out.csv", tree(t, dir))
	require.NoError(t, os.WriteFile(path, []byte("k,m\n"), 0o666))
	_, err = put(testEnv(), args)
	require.EqualError(t, err, "cannot write "+path+`: the file has the header "k,m", the rows to append have "k,n"`)
}

func TestSinkCompressed(t *testing.T) {
	dir := t.TempDir()
	for name, option := range map[string]string{"a.csv.gz": "auto", "b.csv.zst": "auto", "c.csv": "gzip", "d.csv.gz": "none"} {
		path := filepath.Join(dir, name)
		for range 2 {
			s, err := put(testEnv(), map[string]any{"path": path, "compression": option, "append": true}, outRows([]any{"a", int64(1)}))
			require.NoError(t, err)
			require.NoError(t, s.Finish())
		}
		var r io.Reader
		f, err := os.Open(path)
		require.NoError(t, err)
		switch name {
		case "b.csv.zst":
			r, err = zstd.NewReader(f)
		case "d.csv.gz":
			r = f
		default:
			r, err = gzip.NewReader(f)
		}
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, "k,n\na,1\na,1\n", string(b), name)
		f.Close()
	}
}

func TestSinkParts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	args := map[string]any{"path": dir, "partition_by": "k"}
	rows := outRows([]any{"a/b", int64(1)}, []any{"a/b", int64(3)}, []any{nil, int64(2)}, []any{"__null__", int64(4)}, []any{"", int64(1)}, []any{"é ", int64(1)}, []any{"a/b", int64(5)})
	s, err := put(testEnv(), args, rows, outRows([]any{"a/b", int64(1)}, []any{nil, int64(2)}))
	require.NoError(t, err)
	require.NoError(t, s.Finish())
	require.NoError(t, s.Close())
	require.Equal(t, "k=%5F_null__/odd%3F=false/part-0.csv k=%C3%A9%20/odd%3F=true/part-0.csv k=/odd%3F=true/part-0.csv k=__null__/odd%3F=false/part-0.csv k=a%2Fb/odd%3F=true/part-0.csv", tree(t, dir))
	require.Equal(t, "k,n\na/b,1\na/b,3\na/b,5\na/b,1\n", text(t, filepath.Join(dir, "k=a%2Fb", "odd%3F=true", "part-0.csv")))
	require.Equal(t, "k,n\n,2\n,2\n", text(t, filepath.Join(dir, "k=__null__", "odd%3F=false", "part-0.csv")))

	// the next run replaces all of it, but touches nothing else
	writeFiles(t, dir, map[string]string{"note.txt": "x", "k=a%2Fb/odd%3F=true/part-1.csv": "x"})
	s, err = put(testEnv(), args, outRows([]any{"z", int64(1)}))
	require.NoError(t, err)
	require.NoError(t, s.Finish())
	require.Equal(t, "k=a%2Fb/odd%3F=true/part-1.csv k=z/odd%3F=true/part-0.csv note.txt", tree(t, dir))

	// one that fails leaves nothing
	s, err = put(testEnv(), args, outRows([]any{"y", int64(1)}))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, "k=a%2Fb/odd%3F=true/part-1.csv k=z/odd%3F=true/part-0.csv note.txt", tree(t, dir))

	_, err = put(testEnv(), map[string]any{"path": filepath.Join(dir, "note.txt"), "partition_by": "k"})
	require.ErrorContains(t, err, "it is a file, and partition_by writes a folder")
	_, err = put(testEnv(), map[string]any{"path": "-", "partition_by": "k"})
	require.EqualError(t, err, "standard output cannot be partitioned; give partition_by a folder")
}

// openCount counts open files.
type openCount struct {
	exec.FS
	open, most int
}

type countedFile struct {
	exec.File
	c *openCount
}

func (f countedFile) Close() error { f.c.open--; return f.File.Close() }

func (c *openCount) count(f exec.File, err error) (exec.File, error) {
	if err != nil {
		return nil, err
	}
	c.open++
	c.most = max(c.most, c.open)
	return countedFile{f, c}, nil
}

func (c *openCount) Create(name string) (exec.File, error) { return c.count(c.FS.Create(name)) }
func (c *openCount) Append(name string) (exec.File, error) { return c.count(c.FS.Append(name)) }
func (c *openCount) Open(name string) (exec.File, error)   { return c.count(c.FS.Open(name)) }

// More partitions than files may be open, in compressed files, too.
func TestSinkManyParts(t *testing.T) {
	for _, pack := range []string{"none", "gzip"} {
		dir := t.TempDir()
		env := testEnv()
		c := &openCount{FS: env.FS}
		env.FS = c
		var batches []*vec.Batch
		for round := range 3 {
			var rows [][]any
			for i := range 300 {
				rows = append(rows, []any{fmt.Sprint(i), int64(2 * round)})
			}
			batches = append(batches, outRows(rows...))
		}
		s, err := put(env, map[string]any{"path": dir, "partition_by": "k", "compression": pack}, batches...)
		require.NoError(t, err)
		require.NoError(t, s.Finish())
		require.NoError(t, s.Close())
		require.Zero(t, c.open)
		require.LessOrEqual(t, c.most, maxOpen+1)
		for i := range 300 {
			name := filepath.Join(dir, fmt.Sprintf("k=%d", i), "odd%3F=false", "part-0.csv")
			var have string
			if pack == "gzip" {
				f, err := os.Open(name + ".gz")
				require.NoError(t, err)
				z, err := gzip.NewReader(f)
				require.NoError(t, err)
				b, err := io.ReadAll(z)
				require.NoError(t, err)
				have = string(b)
				f.Close()
			} else {
				have = text(t, name)
			}
			require.Equal(t, fmt.Sprintf("k,n\n%d,0\n%d,2\n%d,4\n", i, i, i), have)
		}
	}
}

// full is a disk without room.
type full struct{ exec.FS }
type fullFile struct{ exec.File }

func (f full) Create(name string) (exec.File, error) {
	x, err := f.FS.Create(name)
	return fullFile{x}, err
}
func (fullFile) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: ".x.tmp", Err: syscall.ENOSPC}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

func TestSinkErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	_, err := put(testEnv(), map[string]any{"path": filepath.Join(dir, "no", "out.csv")})
	require.EqualError(t, err, fmt.Sprintf("cannot write %s: there is no folder %s; make it first", filepath.Join(dir, "no", "out.csv"), filepath.Join(dir, "no")))
	_, err = put(testEnv(), map[string]any{"path": dir})
	require.ErrorContains(t, err, "it is a folder; name a file in it")
	_, err = put(testEnv(), map[string]any{"path": []any{"a", "b"}})
	require.EqualError(t, err, "an output needs one path; 2 are given")
	env := testEnv()
	env.FS = full{env.FS}
	_, err = put(env, map[string]any{"path": path})
	require.EqualError(t, err, "cannot write "+path+": no space left on device")
	var o *OutputError
	require.ErrorAs(t, err, &o)
	require.ErrorIs(t, err, syscall.ENOSPC)

	env = testEnv()
	env.Stdout = brokenPipe{}
	_, err = put(env, map[string]any{"path": "-"}, outRows([]any{"a", int64(1)}))
	require.True(t, errors.Is(err, exec.ErrReaderGone))
}

func TestSinkStdout(t *testing.T) {
	for pack, want := range map[string]string{"auto": "k,n\na,1\n"} {
		env := testEnv()
		var b bytes.Buffer
		env.Stdout = &b
		s, err := put(env, map[string]any{"path": "-", "compression": pack}, outRows([]any{"a", int64(1)}))
		require.NoError(t, err)
		require.Equal(t, want, b.String(), "rows are not held back")
		require.NoError(t, s.Finish())
		require.NoError(t, s.Close())
		require.Equal(t, want, b.String())
	}
}

func TestLinesOut(t *testing.T) {
	schema := types.NewSchema(field("x", types.T(types.String).Null()))
	w := &spec.Write{Args: &types.ConnArgs{Args: map[string]any{"path": "-"}}, Schema: schema, Env: testEnv()}
	e := &lineEncoder{w: w}
	out, err := e.Encode(vec.FromRows(schema, [][]any{{"a"}, {nil}, {"b,\"c"}}))
	require.NoError(t, err)
	require.Equal(t, "a\n\nb,\"c\n", string(out.Block))
	require.EqualError(t, oneString(outSchema), "lines writes one string column, the rows are {k: string?, n: int}; make one first: select line = …")
}

func TestDefinitions(t *testing.T) {
	for _, c := range All() {
		require.NotEmpty(t, c.Doc.Name)
		require.Equal(t, c.Doc.Name, c.ConnSig.Name)
		require.NotEmpty(t, c.Doc.Text, c.Doc.Name)
		require.NotEmpty(t, c.Doc.Examples, c.Doc.Name)
	}
}
