//go:build mutants

package sim_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

var (
	someMutants = flag.String("mutants", "", "switch only these on, in this process's children")
	onlyMutant  = flag.String("mutant", "", "the one fault to switch on")
	mutantTime  = flag.Duration("mutant-time", 15*time.Second, "time for a fault to be noticed")
)

// mutant is a fault of the engine that can be switched on, and what it breaks. Most are faults that other engines have
// had; the others are our own.
type mutant struct{ name, breaks string }

var mutants = []mutant{
	{"forget-taken", "what a consumer takes between its step and the mark is not kept (FLINK-17315)"},
	{"forget-watermark", "watermarks in flight are not saved (FLINK-36663)"},
	{"forget-end", "the end of a channel in flight is not saved (FLINK-17315)"},
	{"forget-idle", "idleness in flight is not saved (FLINK-38454)"},
	{"forget-chunk-end", "the end of a chunk in flight is not saved"},
	{"forget-queued", "what waits in a channel at the mark is not saved"},
	{"record-beyond-mark", "a channel is recorded until the receiver and not the sender marks (FLINK-17568)"},
	{"forget-rest", "the rest of a batch that was taken in part is not saved"},
	{"mark-early", "a mark overtakes the item before it (FLINK-18136)"},
	{"abort-keeps-cut", "an abort leaves the cuts of channels (FLINK-20097)"},
	{"watermark-over-mark", "a watermark is merged into one on the other side of a mark"},
	{"closed-forgets", "what comes into a closed channel is kept from open snapshots"},
	{"close-forgets", "what waits in a channel that is closed is kept from open snapshots"},
	{"run-over-mark", "rows beyond the mark are processed before the snapshot (FLINK-17568)"},
	{"never-aligned", "an aligned snapshot never finds all marks (FLINK-33693)"},
	{"skip-no-chunk", "a gate that keeps order does not look which chunk comes next after a restore"},
	{"watermark-of-the-fastest", "event time is that of the fastest input and not of the slowest (FLINK-40517)"},
	{"old-watermark-unmerged", "the watermarks of merged old channels are not brought together (FLINK-40517)"},
	{"live-before-old", "new rows come before those that were in flight (FLINK-20079)"},
	{"old-end-early", "an input ends although not all old ones had ended (FLINK-23938)"},
	{"step-aborted", "a snapshot that was aborted is taken when its mark comes late (FLINK-17869)"},
	{"skip-older", "a trigger does not make a task step the older open ones first (RisingWave 10907)"},
	{"ended-waits", "a task that has ended waits for marks that do not come (FLINK-23201)"},
	{"mark-first-edge", "only the first of several outputs is marked (eKuiper 2ceeea6)"},
	{"old-unmarked", "a checkpoint during a restore waits for ever (FLINK-40518)"},
	{"forget-feed", "rows between a source and its operators are not saved"},
	{"source-runs-on", "the position of a source is saved after a row that follows the mark (eKuiper)"},
	{"abort-stays-announced", "an aborted snapshot stays announced (FLINK-18063)"},
	{"abort-forgotten", "a task does not remember what was aborted (FLINK-17994)"},
	{"reached-drops-cuts", "a mark that is reached makes a task forget the cuts of its other inputs"},
	{"forget-owed", "what an operator owes is forgotten at a restore (FLINK-19300)"},
	{"forget-signals", "signals that wait for what is owed are forgotten"},
	{"forget-node-watermark", "the watermark of operators is forgotten (FLINK-36663)"},
	{"forget-idle-flag", "the idle flags of inputs are forgotten (FLINK-38454)"},
	{"forget-ended", "inputs that had ended are waited for (FLINK-39522)"},
	{"forget-gate-watermark", "the watermarks of inputs are forgotten"},
	{"task-runs-again", "a task that had ended begins anew (FLINK-23698)"},
	{"restore-loses-last", "the last item in flight is not put back"},
	{"restore-twice", "items in flight are put back twice (FLINK-40016)"},
	{"restore-reversed", "items in flight are put back in another order (FLINK-17564)"},
	{"flight-to-neighbour", "rows in flight go to the wrong task at another parallelism (FLINK-22686)"},
	{"keys-off-by-one", "key groups are off by one at another parallelism"},
	{"merge-first-only", "only the state of the first old task is merged (RisingWave 20615)"},
	{"feed-not-restored", "rows between source and operators are not put back"},
	{"feed-unsorted", "rows in flight of several old tasks are not brought into order (FLINK-21936)"},
	{"old-one-name", "two old channels of one task have one name (Jet 840)"},
	{"no-commit-at-restore", "what was published and not committed is not committed at the restore (FLINK-36287)"},
	{"lose-abort", "tasks are not told of an abort"},
	{"commit-before-publish", "outputs are committed before the checkpoint is published (FLINK-26783)"},
	{"outputs-not-flushed", "outputs are not flushed with the checkpoint (FLINK-35217)"},
	{"forget-old-flight", "what has not drained since a restore is not saved again (FLINK-38930)"},
	{"first-task-only", "the state of one task only is saved (Bytewax 181)"},
	{"publish-out-of-order", "a younger checkpoint is published before an older one (RisingWave 13219)"},
	{"publish-incomplete", "a checkpoint is published while a part is missing (Jet hazelcast 18675)"},
	{"no-switch", "the alignment timeout switches nothing (FLINK-22596)"},
	{"no-fsync", "checkpoints are not flushed (FLINK-35217)"},
	{"fsync-error-ignored", "a failing flush is taken for a good one"},
	{"no-folder-fsync", "the folder of a new segment is not flushed"},
	{"reuse-id", "ids are used again after a restart (FLINK-37605)"},
	{"delete-needed", "segments that other checkpoints need are deleted (FLINK-21351)"},
	{"rotate-unflushed", "a segment is left behind unflushed (FLINK-39977)"},
	{"collect-early", "segments go before it is durable that nothing needs them (Arroyo 802)"},
	{"trust-outputs", "a checkpoint counts although its outputs are not whole"},
	{"trust-tail", "the end of the log is not checked after a crash"},
	{"commit-too-much", "a commit includes what was sealed later (Iceberg 15846)"},
	{"forget-committed", "what was committed is forgotten before it is durable (Paimon 352)"},
	{"no-cut", "outputs are not cut to the checkpoint at a restart"},
	{"seal-short", "the size of an output is sealed short"},
	{"rows-again", "rows of the chunk at hand are read again (FLINK-20290)"},
	{"forget-batons", "what one source task passes to another during the snapshot is lost (FLINK-21996)"},
	{"forget-source-watermark", "the watermark of a source is forgotten"},
	{"skip-chunk", "a source goes on behind where it was (Kafka connector 40469)"},
	{"commit-nothing", "committed outputs do not become visible (FLINK-38614)"},
	{"forget-window-time", "how far time has come in windows is forgotten (RisingWave 17711)"},
	{"give-out-again", "groups that were given out are given out again at another parallelism"},
	{"forget-count", "limit counts anew"},
	{"own-everything", "every task takes over the state of all keys (FLINK-25920)"},
}

// TestMutants switches one fault on after another, each in a process of its own, and tells stories until one fails: if none
// does, the stories prove nothing about that fault. It prints the table of docs/checkpoints-proof.md.
func TestMutants(t *testing.T) {
	if *onlyMutant != "" {
		hunt(t, *onlyMutant)
		return
	}
	from := time.Now()
	lines := make([]string, len(mutants))
	var next, killed atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(mutants) {
					return
				}
				m := mutants[i]
				if *someMutants != "" && !strings.Contains(","+*someMutants+",", ","+m.name+",") {
					continue
				}
				seeds, by := hunted(m.name)
				if strings.HasPrefix(by, "survives") {
					t.Errorf("%s %s %s seeds", m.name, by, seeds)
				} else {
					killed.Add(1)
				}
				lines[i] = fmt.Sprintf("| %s | %s | %s | %s |", m.name, m.breaks, seeds, by)
			}
		})
	}
	wg.Wait()
	fmt.Printf("| fault | what it breaks | seeds | noticed by |\n|---|---|---|---|\n%s\n\n%d of %d faults are noticed, in %.0f s\n", strings.Join(lines, "\n"), killed.Load(), len(mutants), time.Since(from).Seconds())
}

// patience is how long one story may take before it is said not to end.
const patience = 40 * time.Second

// hunted runs a process for a fault.
func hunted(name string) (seeds, by string) {
	ctx, cancel := context.WithTimeout(context.Background(), *mutantTime+2*patience)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], "-test.run", "TestMutants$", "-mutant", name, "-mutant-time", mutantTime.String())
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, _ := c.CombinedOutput()
	if m := resultLine.FindStringSubmatch(string(out)); m != nil {
		return m[1], m[2]
	}
	if ctx.Err() != nil {
		return "-", "survives (undecided: its process did not end)"
	}
	return "-", "panic"
}

var resultLine = regexp.MustCompile(`(?m)^RESULT (\d+) (.*)$`)

// slow are jobs whose stories take long.
var slow = map[string]bool{"calls": true, "hopping": true, "keyed": true, "changes": true, "cumulate": true, "counted": true, "two levels": true}

// hunt tells stories until one fails.
func hunt(t *testing.T, name string) {
	until := time.Now().Add(*mutantTime)
	told := 0
	for seed := uint64(0); ; seed++ {
		if slow[jobOf(seed).name] && seed > 3 {
			continue
		}
		told++
		if seed == 1000 || time.Now().After(until) {
			fmt.Printf("RESULT %d survives (reached %d times)\n", told-1, fault.Hits.Load())
			return
		}
		if _, err := peaceOf(jobOf(seed)); err != nil {
			t.Fatal(err)
		}
		fault.Name = name
		alarm := time.AfterFunc(patience, func() {
			fmt.Printf("RESULT %d it does not end\n", told)
			os.Exit(1)
		})
		_, err := story(seed, sizeOf())
		alarm.Stop()
		fault.Name = ""
		if err != nil {
			fmt.Printf("RESULT %d %s\n", told, caughtBy(err))
			t.Log(err)
			return
		}
	}
}

var invariant = regexp.MustCompile(`\bI\d+:`)

// caughtBy tells what noticed a fault.
func caughtBy(err error) string {
	text := err.Error()
	switch {
	case invariant.MatchString(text):
		return strings.TrimSuffix(invariant.FindString(text), ":")
	case strings.Contains(text, "wait for each other"), strings.Contains(text, "no end after"), strings.Contains(text, "come to its end"):
		return "it does not end"
	case strings.Contains(text, "panic"):
		return "panic"
	case strings.Contains(text, "going on from checkpoint") && strings.Contains(text, "output"):
		return "outputs, from a kept checkpoint"
	case strings.Contains(text, "output "):
		return "outputs"
	}
	return "an error of the engine"
}
