//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPipes: every row that comes through a pipe is read and every one that goes into one is written, whatever its name.
func TestPipes(t *testing.T) {
	const rows = 20_000
	var in strings.Builder
	in.WriteString("n,s\n")
	for i := range rows {
		fmt.Fprintf(&in, "%d,x\n", i)
	}
	for _, width := range []string{"1", "2"} {
		for _, path := range []string{"-", "/dev/stdin", "/dev/fd/0"} {
			t.Run(path+" "+width, func(t *testing.T) {
				p := prepare(t, "run", "--parallelism", width, "-c", fmt.Sprintf(`csv(%q) |> into csv("/dev/stdout")`, path))
				p.Stdin = strings.NewReader(in.String())
				require.Equal(t, 0, p.begin(t).end(t, time.Minute), p.err.String())
				require.Equal(t, in.String(), p.out.String())
			})
		}
		t.Run("process substitution "+width, func(t *testing.T) { // `<(…)` and `>(…)`
			p := prepare(t, "run", "--parallelism", width, "-c", `csv("/dev/fd/3") |> into csv("/dev/fd/4")`)
			r, w, err := os.Pipe()
			require.NoError(t, err)
			got, to, err := os.Pipe()
			require.NoError(t, err)
			p.ExtraFiles = []*os.File{r, to}
			p.begin(t)
			r.Close()
			to.Close()
			go func() {
				w.WriteString(in.String())
				w.Close()
			}()
			out, err := io.ReadAll(got)
			require.NoError(t, err)
			require.Equal(t, 0, p.end(t, time.Minute), p.err.String())
			require.Equal(t, in.String(), string(out))
		})
		t.Run("named pipes "+width, func(t *testing.T) {
			p := prepare(t, "run", "--parallelism", width, "-c", `csv("in") |> into csv("out")`)
			for _, name := range []string{"in", "out"} {
				require.NoError(t, syscall.Mkfifo(p.path(name), 0o666))
			}
			p.begin(t)
			go p.write(t, "in", in.String())
			got := p.read("out")
			require.Equal(t, 0, p.end(t, time.Minute), p.err.String())
			require.Equal(t, in.String(), got)
			for _, name := range []string{"in", "out"} { // a pipe is not replaced by a file
				info, err := os.Stat(p.path(name))
				require.NoError(t, err)
				require.NotZero(t, info.Mode()&os.ModeNamedPipe)
			}
			names, err := os.ReadDir(p.dir)
			require.NoError(t, err)
			require.Len(t, names, 2)
		})
	}

	t.Run("socket", func(t *testing.T) { // it has no name by which it could be opened
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		require.NoError(t, err)
		ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
		p := prepare(t, "run", "-c", `csv("/dev/stdin") |> into csv("/dev/stdout")`)
		p.Stdin, p.Stdout = theirs, theirs
		p.begin(t)
		theirs.Close()
		go func() {
			ours.WriteString(in.String())
			syscall.Shutdown(fds[0], syscall.SHUT_WR)
		}()
		out, err := io.ReadAll(ours)
		require.NoError(t, err)
		require.Equal(t, 0, p.end(t, time.Minute), p.err.String())
		require.Equal(t, in.String(), string(out))
	})
	t.Run("check", func(t *testing.T) { // what `ebb run` reads is not taken away, and nothing is waited for
		for _, command := range []string{"check", "explain"} {
			p := prepare(t, command, "-c", `csv("in")`)
			require.NoError(t, syscall.Mkfifo(p.path("in"), 0o666))
			require.Equal(t, exitFailed, p.begin(t).end(t, time.Minute))
			require.Contains(t, p.err.String(), "error[I601]: cannot read the input of `csv`: cannot open in: what is read of a pipe is gone, so it is not read before the script runs; write `schema {…}`")
		}
	})
	t.Run("twice", func(t *testing.T) {
		p := prepare(t, "run", "-c", "csv(\"in\") schema {n: int}\njsonl([\"./in\"]) schema {n: int}")
		require.NoError(t, syscall.Mkfifo(p.path("in"), 0o666))
		require.Equal(t, exitScript, p.begin(t).end(t, time.Minute))
		require.Contains(t, p.err.String(), "-c:2:1: error[O904]: the pipe ./in is read twice; the other is at -c:1:1")
	})
	t.Run("session", func(t *testing.T) { // its statements are compiled often, the pipe is read by what runs
		p := prepare(t, "repl")
		require.NoError(t, syscall.Mkfifo(p.path("in"), 0o666))
		p.Stdin = strings.NewReader("source a = csv(\"in\") schema {n: int, s: string}\na |> aggregate n = count()\na |> aggregate n = count()\n")
		from, to, err := os.Pipe()
		require.NoError(t, err)
		p.Stdout = to
		p.begin(t)
		to.Close()
		out := bufio.NewReader(from)
		for _, text := range []string{in.String(), "n,s\n7,x\n"} {
			p.write(t, "in", text)
			got, err := out.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("{\"n\":%d}\n", strings.Count(text, "\n")-1), got)
		}
		require.Equal(t, 0, p.end(t, time.Minute), p.err.String())
	})
	for _, follow := range []bool{false, true} {
		for _, schema := range []string{"", "schema {n: int}"} {
			for _, writer := range []bool{false, true} {
				t.Run(fmt.Sprint("signal ", follow, schema, writer), func(t *testing.T) { // in open() and in read()
					p := prepare(t, "run", "-c", fmt.Sprintf(`csv("in", follow: %v) %s`, follow, schema))
					require.NoError(t, syscall.Mkfifo(p.path("in"), 0o666))
					if writer {
						w, err := os.OpenFile(p.path("in"), os.O_RDWR, 0)
						require.NoError(t, err)
						defer w.Close()
					}
					p.begin(t)
					time.Sleep(200 * time.Millisecond)
					p.signal(t, os.Interrupt)
					require.Equal(t, 0, p.end(t, patientFor))
					require.Empty(t, p.err.String())
				})
			}
		}
	}
}
