//go:build unix

package conn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/require"
)

// fifo makes a named pipe.
func fifo(t *testing.T, name string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, syscall.Mkfifo(path, 0o666))
	return path
}

// pour writes a text into a pipe once somebody reads it.
func pour(path, text string) {
	go func() {
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			f.WriteString(text)
			f.Close()
		}
	}()
}

// call is a source as a script calls it: what it reads is looked at before it is opened.
type call struct {
	info func(*types.ConnArgs, *types.Schema, *exec.Env) (types.SourceInfo, error)
	open func(*spec.Scan) ([]exec.Source, error)
}

func csvCall() call   { return call{csvInfo, csvOpen} }
func jsonlCall() call { return call{conn("jsonl").Info, conn("jsonl").Open} }
func linesCall() call { return call{conn("lines").Info, conn("lines").Open} }

func conn(name string) *spec.Conn {
	for _, c := range All() {
		if c.ConnSig.Name == name {
			return c
		}
	}
	panic(name)
}

func (c call) run(t *testing.T, env *exec.Env, width int, args map[string]any) got {
	info, err := c.info(&types.ConnArgs{Args: args}, nil, env)
	require.NoError(t, err)
	return read{args: args, schema: info.Schema, info: info, width: width}.run(t, env, c.open)
}

// TestPipes: what the look at the start of a pipe has read is given to the run.
func TestPipes(t *testing.T) {
	const rows = 30_000
	var csv, jsonl, lines strings.Builder
	csv.WriteString("n,s\n")
	for i := range rows {
		fmt.Fprintf(&csv, "%d,x\n", i)
		fmt.Fprintf(&jsonl, "{\"n\":%d,\"s\":\"x\"}\n", i)
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	for _, c := range []struct {
		name string
		call call
		text string
	}{
		{"csv", csvCall(), csv.String()}, {"jsonl", jsonlCall(), jsonl.String()}, {"lines", linesCall(), lines.String()},
		{"csv gzip", csvCall(), gzipped(t, csv.String())}, {"jsonl gzip", jsonlCall(), gzipped(t, jsonl.String())}, {"csv zstd", csvCall(), zstded(t, csv.String())},
	} {
		for _, width := range []int{1, 2} {
			for _, follow := range []bool{false, true} {
				if follow && width > 1 {
					continue
				}
				t.Run(fmt.Sprint(c.name, width, follow), func(t *testing.T) {
					path := fifo(t, "in")
					pour(path, c.text)
					env := testEnv()
					args := map[string]any{"path": path, "follow": follow}
					if follow {
						info, err := c.call.info(&types.ConnArgs{Args: args}, nil, env)
						require.NoError(t, err)
						sources, err := c.call.open(read{args: args, schema: info.Schema, info: info}.scanOf(env))
						require.NoError(t, err)
						l := goLive(t, sources[0])
						l.finished()
						require.Len(t, l.rows, rows)
						return
					}
					g := c.call.run(t, env, width, args)
					require.NoError(t, g.err)
					require.Empty(t, g.errors)
					require.Len(t, g.rows, rows)
				})
			}
		}
	}
}

// Files and a pipe of one call come in the order of their names, each once, and a pipe with two names gives its rows once.
func TestPipeBesideFiles(t *testing.T) {
	for _, paths := range []func(path string) any{
		func(path string) any { return filepath.Join(filepath.Dir(path), "*") },
		func(path string) any {
			dir := filepath.Dir(path)
			return []any{path, dir + "/a", dir + "/z", dir + "/./in", dir + "/link"}
		},
	} {
		path := fifo(t, "in")
		dir := filepath.Dir(path)
		require.NoError(t, os.Symlink("in", filepath.Join(dir, "link")))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o666)) // passed over by the look
		require.NoError(t, os.WriteFile(filepath.Join(dir, "z"), []byte("n,s\n3,z\n"), 0o666))
		pour(path, "n,s\n1,x\n2,y\n")
		g := csvCall().run(t, testEnv(), 2, map[string]any{"path": paths(path)})
		require.NoError(t, g.err)
		require.Equal(t, []string{`[]interface {}{1, "x"}`, `[]interface {}{2, "y"}`, `[]interface {}{3, "z"}`}, g.rows)
	}
}

// The look says the same each time, also of a pipe that was read meanwhile, and whoever reads it again waits for what comes.
func TestPipeReadAgain(t *testing.T) {
	path, env := fifo(t, "in"), testEnv()
	args := map[string]any{"path": path}
	for i := range 3 {
		pour(path, fmt.Sprintf("n,s\n%d,x\n", i))
		for range 2 {
			info, err := csvInfo(&types.ConnArgs{Args: args}, nil, env)
			require.NoError(t, err)
			require.Equal(t, "{n: int?, s: string?}", info.Schema.String())
		}
		g := csvCall().run(t, env, 1, args)
		require.NoError(t, g.err)
		require.Equal(t, []string{fmt.Sprintf(`[]interface {}{%d, "x"}`, i)}, g.rows)
	}
}

// With a schema a pipe is not looked at, and who only looks at a script opens none.
func TestPipeNotLookedAt(t *testing.T) {
	path := fifo(t, "in") // nobody writes: to open it is to wait
	for _, follow := range []bool{false, true} {
		args := &types.ConnArgs{Args: map[string]any{"path": path, "follow": follow}}
		_, err := csvInfo(args, &numberSchema, testEnv())
		require.NoError(t, err)
		_, err = csvInfo(args, nil, testEnv().ReadOnly())
		require.ErrorIs(t, err, disk.ErrPipe)
		require.EqualError(t, err, "cannot open "+path+": what is read of a pipe is gone, so it is not read before the script runs; write `schema {…}`")
	}
}

// A source ends while it waits for a writer, or for what one writes, and lets go of the pipe.
func TestPipeClosed(t *testing.T) {
	for _, follow := range []bool{false, true} {
		for _, writer := range []bool{false, true} {
			path := fifo(t, "in")
			if writer {
				w, err := os.OpenFile(path, os.O_RDWR, 0)
				require.NoError(t, err)
				defer w.Close()
				_, err = w.WriteString("n,s\n1,a\n")
				require.NoError(t, err)
			}
			sources, err := csvOpen(read{args: map[string]any{"path": path, "follow": follow}, schema: numberSchema}.scanOf(testEnv()))
			require.NoError(t, err)
			l := goLive(t, sources[0])
			if writer {
				l.want("1 a")
			} else {
				time.Sleep(20 * time.Millisecond)
			}
			close(l.stop)
			select {
			case <-l.end:
			case <-time.After(20 * time.Second):
				t.Fatal("it does not end")
			}
		}
	}
}

// A followed pattern leaves out pipes that come, and a file that becomes one: to open them may be to wait for ever.
func TestFollowPassesPipes(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a.csv")
	appendTo(t, a, "n,s\n1,a\n")
	l := following(t, read{args: map[string]any{"path": filepath.Join(dir, "*.csv")}, schema: numberSchema})
	l.want("1 a")
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "b.csv"), 0o666))
	time.Sleep(listEvery + 2*followEvery)
	appendTo(t, a, "2,b\n")
	l.want("1 a", "2 b")

	args := map[string]any{"path": filepath.Join(dir, "*.csv"), "follow": true}
	_, err := csvOpen(read{args: args, schema: numberSchema}.scanOf(testEnv()))
	require.EqualError(t, err, filepath.Join(dir, "b.csv")+" is a pipe and cannot be followed together with other files; read it with a source of its own, and `union` the two")
}

// What a call reads that cannot be read again, by whatever name.
func TestPipesOfCalls(t *testing.T) {
	path := fifo(t, "in.csv")
	dir := filepath.Dir(path)
	require.NoError(t, os.Symlink("in.csv", filepath.Join(dir, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.csv"), nil, 0o666))
	of := func(paths ...any) []types.Pipe {
		return pipes(&types.ConnArgs{Args: map[string]any{"path": paths}}, testEnv())
	}
	require.Len(t, of(path, filepath.Join(dir, "link"), dir+"/*.csv", dir+"//in.csv"), 4)
	for _, p := range of(path, filepath.Join(dir, "link"), dir+"/*.csv") {
		require.Equal(t, of(path)[0].ID, p.ID)
	}
	require.Equal(t, []types.Pipe{{ID: "-", Name: "standard input"}}, of("-"))
	require.Empty(t, of(dir, dir+"/**/*.csv", dir+"/a.csv", dir+"/missing", os.DevNull))
}
