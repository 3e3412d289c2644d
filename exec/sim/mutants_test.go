//go:build mutants

package sim_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

var (
	someMutants   = flag.String("mutants", "", "switch only these on, in this process's children")
	part          = flag.Int("part", -1, "hunt only each third one, beginning with 0, 1 or 2")
	onlyMutant    = flag.String("mutant", "", "the one fault to switch on")
	mutantStories = flag.Int("stories", 200, "stories to be told of a fault until it is said to survive")
)

// mutant is a fault of the engine that can be switched on, and what it breaks. Most are faults that other engines have
// had; the others are our own.
type mutant struct {
	name, breaks string
	// A story that noticed it is told first; others of its job follow in case that the engine has changed since. Or the
	// package and the name of a test that is written for the scene.
	job  string
	seed uint64
}

var mutants = []mutant{
	{"forget-taken", "what a consumer takes between its step and the mark is not kept (FLINK-17315)", "late", 1},
	{"forget-watermark", "watermarks in flight are not saved (FLINK-36663)", "random", 1},
	{"forget-end", "the end of a channel in flight is not saved (FLINK-17315)", "fan", 21},
	{"forget-idle", "idleness in flight is not saved (FLINK-38454)", "paced", 6},
	{"forget-chunk-end", "the end of a chunk in flight is not saved", "fan", 33},
	{"forget-queued", "what waits in a channel at the mark is not saved", "late", 1},
	{"record-beyond-mark", "a channel is recorded until the receiver and not the sender marks (FLINK-17568)", "random", 1},
	{"forget-rest", "the rest of a batch that was taken in part is not saved", "late", 2},
	{"mark-early", "a mark overtakes the item before it (FLINK-18136)", "random", 8},
	{"abort-keeps-cut", "an abort leaves the cuts of channels (FLINK-20097)", "sample", 2},
	{"watermark-over-mark", "a watermark is merged into one on the other side of a mark", "sparse", 5},
	{"closed-forgets", "what comes into a closed channel is kept from open snapshots", "exec.TestCutOfAChannelThatIsClosed", 0},
	{"close-forgets", "what waits in a channel that is closed is kept from open snapshots", "limit", 11},
	{"run-over-mark", "rows beyond the mark are processed before the snapshot (FLINK-17568)", "random", 8},
	{"never-aligned", "an aligned snapshot never finds all marks (FLINK-33693)", "random", 8},
	{"skip-no-chunk", "a gate that keeps order does not look which chunk comes next after a restore", "copy", 0},
	{"watermark-of-the-fastest", "event time is that of the fastest input and not of the slowest (FLINK-40517)", "random", 8},
	{"old-watermark-unmerged", "the watermarks of merged old channels are not brought together (FLINK-40517)", "random", 4},
	{"live-before-old", "new rows come before those that were in flight (FLINK-20079)", "limit", 32},
	{"old-end-early", "an input ends although not all old ones had ended (FLINK-23938)", "random", 1},
	{"step-aborted", "a snapshot that was aborted is taken when its mark comes late (FLINK-17869)", "exec.TestMarkOfASnapshotThatIsAborted", 0},
	{"skip-older", "a trigger does not make a task step the older open ones first (RisingWave 10907)", "exec.TestOrderBetweenMarkAndSnapshot", 0},
	{"ended-waits", "a task that has ended waits for marks that do not come (FLINK-23201)", "first", 33},
	{"mark-first-edge", "only the first of several outputs is marked (eKuiper 2ceeea6)", "random", 8},
	{"old-unmarked", "a checkpoint during a restore waits for ever (FLINK-40518)", "random", 1},
	{"forget-feed", "rows between a source and its operators are not saved", "copy", 0},
	{"source-runs-on", "the position of a source is saved after a row that follows the mark (eKuiper)", "errors", 1},
	{"abort-stays-announced", "an aborted snapshot stays announced (FLINK-18063)", "sample", 2},
	{"abort-forgotten", "a task does not remember what was aborted (FLINK-17994)", "exec.TestMarkOfASnapshotThatIsAborted", 0},
	{"reached-drops-cuts", "a mark that is reached makes a task forget the cuts of its other inputs", "every", 18},
	{"forget-owed", "what an operator owes is forgotten at a restore (FLINK-19300)", "random", 72},
	{"forget-lists", "what is left of lists that are taken apart is forgotten", "lines", 12},
	{"lists-too-early", "what other tasks left of lists comes before the rows that were read before it", "lines", 250},
	{"forget-signals", "signals that wait for what is owed are forgotten", "random", 135},
	{"forget-node-watermark", "the watermark of operators is forgotten (FLINK-36663)", "random", 8},
	{"forget-idle-flag", "the idle flags of inputs are forgotten (FLINK-38454)", "paced", 2},
	{"forget-ended", "inputs that had ended are waited for (FLINK-39522)", "session", 1},
	{"forget-gate-watermark", "the watermarks of inputs are forgotten", "random", 8},
	{"task-runs-again", "a task that had ended begins anew (FLINK-23698)", "session", 10},
	{"restore-loses-last", "the last item in flight is not put back", "late", 1},
	{"restore-twice", "items in flight are put back twice (FLINK-40016)", "late", 1},
	{"restore-reversed", "items in flight are put back in another order (FLINK-17564)", "errors", 1},
	{"flight-to-neighbour", "rows in flight go to the wrong task at another parallelism (FLINK-22686)", "late", 4},
	{"keys-off-by-one", "key groups are off by one at another parallelism", "random", 0},
	{"merge-first-only", "only the state of the first old task is merged (RisingWave 20615)", "late", 1},
	{"feed-not-restored", "rows between source and operators are not put back", "copy", 0},
	{"feed-unsorted", "rows in flight of several old tasks are not brought into order (FLINK-21936)", "copy", 3},
	{"old-one-name", "two old channels of one task have one name (Jet 840)", "session", 10},
	{"no-commit-at-restore", "what was published and not committed is not committed at the restore (FLINK-36287)", "copy", 0},
	{"lose-abort", "tasks are not told of an abort", "every", 1},
	{"commit-before-publish", "outputs are committed before the checkpoint is published (FLINK-26783)", "copy", 0},
	{"outputs-not-flushed", "outputs are not flushed with the checkpoint (FLINK-35217)", "copy", 0},
	{"forget-old-flight", "what has not drained since a restore is not saved again (FLINK-38930)", "late", 13},
	{"first-task-only", "the state of one task only is saved (Bytewax 181)", "session", 1},
	{"publish-out-of-order", "a younger checkpoint is published before an older one (RisingWave 13219)", "checkpoint.TestCoordinator", 0},
	{"publish-incomplete", "a checkpoint is published while a part is missing (Jet hazelcast 18675)", "copy", 0},
	{"no-switch", "the alignment timeout switches nothing (FLINK-22596)", "checkpoint.TestCoordinator", 0},
	{"no-fsync", "checkpoints are not flushed (FLINK-35217)", "copy", 0},
	{"fsync-error-ignored", "a failing flush is taken for a good one", "allow", 66},
	{"lost-output-tolerated", "a sink that cannot seal its rows goes on without them (FLINK-31305)", "exec.TestSealThatFails", 0},
	{"flush-again", "a failed flush is believed when the next one succeeds (PostgreSQL's fsync)", "checkpoint.TestCrash", 0},
	{"no-folder-fsync", "the folder of a new segment is not flushed", "copy", 0},
	{"not-secured", "outputs are changed before the checkpoint that was found is durable", "copy", 52},
	{"reuse-id", "ids are used again after a restart (FLINK-37605)", "copy", 0},
	{"reuse-aborted", "an id that was aborted is used again by the next run (FLINK-37605)", "every", 1},
	{"delete-needed", "segments that other checkpoints need are deleted (FLINK-21351)", "random", 8},
	{"rotate-unflushed", "a segment is left behind unflushed (FLINK-39977)", "checkpoint.TestRecovery", 0},
	{"collect-early", "segments go as soon as nothing needs them, before that is durable (Arroyo 802)", "checkpoint.TestRecovery", 0},
	{"trust-outputs", "a checkpoint counts although its outputs are not whole", "checkpoint.TestCrash", 0},
	{"trust-tail", "the end of the log is not checked after a crash", "checkpoint.TestCrash", 0},
	{"commit-too-much", "a commit includes what was sealed later (Iceberg 15846)", "copy", 0},
	{"forget-committed", "what was committed is forgotten before it is durable (Paimon 352)", "sort", 0},
	{"remove-named", "a hidden file is removed though older checkpoints name it", "stdlib/conn.TestFlushThatFailsAtARestart", 0},
	{"unsettled", "what proves that a checkpoint was published goes before that is certain", "stdlib/conn.TestSealedFileStays", 0},
	{"spare-unsure", "a hidden file is written over before its new name is durable", "stdlib/conn.TestOutputsSurviveCrashes", 0},
	{"no-cut", "outputs are not cut to the checkpoint at a restart", "stdlib/conn.TestOutputLongerThanItsCheckpoint", 0},
	{"seal-short", "the size of an output is sealed short", "copy", 0},
	{"rows-again", "rows of the chunk at hand are read again (FLINK-20290)", "copy", 0},
	{"forget-batons", "what one source task passes to another during the snapshot is lost (FLINK-21996)", "copy", 33},
	{"forget-source-watermark", "the watermark of a source is forgotten", "stdlib/conn.TestMadeKeepsItsWatermark", 0},
	{"skip-chunk", "a source goes on behind where it was (Kafka connector 40469)", "paced", 34},
	{"unheld", "an output is visible as soon as its input ends, before a checkpoint", "behind", 500062},
	{"commit-nothing", "committed outputs do not become visible (FLINK-38614)", "packed", 108},
	{"forget-window-time", "how far time has come in windows is forgotten (RisingWave 17711)", "late", 1},
	{"give-out-again", "groups that were given out are given out again at another parallelism", "sample", 291},
	{"forget-drain", "that a source was drained is forgotten, and others read on (FLINK-21453)", "exec.TestTaskDataComesBack", 0},
	{"forget-timers", "what is due at a time is forgotten (FLINK-19300)", "session", 0},
	{"end-uncommitted", "what a run without a checkpoint has written does not become visible (FLINK-38614)", "copy", 1},
	{"commit-first-output", "of several outputs only the first is committed (Paimon 9236)", "fan", 0},
	{"forget-undo", "state that changes while it is written is written as it is then (Kafka Streams 9891)", "keyed", 8},
	{"delta-of-newest", "a delta leaves out what changed before younger checkpoints (FLINK-26985)", "keyed", 18},
	{"nothing-put-back", "a step forward after a rollback does not bring back what that cut off", "stdlib/conn.TestOutputsRolledBack", 0},
	{"aside-unflushed", "what a rollback cuts off is not flushed where it is set aside", "copy", 17},
	{"drop-named", "checkpoints with names go like others", "checkpoint.TestRecovery", 0},
	{"step-back", "damage is taken for what a crash has torn: the job goes on from an older checkpoint (FLINK-22502)", "checkpoint.TestFlip", 0},
	{"own-foreign", "a fork that is killed before its first checkpoint goes on with the outputs of the other job", "exec/sim.TestForks", 0},
	{"keep-foreign", "the checkpoint that a fork began with stays, though its outputs are another job's", "exec/sim.TestForks", 0},
	{"fork-unrooted", "the folder of a fork that was killed while it was made is not made durable", "exec/sim.TestEveryOperationOfAFork", 0},
	{"copy-at-end", "a copy that was broken off amid a hidden file is begun again behind its pieces", "exec/sim.TestHiddenFiles", 0},
	{"undo-first-output", "of several outputs only the first is taken back", "exec/sim.TestHiddenFiles", 0},
	{"pack-first-only", "of several packed files only the first is ended with a checkpoint", "packed parts", 2},
	{"flush-few", "of many files only the first ones are flushed", "many parts", 0},
	{"forget-count", "limit counts anew", "limit", 63},
	{"own-everything", "every task takes over the state of all keys (FLINK-25920)", "random", 0},
}

// TestMutants switches one fault on after another, each in a process of its own, and tells stories until one fails: if none
// does, the stories prove nothing about that fault. It prints the table of docs/checkpoints-proof.md.
func TestMutants(t *testing.T) {
	if *onlyMutant != "" {
		hunt(t, mutants[slices.IndexFunc(mutants, func(m mutant) bool { return m.name == *onlyMutant })])
		return
	}
	from := time.Now()
	lines := make([]string, len(mutants))
	var next, killed atomic.Int64
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
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
				if *part >= 0 && i%3 != *part {
					continue
				}
				stories, story, by := hunted(m)
				if strings.HasPrefix(by, "survives") {
					t.Errorf("%s %s %s stories", m.name, by, stories)
				} else {
					killed.Add(1)
				}
				lines[i] = fmt.Sprintf("| %s | %s | %s | %s | %s |\n", m.name, m.breaks, stories, story, by)
			}
		})
	}
	wg.Wait()
	fmt.Printf("| fault | what it breaks | stories | job and seed | noticed by |\n|---|---|---|---|---|\n%s\n%d faults are noticed, in %.0f s\n", strings.Join(lines, ""), killed.Load(), time.Since(from).Seconds())
}

// patience is how much time of a processor one story may take before it is said not to end.
const patience = 20 * time.Second

// hunted runs a process for a fault.
func hunted(m mutant) (stories, story, by string) {
	if at := strings.LastIndex(m.job, "."); at >= 0 {
		return directed(m, m.job[:at], m.job[at+1:])
	}
	c := exec.Command(os.Args[0], "-test.run", "TestMutants$", "-test.timeout", "20m", "-mutant", m.name, "-stories", strconv.Itoa(*mutantStories))
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, _ := c.CombinedOutput()
	if m := resultLine.FindStringSubmatch(string(out)); m != nil {
		return m[1], m[2], m[3]
	}
	return "-", "-", "survives: its process broke"
}

// directed runs a test of another package under a fault: it must fail, in order.
func directed(m mutant, pkg, test string) (stories, story, by string) {
	c := exec.Command("go", "test", "-tags", "mutants", "-count=1", "-timeout", "5m", "-run", "^"+test+"$", "../../"+pkg)
	c.Env = append(os.Environ(), "EBB_FAULT="+m.name)
	out, err := c.CombinedOutput()
	if err != nil && strings.Contains(string(out), "--- FAIL: "+test) {
		return "–", "–", test
	}
	return "-", "-", "survives " + test
}

var resultLine = regexp.MustCompile(`(?m)^RESULT (\d+) \((.*?)\) (.*)$`)

// slow are jobs whose stories take long.
var slow = map[string]bool{"calls": true, "hopping": true, "keyed": true, "changes": true, "cumulate": true, "counted": true, "two levels": true}

// hunt tells stories until one fails: the one that is known to, then others of its job, or of all jobs.
func hunt(t *testing.T, m mutant) {
	told, last := 0, ""
	z := sizeOf()
	z.forks, z.hidden = 0, 0 // as the stories of the list were told
	tell := func(j job, seed uint64) bool {
		told++
		last = fmt.Sprintf("%s %d", j.name, seed)
		if _, err := peaceOf(j); err != nil {
			t.Fatal(err)
		}
		fault.Name = m.name
		end := watchdog(func() {
			fmt.Printf("RESULT %d (%s) it does not end\n", told, last)
			os.Exit(1)
		})
		_, err := story(j, seed, z)
		end()
		fault.Name = ""
		if err != nil {
			fmt.Printf("RESULT %d (%s) %s\n", told, last, caughtBy(err))
			t.Log(err)
		}
		return err != nil
	}
	if m.job != "" && tell(named(m.job, m.seed), m.seed) {
		return
	}
	for seed := uint64(0); told < *mutantStories; seed++ {
		j := jobOf(seed)
		if m.job != "" {
			j = named(m.job, seed)
		} else if slow[j.name] {
			continue
		}
		if tell(j, seed) {
			return
		}
	}
	fmt.Printf("RESULT %d (%s) survives (reached %d times)\n", told, last, fault.Hits.Load())
}

// watchdog calls late unless end is called before the process has used up its patience.
func watchdog(late func()) (end func()) {
	from, over := used(), make(chan struct{})
	go func() {
		for used()-from < patience {
			select {
			case <-over:
				return
			case <-time.After(time.Second):
			}
		}
		late()
	}()
	return func() { close(over) }
}

// used is the time of processors that the process has used.
func used() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
