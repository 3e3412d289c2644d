package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// process is a running ebb.
type process struct {
	*exec.Cmd
	dir      string
	out, err bytes.Buffer
	done     chan struct{}
}

// prepare returns a command line of ebb in a folder of its own.
func prepare(t *testing.T, args ...string) *process {
	p := &process{Cmd: exec.Command(filepath.Join(ebbDir(t), "ebb"), args...), dir: t.TempDir(), done: make(chan struct{})}
	p.Dir, p.Stdout, p.Stderr = p.dir, &p.out, &p.err
	return p
}

// begin starts it; the test ends it if it does not end by itself.
func (p *process) begin(t *testing.T) *process {
	t.Helper()
	require.NoError(t, p.Start())
	go func() {
		p.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Process.Kill()
		<-p.done
	})
	return p
}

// end waits for its end and returns the exit status.
func (p *process) end(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(within):
		t.Fatalf("does not end within %s", within)
	}
	return p.ProcessState.ExitCode()
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	require.NoError(t, p.Process.Signal(s))
}

func (p *process) path(name string) string { return filepath.Join(p.dir, name) }

func (p *process) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(p.path(name), []byte(text), 0o666))
}

func (p *process) read(name string) string {
	b, _ := os.ReadFile(p.path(name))
	return string(b)
}

// temporaries are the unfinished outputs in its folder.
func (p *process) temporaries() []string {
	names, _ := filepath.Glob(p.path(".*.tmp-*"))
	return names
}

// rss is how much memory it holds, in MiB.
func (p *process) rss(t *testing.T) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	require.NoError(t, err)
	kb, err := strconv.Atoi(string(regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(b)[1]))
	require.NoError(t, err)
	return kb >> 10
}

func eventually(t *testing.T, what func() bool) {
	t.Helper()
	require.Eventually(t, what, time.Minute, 10*time.Millisecond)
}

// stopped requires that a run said, in its only line, that it was stopped and that the next one cannot go on.
func (p *process) stopped(t *testing.T, why string) {
	t.Helper()
	require.Regexp(t, `^ebb: stopped after row [1-9][0-9]* of the input without a checkpoint \(`+regexp.QuoteMeta(why)+`[^\n]*\): the next run starts afresh, and open windows are lost\n$`, p.err.String())
}

// patientFor bounds how long a clean stop may take here: about half a second, many times that on a busy machine.
const patientFor = 10 * time.Second

// TestSignal: a signal ends a run that would never end; what was written is there, in whole rows, and windows stay open.
func TestSignal(t *testing.T) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		p := prepare(t, "run", "-c", `source bids = nexmark("bid", rate: 2000)
bids |> into csv("bids.csv")
bids |> aggregate n = count() window tumbling(1h) |> into csv("hours.csv")`).begin(t)
		eventually(t, func() bool {
			names, _ := filepath.Glob(p.path(".bids.csv.tmp-*"))
			info, err := os.Stat(strings.Join(names, ""))
			return err == nil && info.Size() > 10_000
		})
		require.NoFileExists(t, p.path("bids.csv"))
		p.signal(t, s)
		for since := time.Now(); time.Since(since) < sameSignal/2 && !p.gone(); time.Sleep(100 * time.Microsecond) {
			_ = p.Process.Signal(s) // timeout(1) sends its signal twice; the run may be over by now, and the process about to end
		}
		require.Equal(t, 0, p.end(t, patientFor), p.err.String())
		p.stopped(t, "the script has no name")
		bids := p.read("bids.csv")
		require.True(t, strings.HasPrefix(bids, "auction,") && strings.HasSuffix(bids, "\n"))
		for i, row := range strings.Split(strings.TrimSuffix(bids, "\n"), "\n") {
			require.Equal(t, 6, strings.Count(row, ","), "row %d: %s", i, row)
		}
		require.Equal(t, "window,n\n", p.read("hours.csv"))
		require.Empty(t, p.temporaries())
	}
}

// TestBlockedReader: a source faster than its reader is held back, and a signal ends the run though nobody reads.
func TestBlockedReader(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("memory is read from /proc")
	}
	for _, slow := range []bool{true, false} {
		p := prepare(t, "run", "-c", `nexmark("bid")`)
		r, w, err := os.Pipe()
		require.NoError(t, err)
		p.Stdout = w
		p.begin(t)
		w.Close()
		var got bytes.Buffer
		end := time.Now().Add(2 * time.Second)
		for time.Now().Before(end) {
			if slow {
				_, err = io.CopyN(&got, r, 20_000)
				require.NoError(t, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		require.Less(t, p.rss(t), 200, "MiB")
		start := time.Now()
		p.signal(t, os.Interrupt)
		if slow { // a reader that goes on gets whole rows
			_, err = io.Copy(&got, r)
			require.NoError(t, err)
			require.True(t, strings.HasSuffix(got.String(), "}\n"))
		}
		require.Equal(t, 0, p.end(t, patientFor), p.err.String())
		p.stopped(t, "the script has no name")
		t.Logf("slow %v: ended after %s", slow, time.Since(start))
		r.Close()
	}
}

// TestSecondSignal: where the first signal cannot end a run, the second does at once.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	p := prepare(t, "run", "-c", `nexmark("bid") |> into csv("pipe")`)
	require.NoError(t, syscall.Mkfifo(p.path("pipe"), 0o666))
	p.begin(t)
	r, err := os.Open(p.path("pipe")) // and read nothing
	require.NoError(t, err)
	defer r.Close()
	time.Sleep(300 * time.Millisecond)
	p.signal(t, os.Interrupt)
	time.Sleep(300 * time.Millisecond)
	p.signal(t, os.Interrupt)
	require.Equal(t, 1, p.end(t, patientFor))
	require.Equal(t, "ebb: stopped at once by a second signal: the outputs are not complete\n", p.err.String())

	// Nothing reads the pipe at all: the run has not begun.
	q := prepare(t, "run", "-c", `nexmark("bid") |> into csv("pipe")`)
	require.NoError(t, syscall.Mkfifo(q.path("pipe"), 0o666))
	q.begin(t)
	time.Sleep(300 * time.Millisecond)
	q.signal(t, syscall.SIGTERM)
	require.Equal(t, 0, q.end(t, patientFor))
}

// TestExplosion: one signal ends a run amid the million million rows that one row has become, in the memory of any other, and the
// next run goes on amid them.
func TestExplosion(t *testing.T) {
	t.Parallel()
	p := prepare(t, "run", "job.ebb", "--checkpoint-interval", "100ms", "--parallelism", "2")
	p.write(t, "job.ebb", `rows([{a: 1}]) |> derive xs = 1..1_000_000 |> unnest xs as x |> derive ys = 1..1_000_000 |> unnest ys as y
    |> where y == 1_000_000 |> select x |> into csv("few.csv")`)
	for life := range 2 {
		before := len(p.read("few.csv"))
		p.begin(t)
		eventually(t, func() bool { return len(p.read("few.csv")) > before })
		if runtime.GOOS == "linux" {
			require.Less(t, p.rss(t), 400, "MiB")
		}
		p.signal(t, os.Interrupt)
		require.Equal(t, 0, p.endOrDump(t, patientFor), p.err.String())
		if life > 0 {
			require.Contains(t, p.err.String(), "goes on from checkpoint")
			require.True(t, strings.HasPrefix(p.read("few.csv"), "x\n1\n2\n"), p.read("few.csv"))
		}
		p = p.again(t)
	}
}

// TestWaitsForInput: a signal also ends a run that waits for the first bytes of its standard input.
func TestWaitsForInput(t *testing.T) {
	for _, script := range []string{`csv("-")`, `csv("-") schema {a: int}`, `jsonl("-", follow: true) schema {a: int}`} {
		p := prepare(t, "run", "-c", script)
		in, err := p.StdinPipe()
		require.NoError(t, err)
		p.begin(t)
		time.Sleep(200 * time.Millisecond)
		p.signal(t, os.Interrupt)
		require.Equal(t, 0, p.end(t, patientFor), script)
		require.Empty(t, p.err.String())
		in.Close()
	}
}

// TestKilled: a run that is killed leaves nothing under the name of its output, and the next one clears what it left.
func TestKilled(t *testing.T) {
	p := prepare(t, "run", "-c", `nexmark("bid", rate: 10000) |> into csv("out.csv")`)
	p.write(t, "out.csv", "old\n")
	p.begin(t)
	eventually(t, func() bool { return len(p.temporaries()) == 1 })
	time.Sleep(200 * time.Millisecond)
	p.signal(t, syscall.SIGKILL)
	p.end(t, patientFor)
	require.Equal(t, "old\n", p.read("out.csv"))
	require.Len(t, p.temporaries(), 1)

	q := prepare(t, "run", "-c", `rows([{a: 1}]) |> into csv("out.csv")`)
	q.dir, q.Dir = p.dir, p.dir
	require.Equal(t, 0, q.begin(t).end(t, patientFor))
	require.Equal(t, "a\n1\n", q.read("out.csv"))
	require.Empty(t, q.temporaries())
}

// TestFollow: a file that grows, is rotated by renaming, is truncated and written anew; a signal ends it.
func TestFollow(t *testing.T) {
	const log = `csv("log.csv", follow: true) schema {a: int, b: string}`
	t.Run("two readers", func(t *testing.T) {
		p := prepare(t, "run", "job.ebb")
		p.write(t, "job.ebb", "set checkpoint.interval = 50ms\n"+log+` |> into jsonl("-")`+"\n"+log+` |> into csv("copy.csv")`+"\n")
		testFollow(t, p, func() { // the second reader may be behind: commits show how far it is
			eventually(t, func() bool { return strings.HasSuffix(p.read("copy.csv"), "6,again\n") })
		})
		require.Empty(t, p.err.String())
	})
	t.Run("without checkpoints", func(t *testing.T) {
		p := prepare(t, "run", "-c", log+` |> tee csv("copy.csv") |> into jsonl("-")`)
		testFollow(t, p, func() {})
		p.stopped(t, "the script has no name")
	})
}

// testFollow ends the run when it has shown all rows and caughtUp returns.
func testFollow(t *testing.T, p *process, caughtUp func()) {
	out, err := os.Create(p.path("out"))
	require.NoError(t, err)
	defer out.Close()
	p.Stdout = out
	p.write(t, "log.csv", "a,b\n1,x\n")
	p.begin(t)
	seen := func(n int, b string) {
		t.Helper()
		line := fmt.Sprintf("{\"a\":%d,\"b\":%q}\n", n, b)
		eventually(t, func() bool { return strings.HasSuffix(p.read("out"), line) })
	}
	seen(1, "x")
	add := func(name, text string) {
		f, err := os.OpenFile(p.path(name), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		f.Close()
	}
	add("log.csv", "2,y\n3,")
	seen(2, "y")
	add("log.csv", "z\n")
	seen(3, "z")
	require.NoError(t, os.Rename(p.path("log.csv"), p.path("log.csv.1")))
	add("log.csv.1", "4,last\n")
	p.write(t, "log.csv", "a,b\n5,new\n")
	seen(5, "new")
	require.NoError(t, os.Truncate(p.path("log.csv"), 0))
	time.Sleep(300 * time.Millisecond)
	add("log.csv", "a,b\n6,again\n")
	seen(6, "again")
	caughtUp()
	p.signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.end(t, patientFor), p.err.String())
	require.Equal(t, 6, strings.Count(p.read("out"), "\n"), p.read("out"))
	require.Equal(t, "a,b\n1,x\n2,y\n3,z\n4,last\n5,new\n6,again\n", p.read("copy.csv"))
}

// TestLongLine: a record of 100 MB is one like any other.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 100_000_000)
	for _, c := range []struct{ script, in, want string }{
		{`csv("in") |> select n = len(a), b`, "a,b\n" + long + ",2\nx,3\n", "{\"n\":100000000,\"b\":2}\n{\"n\":1,\"b\":3}\n"},
		{`jsonl("in") |> select n = len(a)`, `{"a":"` + long + "\"}\n{\"a\":\"\"}\n", "{\"n\":100000000}\n{\"n\":0}\n"},
		{`lines("in") |> select n = len(line)`, long + "\nx\n", "{\"n\":100000000}\n{\"n\":1}\n"},
	} {
		p := prepare(t, "run", "-c", c.script)
		p.write(t, "in", c.in)
		require.Equal(t, 0, p.begin(t).end(t, time.Minute), p.err.String())
		require.Equal(t, c.want, p.out.String())
	}
}

// terminal runs ebb with standard error on a terminal and returns what it has drawn when stop says so or the run ends.
func terminal(t *testing.T, p *process, act func(drawn string) bool) string {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 160}))
	p.Stderr = slave
	p.begin(t)
	slave.Close()
	defer time.AfterFunc(time.Minute, func() { p.Process.Kill() }).Stop()
	var drawn []byte
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		drawn = append(drawn, buf[:n]...)
		if err != nil { // the other side is closed
			return string(drawn)
		}
		if act != nil && act(string(drawn)) {
			act = nil
		}
	}
}

// TestProgress: on a terminal a run shows how it comes along, takes that away at its end and leaves one line.
func TestProgress(t *testing.T) {
	p := prepare(t, "run", "-c", `nexmark("bid", rate: 5000) |> aggregate n = count() by auction window tumbling(1s) |> into csv("n.csv")`)
	drawn := terminal(t, p, func(drawn string) bool {
		if strings.Count(drawn, "watermark 2") < 3 {
			return false
		}
		p.signal(t, os.Interrupt)
		return true
	})
	require.Equal(t, 0, p.end(t, patientFor))
	t.Logf("%q", drawn)
	require.Regexp(t, `[0-9.]+k? rows in \([0-9.]+k?/s\), [0-9.]+k? out \([0-9.]+k?/s\), watermark 2\S+Z lag \S+`, drawn)
	require.Regexp(t, `\x1b\[[0-9;]*Jstopped in [0-9.]+m?s: [^\n]* rows in [^\n]*\nebb: stopped after row [^\n]*\n$`, drawn, "cleared, then the summary")

	// A bounded file: percent, bar and time left.
	q := prepare(t, "run", "-c", `csv("in", compression: "none") schema {a: int} |> where a < 0 |> into csv("out.csv")`)
	q.write(t, "in", "a\n"+strings.Repeat("12345\n", 5_000_000))
	drawn = terminal(t, q, nil)
	require.Equal(t, 0, q.end(t, time.Minute))
	t.Logf("%q", drawn)
	require.Regexp(t, `done in [0-9.]+m?s: 5M rows in \(\S+/s\), 0 out`, drawn)
	if strings.Contains(drawn, "%") {
		require.Regexp(t, `[0-9]+ % \[[=>\s]+\] +\S+ +\S+ rows in`, drawn)
	}

	// A short run leaves the line only.
	s := prepare(t, "run", "-c", `rows([{a: 1}]) |> into csv("out.csv")`)
	drawn = terminal(t, s, nil)
	require.Regexp(t, `^done in \S+: 1 rows? in`, drawn)
}

// TestProgressOfCheckpoints: the last one, and how old it is.
func TestProgressOfCheckpoints(t *testing.T) {
	c := prepare(t, "run", "job.ebb", "--checkpoint-interval", "50ms")
	c.write(t, "job.ebb", `nexmark("bid", rate: 5000) |> into csv("n.csv")`)
	drawn := terminal(t, c, func(drawn string) bool {
		if !strings.Contains(drawn, "s ago") {
			return false
		}
		c.signal(t, os.Interrupt)
		return true
	})
	require.Equal(t, 0, c.end(t, patientFor))
	require.Regexp(t, `, checkpoint [0-9]+ [0-9]+s ago`, drawn)
}

// TestRowsOfTheJob: a run that goes on says how far the job is, not how far the run before it came.
func TestRowsOfTheJob(t *testing.T) {
	p := prepare(t, "run", "job.ebb", "--parallelism", "1", "--checkpoint-interval", "10ms")
	p.write(t, "job.ebb", `generate({id: "sequence"}, count: 1_000_000, rate: 20_000) |> into jsonl("out.txt")`)
	last := 0
	for life := range 4 {
		if life > 0 {
			q := prepare(t, p.Args[1:]...)
			q.Dir, q.dir, p = p.dir, p.dir, q
		}
		rows := strings.Count(p.read("out.txt"), "\n")
		p.begin(t)
		eventually(t, func() bool { return strings.Count(p.read("out.txt"), "\n") >= rows+1000 })
		p.signal(t, os.Interrupt)
		require.Zero(t, p.endOrDump(t, 20*time.Second), p.err.String())
		if life > 0 {
			_, said, ok := strings.Cut(p.err.String(), "after row ")
			require.True(t, ok, p.err.String())
			var n int
			_, err := fmt.Sscan(said, &n)
			require.NoError(t, err)
			require.Greater(t, n, last)
			require.InDelta(t, rows, n, 1000, "near to what had been written")
			last = n
		}
	}
}

// TestRewound: a run that is killed has noted how far it had read, and the next one says what it reads again.
func TestRewound(t *testing.T) {
	dir, rows := "", "a\n"
	const note = ".ebb/job/REACHED"
	life := func(upto int, interval string, how os.Signal, ready func(p *process) bool) string {
		p := prepare(t, "run", "job.ebb", "--checkpoint-interval", interval)
		if dir == "" {
			dir = p.dir
			p.write(t, "job.ebb", `csv("log.csv", follow: true) schema {a: int} |> into csv("copy.csv")`)
		}
		p.Dir, p.dir = dir, dir
		for n := strings.Count(rows, "\n"); n <= upto; n++ {
			rows += fmt.Sprintf("%d\n", n)
		}
		p.write(t, "log.csv", rows)
		p.begin(t)
		eventually(t, func() bool { return ready(p) })
		p.signal(t, how)
		p.endOrDump(t, time.Minute)
		return p.err.String()
	}
	written := func(p *process) bool { return p.read("copy.csv") == rows }
	noted := func(n int) func(p *process) bool {
		return func(p *process) bool {
			return strings.HasPrefix(p.read(note), fmt.Sprintf(`{"rows":%d,"over":false,`, n))
		}
	}
	life(100, "20ms", os.Interrupt, written)
	require.Contains(t, life(150, "1h", os.Kill, noted(150)), ": after row 100 of the input, 0 rows rewound, 0 rows in flight put back\n")
	require.Contains(t, life(170, "1h", os.Kill, noted(170)), ": after row 100 of the input, at least 50 rows rewound, 0 rows in flight put back\n")
	require.NoError(t, os.Truncate(filepath.Join(dir, note), 20))
	require.Contains(t, life(200, "20ms", os.Interrupt, written), ": after row 100 of the input, 0 rows in flight put back\n")
	require.Contains(t, life(200, "1h", os.Kill, noted(200)), ": after row 200 of the input, 0 rows rewound, 0 rows in flight put back\n")
}
