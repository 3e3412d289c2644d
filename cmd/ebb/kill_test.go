package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// killed is a job of every kind of output: a gather in the order of its file, keyed windows, late rows, partitions,
// compression, wide rows that are held back in hidden files. Checkpoints come all the time, so that kills hit snapshots,
// publishing, commits and restores.
const killed = `
set checkpoint.interval = 15ms
param rate: int = 0
source bids = nexmark("bid", events: 400_000, rate: rate, disorder: 500) time date_time lag 10ms
source orders = csv("orders.csv")
bids |> aggregate n = count(), s = sum(price), who = distinct(bidder) by auction window tumbling(100ms) late into behind |> into csv("windows.csv")
behind |> aggregate n = count(), s = sum(price) |> into jsonl("late.jsonl")
bids |> where price % 13 == 0 |> select auction, price, channel |> into csv("parts", partition_by: {kind: price % 4})
bids |> where price % 50 == 0 |> select auction, price, text = repeat(url, 60) |> into csv("wide.csv")
orders |> where amount > 50 |> into csv("orders-copy.csv")
orders |> aggregate n = count(), total = sum(amount) by customer |> into jsonl("customers.jsonl.gz")
`

func writeOrders(t *testing.T, path string) {
	var s strings.Builder
	s.WriteString("id,customer,amount\n")
	for i := range 300_000 {
		fmt.Fprintf(&s, "%d,c%d,%d\n", i, i*7919%997, i*31%101)
	}
	require.NoError(t, os.WriteFile(path, []byte(s.String()), 0o666))
}

// TestKills kills a job at random moments, goes on at other widths, and wants the outputs of an undisturbed run.
func TestKills(t *testing.T) {
	t.Parallel()
	const kills = 30
	calm := prepare(t, "run", "job.ebb", "--checkpoint-mode", "none", "--parallelism", "2")
	calm.write(t, "job.ebb", killed)
	writeOrders(t, calm.path("orders.csv"))
	require.Zero(t, calm.begin(t).end(t, 2*time.Minute), calm.err.String())

	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	var dir, said string
	done, hit, resumed, held := false, 0, 0, 0
	for round := 0; !done; round++ {
		require.Less(t, round, 10*kills)
		args := []string{"run", "job.ebb", "--parallelism", fmt.Sprint(1 + rng.IntN(3)), "--checkpoint-mode", []string{"auto", "aligned", "unaligned"}[rng.IntN(3)],
			"--set", "rate=100000"} // slow, so that it does not end before it is killed often enough
		p := prepare(t, args...)
		if dir == "" {
			dir = p.dir
			p.write(t, "job.ebb", killed)
			writeOrders(t, p.path("orders.csv"))
		}
		p.Dir, p.dir = dir, dir
		p.begin(t)
		if hit < kills {
			if rng.IntN(3) > 0 { // at some moment of its life, not of its start
				kept := segments(dir)
				for since := time.Now(); segments(dir) == kept && time.Since(since) < 5*time.Second && !p.gone(); {
					time.Sleep(time.Millisecond)
				}
			}
			select {
			case <-p.done:
			case <-time.After(time.Duration(rng.IntN(150)) * time.Millisecond):
				p.signal(t, []os.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGKILL, os.Interrupt}[rng.IntN(4)])
			}
		}
		code := p.endOrDump(t, 30*time.Second)
		said = p.err.String()
		if strings.Contains(said, "goes on from checkpoint") {
			resumed++
		}
		hit++
		if names, _ := filepath.Glob(filepath.Join(dir, ".wide.csv.tmp-*")); len(names) > 0 {
			held++
		}
		require.Contains(t, []int{0, -1}, code, "round %d: %s", round, said)
		done = code == 0 && hit > kills
	}
	require.Greater(t, resumed, kills/3, "most runs go on from a checkpoint")
	require.Greater(t, held, kills/3, "most kills leave a hidden file behind")
	require.Equal(t, results(t, calm.dir), results(t, dir))
	t.Logf("%d runs, %d of them resumed, %d left hidden files", hit, resumed, held)
}

// segments returns the size of the checkpoints in a folder.
func segments(dir string) (size int64) {
	names, _ := filepath.Glob(filepath.Join(dir, ".ebb", "job", "*.seg"))
	for _, n := range names {
		if info, err := os.Stat(n); err == nil {
			size += info.Size()
		}
	}
	return size + int64(len(names))
}

func (p *process) gone() bool { return over(p.done) }

// over reports whether a channel is closed.
func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// results returns the outputs in a folder: rows of files whose order follows from the job as they are, others sorted.
func results(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		name, _ := filepath.Rel(dir, path)
		if info != nil && info.IsDir() && name == ".ebb" {
			return filepath.SkipDir
		}
		if err != nil || info.IsDir() || name == "job.ebb" || name == "orders.csv" || strings.HasSuffix(name, ".lock") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".gz") {
			b = gunzip(t, b)
		}
		text := string(b)
		if name != "orders-copy.csv" {
			lines := strings.Split(text, "\n")
			sort.Strings(lines)
			text = strings.Join(lines, "\n")
		}
		out[name] = fmt.Sprintf("%d bytes, sum %x", len(text), sum(text))
		return nil
	}))
	return out
}

func gunzip(t *testing.T, b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return text
}

func sum(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// endOrDump waits for the end; a process that does not end shows where it hangs.
func (p *process) endOrDump(t *testing.T, within time.Duration) int {
	select {
	case <-p.done:
	case <-time.After(within):
		p.signal(t, syscall.SIGQUIT)
		<-p.done
		t.Fatalf("does not end within %s:\n%s", within, p.err.String())
	}
	return p.ProcessState.ExitCode()
}

// TestLimitIsOver kills a job after its limit has had enough: what was on its way there must not hold the input up.
func TestLimitIsOver(t *testing.T) {
	t.Parallel()
	p := prepare(t, "run", "job.ebb", "--parallelism", "2", "--checkpoint-mode", "unaligned", "--checkpoint-interval", "10ms")
	p.write(t, "job.ebb", `source o = generate({id: "sequence"}, count: 1_000_000, rate: 500_000)
o |> limit 1000 |> into jsonl("few.jsonl")
o |> aggregate n = count() |> into csv("n.csv")`)
	p.begin(t)
	eventually(t, func() bool { return strings.Count(p.read("few.jsonl"), "\n") >= 1000 })
	time.Sleep(200 * time.Millisecond)
	p.signal(t, os.Kill)
	<-p.done
	q := prepare(t, p.Args[1:]...)
	q.Dir, q.dir = p.dir, p.dir
	require.Zero(t, q.begin(t).endOrDump(t, 15*time.Second), q.err.String())
	require.Contains(t, q.err.String(), "goes on from checkpoint")
	require.Equal(t, 1000, strings.Count(q.read("few.jsonl"), "\n"))
	require.Equal(t, "n\n1000000\n", q.read("n.csv"))
}

// TestKilledWithoutACheckpoint: a run says that it starts afresh because the one before was killed too early, once.
func TestKilledWithoutACheckpoint(t *testing.T) {
	t.Parallel()
	const said = "ebb: the run before was killed without a checkpoint: this one starts afresh\n"
	p := prepare(t, "run", "job.ebb", "--checkpoint-interval", "1h")
	p.write(t, "job.ebb", `param rate: int = 1000
generate({id: "sequence"}, count: 20_000, rate: rate) |> where id > 0 |> into csv("out.csv")`)
	p.begin(t)
	eventually(t, func() bool {
		locks, _ := filepath.Glob(p.path(".out.csv.lock"))
		return len(locks) > 0
	})
	p.signal(t, os.Kill)
	<-p.done
	require.NotContains(t, p.err.String(), said)
	require.NoDirExists(t, p.path(".ebb"))
	q := p.again(t, "--set", "rate=0")
	require.Zero(t, q.begin(t).endOrDump(t, time.Minute), q.err.String())
	require.Equal(t, said, q.err.String())
	require.Equal(t, 20_001, strings.Count(q.read("out.csv"), "\n"))
	r := p.again(t, "--set", "rate=0")
	require.Zero(t, r.begin(t).endOrDump(t, time.Minute), r.err.String())
	require.Empty(t, r.err.String(), "that one had come to its end")
}
