package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Runs whose checkpoints cannot be written: what they say, how they end, and that the next one goes on.

// numbers is a job whose state and outputs grow with its input, and whose outputs are known.
const numbers = `
set checkpoint.interval = 50ms
param rate: int = 20_000
source s = generate({n: "sequence", text: "hex 40"}, count: 60_000, rate: rate)
s |> select n |> into csv("copy.csv")
s |> aggregate times = count() by n, text |> aggregate keys = count() |> into jsonl("keys.jsonl")
`

// wholeNumbers checks the outputs of numbers.
func wholeNumbers(t *testing.T, p *process) {
	t.Helper()
	var want strings.Builder
	want.WriteString("n\n")
	for i := range 60_000 {
		fmt.Fprintln(&want, i+1)
	}
	require.Equal(t, want.String(), p.read("copy.csv"))
	require.Equal(t, "{\"keys\":60000}\n", p.read("keys.jsonl"))
}

// again starts the same command line in the same folder.
func (p *process) again(t *testing.T, more ...string) *process {
	q := prepare(t, append(p.Args[1:len(p.Args):len(p.Args)], more...)...)
	q.Dir, q.dir = p.dir, p.dir
	return q
}

// asNobody makes a process one of a user who may not write everywhere; false if that cannot be.
func (p *process) asNobody(t *testing.T) bool {
	if os.Geteuid() != 0 {
		return true
	}
	const nobody = 65534
	p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	require.NoError(t, os.Chmod(ebbDir(t), 0o755))
	for d := p.dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		if os.Chmod(d, 0o777) != nil {
			return false
		}
	}
	return true
}

// TestFolderCannotBeWritten: a folder that a run cannot make or write ends it with status 74 and a word about what to do; the
// outputs are as they were.
func TestFolderCannotBeWritten(t *testing.T) {
	t.Parallel()
	const help = "\nhelp: `set checkpoint.dir = \"…\"` keeps the checkpoints in another folder, `set checkpoint.mode = \"none\"` takes none\n"
	fails := func(t *testing.T, p *process, says string) {
		t.Helper()
		require.Equal(t, 74, p.begin(t).endOrDump(t, time.Minute), p.err.String())
		require.Regexp(t, `(?m)^ebb: `+says+regexp.QuoteMeta(help), p.err.String())
		require.Empty(t, p.temporaries())
	}
	job := func(t *testing.T) *process {
		p := prepare(t, "run", "job.ebb")
		p.write(t, "job.ebb", numbers)
		return p
	}
	t.Run("a file in its place", func(t *testing.T) {
		p := job(t)
		require.NoError(t, os.Mkdir(p.path(".ebb"), 0o777))
		p.write(t, ".ebb/job", "")
		fails(t, p, `making the checkpoint folder: mkdir \.ebb/job: not a directory`)
		require.NoFileExists(t, p.path("copy.csv"))

		// In the place of the folder that holds it, it is found when the first checkpoint is due.
		require.NoError(t, os.RemoveAll(p.path(".ebb")))
		p.write(t, ".ebb", "")
		fails(t, p.again(t), `begin checkpoint 1: making the checkpoint folder: mkdir \.ebb: not a directory`)
		require.NoFileExists(t, p.path("copy.csv"))
	})
	t.Run("not permitted", func(t *testing.T) {
		p := job(t)
		require.NoError(t, os.Mkdir(p.path(".ebb"), 0o555))
		if !p.asNobody(t) {
			t.Skip("the folder of the test cannot be opened to others")
		}
		fails(t, p, `begin checkpoint 1: making the checkpoint folder: mkdir \.ebb/job: permission denied`)

		// One that was written before.
		require.NoError(t, os.Chmod(p.path(".ebb"), 0o777))
		first := p.again(t)
		first.asNobody(t)
		first.begin(t)
		eventually(t, func() bool { return strings.Count(first.read("copy.csv"), "\n") > 100 })
		first.signal(t, os.Interrupt)
		require.Zero(t, first.endOrDump(t, time.Minute), first.err.String())
		copied := first.read("copy.csv")
		require.NoError(t, os.Chmod(p.path(".ebb/job"), 0o555))
		for _, c := range []struct {
			lock os.FileMode
			says string
		}{
			{0o444, `locking the checkpoint folder: open \.ebb/job/LOCK: permission denied`},
			{0o666, `making a segment of checkpoints: open \.ebb/job/0002-000\.seg: permission denied`},
		} {
			require.NoError(t, os.Chmod(p.path(".ebb/job/LOCK"), c.lock))
			next := p.again(t)
			next.asNobody(t)
			fails(t, next, c.says)
			require.Equal(t, copied, p.read("copy.csv"))
		}
		require.NoError(t, os.Chmod(p.path(".ebb/job"), 0o777))
		last := p.again(t, "--set", "rate=0")
		last.asNobody(t)
		require.Zero(t, last.begin(t).endOrDump(t, time.Minute), last.err.String())
		require.Contains(t, last.err.String(), "goes on from checkpoint")
		wholeNumbers(t, last)
	})
	t.Run("files may not grow", func(t *testing.T) {
		p := job(t)
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Skip("there is no sh")
		}
		p.Path, p.Args = sh, append([]string{"sh", "-c", `ulimit -f 400; exec "$0" "$@"`, p.Path}, p.Args[1:]...)
		fails(t, p, `begin checkpoint 1: beginning a segment of checkpoints: write \.ebb/job/0001-000\.seg: file too large`)
	})
}

// TestFullDisk: checkpoints that fill their disk end the run with status 74; those before are whole, and the run goes on where
// there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	p := prepare(t, "run", "job.ebb")
	p.write(t, "job.ebb", "set checkpoint.dir = \"small/job\"\n"+numbers)
	require.NoError(t, os.Mkdir(p.path("small"), 0o777))
	mount := func(options string) ([]byte, error) {
		return exec.Command("mount", "-t", "tmpfs", "-o", options, "none", p.path("small")).CombinedOutput()
	}
	if said, err := mount("size=3m"); err != nil {
		t.Skipf("a small disk cannot be made: %v, %s", err, said)
	}
	t.Cleanup(func() { exec.Command("umount", p.path("small")).Run() })
	require.Equal(t, 74, p.begin(t).endOrDump(t, time.Minute), p.err.String())
	require.Regexp(t, `(?m)^ebb: .*: write small/job/0001-000\.seg: no space left on device
help: make room there and run it again; a job that takes checkpoints goes on from its newest one$`, p.err.String())

	v := prepare(t, "checkpoint", "verify", "small/job")
	v.Dir = p.dir
	require.Zero(t, v.begin(t).endOrDump(t, time.Minute), v.out.String()+v.err.String())
	require.Regexp(t, `: all whole\n$`, v.err.String())

	// As long as there is no room, nothing gets worse.
	q := p.again(t)
	require.Equal(t, 74, q.begin(t).endOrDump(t, time.Minute), q.err.String())
	require.Contains(t, q.err.String(), "no space left on device\nhelp: make room there")

	said, err := mount("remount,size=200m")
	require.NoError(t, err, string(said))
	r := p.again(t, "--set", "rate=0")
	require.Zero(t, r.begin(t).endOrDump(t, time.Minute), r.err.String())
	require.Regexp(t, `^ebb: goes on from checkpoint [0-9]+, \d+s old: after row [1-9][0-9]* of the input`, r.err.String())
	wholeNumbers(t, r)
}

// TestTolerated: checkpoints that take too long are given up; after more than `checkpoint.tolerate` in a row the run ends, and
// the next one goes on from the last that was in time.
func TestTolerated(t *testing.T) {
	p := prepare(t, "run", "job.ebb")
	p.write(t, "job.ebb", "set checkpoint.mode = \"aligned\"\nset checkpoint.timeout = 500ms\nset checkpoint.tolerate = 2\n"+numbers+`s |> into csv("pipe")`)
	require.NoError(t, syscall.Mkfifo(p.path("pipe"), 0o666))
	pipe, err := os.OpenFile(p.path("pipe"), os.O_RDWR, 0) // which waits for nobody
	require.NoError(t, err)
	defer pipe.Close()
	p.begin(t)
	enough := make(chan struct{})
	go func() { // as long as the pipe is read, and as quickly as it is written, there are checkpoints
		room := make([]byte, 64<<10)
		for !over(enough) {
			if _, err := pipe.Read(room); err != nil {
				return
			}
		}
	}()
	eventually(t, func() bool { return strings.Count(p.read("copy.csv"), "\n") > 100 })
	close(enough)
	require.Equal(t, 74, p.endOrDump(t, time.Minute), p.err.String())
	const late = `it took too long: [0-9]+ of [0-9]+ tasks had not handed in their part`
	require.Regexp(t, `(level=WARN msg="checkpoint given up" id=[0-9]+ reason="`+late+`"
.*){3,}ebb: 3 checkpoints in a row failed, the last: `+late+`; the next run goes on from checkpoint [0-9]+; `+
		"`checkpoint.timeout` and `checkpoint.tolerate` allow for more\n$", p.err.String())
	last := regexp.MustCompile(`goes on from checkpoint [0-9]+`).FindString(p.err.String())

	q := p.again(t, "--set", "rate=0")
	q.begin(t)
	go io.Copy(io.Discard, pipe)
	require.Zero(t, q.endOrDump(t, time.Minute), q.err.String())
	require.Contains(t, q.err.String(), last+", ")
	wholeNumbers(t, q)
}
