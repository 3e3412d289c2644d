package repl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
)

// desk is a Screen of tests at which jobs may speak at any time. It answers no question but with answer.
type desk struct {
	mu     sync.Mutex
	shown  bytes.Buffer
	notes  bytes.Buffer
	asked  []string
	answer bool
	stop   chan struct{}
}

func (d *desk) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown.Write(b)
}

func (d *desk) Note(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes.WriteString(text + "\n")
}

func (d *desk) Ask(q string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, q)
	return d.answer
}

func (d *desk) Size() (int, int)            { return 0, 0 }
func (d *desk) Interrupts() <-chan struct{} { return d.stop }

// take returns all that was shown and noted since it was last called.
func (d *desk) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.shown.String() + d.notes.String()
	d.shown.Reset()
	d.notes.Reset()
	return out
}

// bench is a session in a folder of its own.
type bench struct {
	*Session
	*desk
	t     *testing.T
	taken string // what the last do showed: a quick job may have ended in it
}

func newBench(t *testing.T) *bench {
	t.Chdir(t.TempDir())
	d := &desk{answer: true, stop: make(chan struct{}, 1)}
	b := &bench{New(d, exec.OS, Options{Version: "test"}), d, t, ""}
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// do evaluates lines that are right, and returns what they show.
func (b *bench) do(lines ...string) string {
	b.t.Helper()
	for _, l := range lines {
		require.NoError(b.t, b.Eval(l), l)
	}
	b.taken = b.take()
	return b.taken
}

// refused evaluates a line that is wrong, and returns why.
func (b *bench) refused(line string) string {
	b.t.Helper()
	err := b.Eval(line)
	require.Error(b.t, err, line)
	return err.Error()
}

// until waits until something has been shown or noted, by the last do or since.
func (b *bench) until(want string) string {
	b.t.Helper()
	all := b.taken
	b.taken = ""
	require.Eventually(b.t, func() bool {
		all += b.take()
		return strings.Contains(all, want)
	}, time.Minute, 10*time.Millisecond, "%s\n%s", want, lazily(&all))
	return all
}

type lazy struct{ s *string }

func lazily(s *string) fmt.Stringer { return lazy{s} }
func (l lazy) String() string       { return *l.s }

const (
	endless = `generate({user: "int 1..3", n: "sequence"}, rate: 2000) |> into jsonl("out.jsonl")`
	often   = `set checkpoint.interval = 100ms`
)

func TestRun(t *testing.T) {
	b := newBench(t)
	require.Contains(t, b.refused(".run"), "nothing is written: a pipeline that ends in")
	require.Contains(t, b.refused(".jobs now"), "there is no job now")
	require.Contains(t, b.do(".jobs"), "there is no job; .run starts")
	require.Contains(t, b.refused(".stop"), "there is no job; .run starts")
	require.Contains(t, b.refused(".run --fresh --from 1"), "usage: .run")
	require.Contains(t, b.refused(".run a/b"), `"a/b" cannot be the name of a job`)
	b.do(often, endless)
	require.Contains(t, b.refused(".run --from 3"), "there is no checkpoint 3")
	require.Contains(t, b.refused(".run --set limit"), `--set takes PARAM=VALUE, not "limit"`)
	require.Contains(t, b.refused(".run --set limit=3"), "no param is called `limit`")

	require.Equal(t, "job 1 (repl) starts from the beginning; checkpoints go to .ebb/repl\n", b.do(".run"))
	require.Contains(t, b.refused(".run"), "job 1 (repl) is running; .stop ends it, `.run OTHER`")
	require.Contains(t, b.refused(".run other"), "job 1 (repl) writes out.jsonl already; stop it first")
	require.Contains(t, b.refused(".stop -j rpl"), "there is no job rpl; did you mean repl?")
	require.Contains(t, b.refused(".stop -j 2"), "there is no job 2; .jobs lists them")
	require.Contains(t, b.refused(".stop -j"), "usage: .stop [")
	require.Contains(t, b.refused(".stop now"), "usage: .stop [")

	require.Eventually(t, func() bool { return b.jobs[0].Totals().Checkpoint > 1 && b.jobs[0].Totals().RowsOut > 0 }, time.Minute, 10*time.Millisecond)
	out := b.do(".jobs")
	require.Regexp(t, `(?m)^1  repl: running for [0-9.]+m?s
   [0-9,]+ rows in \([0-9.]+k?/s\), [0-9,]+ out \([0-9.]+k?/s\)
   0 late rows, 0 errors, [0-9,]+ rows? in flight
   checkpoint [0-9]+, [0-9.µm]+s ago, state [0-9.]+ (B|KiB), in .ebb/repl
`, out)

	require.Regexp(t, `^job 1 \(repl\) is stopped; the next .run goes on from checkpoint [0-9]+ in .ebb/repl\n$`, b.do(".stop -j 1"))
	require.Contains(t, b.refused(".stop"), "job 1 (repl) is stopped; .resume goes on")
	require.Contains(t, b.do(".jobs"), "1  repl: stopped after ")
	require.Regexp(t, `^job 1 \(repl\) goes on from checkpoint [0-9]+, [0-9.µm]+s old: after row [0-9,]+ of the input, 0 rows rewound, [0-9]+ rows? in flight put back; checkpoints go to .ebb/repl\n$`, b.do(".run"))
	b.do(".stop")
	require.Contains(t, b.do(".run --fresh"), "job 1 (repl) starts from the beginning")
}

// TestTwoSessions has two sessions that would use one folder.
func TestTwoSessions(t *testing.T) {
	b := newBench(t)
	b.do(often, endless, ".run")
	other := New(b.desk, exec.OS, Options{})
	require.NoError(t, other.Eval(often))
	require.NoError(t, other.Eval(strings.Replace(endless, "out.", "other.", 1)))
	err := other.Eval(".run")
	require.ErrorContains(t, err, fmt.Sprintf("in use by process %d ", os.Getpid()))
	require.ErrorContains(t, err, "`.run OTHER` starts a job with a folder of its own")
	require.NoFileExists(t, "other.jsonl")
	require.NoError(t, other.Eval(".run second"))
	require.NoError(t, other.Close())
}

// TestEndsByItself has jobs that finish and fail while nobody waits for them.
func TestEndsByItself(t *testing.T) {
	b := newBench(t)
	require.NoError(t, os.WriteFile("in.csv", []byte("a\n1\n2\n0\n4\n"), 0o666))
	b.do(`csv("in.csv") |> into csv("out.csv")`, ".run good")
	b.until("job 1 (good) has finished in ")
	require.Contains(t, b.refused(".stop"), "job 1 (good) has finished; .run runs it again")
	b.do(`csv("in.csv") |> derive b = 8 % a |> into csv("bad.csv")`, ".run bad")
	out := b.until("job 2 (bad) has failed: ")
	require.Contains(t, out, "row 3")
	require.Contains(t, out, ".run starts it again")
	require.Contains(t, b.refused(".stop"), "job 2 (bad) has failed: ")
	out = b.do(".jobs")
	require.Contains(t, out, "1  good: finished after ")
	require.Contains(t, out, "2  bad: failed after ")
	require.Contains(t, out, "row 3")
}

// TestChangedScript tells once that a running job keeps its script.
func TestChangedScript(t *testing.T) {
	b := newBench(t)
	b.do(endless, ".run")
	require.Contains(t, b.do(`let a = 1`), "job 1 (repl) keeps running the script it was started with")
	require.NotContains(t, b.do(`let b = 1`), "keeps running")
}

func TestQuit(t *testing.T) {
	b := newBench(t)
	require.ErrorIs(t, b.Eval(".quit"), ErrQuit)
	require.Empty(t, b.asked)
	b.do(often, endless, ".run")
	b.answer = false
	require.NoError(t, b.Eval(".quit"))
	require.Equal(t, []string{"job 1 (repl) runs. Stop it with a final checkpoint and quit?"}, b.asked)
	b.answer = true
	require.ErrorIs(t, b.Eval(".quit"), ErrQuit)
	b.take()
	require.NoError(t, b.Close())
	require.Contains(t, b.take(), "job 1 (repl) is stopped; the next .run goes on from checkpoint")

	defer func(d time.Duration) { stopTime = d }(stopTime)
	stopTime = 0
	b.do(".run")
	err := b.Close()
	require.ErrorContains(t, err, "job 1 (repl) has not stopped within 0s and is left behind")
	<-b.jobs[0].Done()
	require.False(t, errors.Is(err, ErrQuit))
}
