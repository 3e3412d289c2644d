//go:build mutants

package sim_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

var (
	someMutants   = flag.String("mutants", "", "switch only these on")
	mutantStories = flag.Int("stories", 200, "stories to be told of a fault until it is said to survive")
	afresh        = flag.Bool("afresh", false, "hunt from seed 0 on, whatever story is known to notice a fault")
	updateTable   = flag.Bool("update", false, "write what the hunt has found into the table of "+tableFile)
	hunting       = flag.Bool("hunting", false, "be a process that hunts faults that are named on standard input")
)

// tableFile has a table of what noticed each fault. The story that is named there is told first.
const tableFile = "../../docs/checkpoints-proof.md"

// noticed is a line of the table.
type noticed struct {
	stories string // how many were told, from seed 0 on, until one failed
	story   string // job and seed
	by      string // what noticed the fault
	took    string // seconds of a processor
}

// none stands in the table where a test is written for the scene.
const none = "–"

var tableLine = regexp.MustCompile(`(?m)^\| ([a-z0-9-]+) \| (.*) \| (.*) \| (.*) \| (.*) \|$`)

// TestMutants switches one fault on after another and tells stories until one fails: if none does, the stories prove nothing
// about that fault. It prints the table of docs/checkpoints-proof.md.
func TestMutants(t *testing.T) {
	if *hunting {
		hunter(t)
		return
	}
	from := time.Now()
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]noticed{}
	for _, m := range tableLine.FindAllStringSubmatch(string(text), -1) {
		known[m[1]] = noticed{m[3], m[4], m[5], ""}
	}
	found := hunt(t, known)
	table := func(of map[string]noticed) string {
		var b strings.Builder
		for _, m := range mutants {
			if n, ok := of[m.name]; ok {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", m.name, m.breaks, n.stories, n.story, n.by)
			}
		}
		return b.String()
	}
	fmt.Printf("| fault | what it breaks | stories | job and seed | noticed by |\n|---|---|---|---|---|\n%s\n%d faults are noticed, in %.0f s\n", table(found), len(found), time.Since(from).Seconds())
	if *updateTable {
		maps.Copy(known, found)
		at := tableLine.FindAllStringIndex(string(text), -1) // the first is the head of the table
		next := string(text[:at[1][0]]) + table(known) + string(text[at[len(at)-1][1]+1:])
		if err := os.WriteFile(tableFile, []byte(next), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// hunt hunts all faults, in as many processes as there are processors.
func hunt(t *testing.T, known map[string]noticed) map[string]noticed {
	var some []mutant
	for _, m := range mutants {
		if *someMutants == "" || strings.Contains(","+*someMutants+",", ","+m.name+",") {
			some = append(some, m)
		}
	}
	tests := build(t.TempDir(), some)
	todo := make(chan mutant, len(some))
	for _, written := range []bool{false, true} { // these wait for the build
		for _, m := range some {
			if _, _, ok := m.written(); ok == written {
				todo <- m
			}
		}
	}
	close(todo)
	found := map[string]noticed{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			var p process
			defer p.end()
			for m := range todo {
				var n noticed
				var err error
				if _, _, ok := m.written(); ok {
					n, err = tests.run(m)
				} else {
					n, err = p.hunt(m, known[m.name])
				}
				t.Logf("%s: %s, %s %s, %s s of a processor", m.name, n.stories, n.story, n.by, n.took)
				mu.Lock()
				if err != nil {
					t.Errorf("%s survives: %v", m.name, err)
				} else {
					found[m.name] = n
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return found
}

// process hunts faults, one after another: the outputs of a job in peace are made once. It is started when it is needed,
// and again after a story that does not end.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// hunt has a fault hunted. was is what noticed it when the table was written.
func (p *process) hunt(m mutant, was noticed) (noticed, error) {
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return noticed{}, err
		}
	}
	known := was.story
	if job, _, _ := cutLast(known, " "); *afresh || m.by != "" && m.by != job {
		known = none
	}
	if _, err := fmt.Fprintf(p.in, "%s %s\n", m.name, known); err != nil {
		return noticed{}, err
	}
	for p.out.Scan() {
		if m := resultLine.FindStringSubmatch(p.out.Text()); m != nil {
			n := noticed{m[1], m[2], m[3], m[4]}
			if n.by == endless {
				p.end()
			}
			if strings.HasPrefix(n.by, survived) {
				return n, fmt.Errorf("%s stories, %s", n.stories, n.by)
			}
			if n.stories == "0" {
				n.stories = was.stories
			}
			return n, nil
		}
	}
	p.end()
	return noticed{}, errors.New("the process that told its stories broke")
}

func (p *process) start() (err error) {
	c := exec.Command(os.Args[0], "-test.run", "TestMutants$", "-test.timeout", "20m", "-hunting", "-stories", strconv.Itoa(*mutantStories))
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	if p.in, err = c.StdinPipe(); err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	p.cmd, p.out = c, bufio.NewScanner(out)
	return c.Start()
}

// end ends the process, if there is one.
func (p *process) end() {
	if p.cmd != nil {
		p.in.Close()
		for p.out.Scan() {
		}
		p.cmd.Wait() // that it failed has been said
		p.cmd = nil
	}
}

// written returns the package and the name of the test that is written for the scene of a fault, if one is.
func (m mutant) written() (pkg, test string, ok bool) { return cutLast(m.by, ".") }

// binaries are the test binaries of packages with tests that are written for the scenes of faults.
type binaries struct {
	dir   string
	ready chan struct{}
	err   error
}

// build begins to build them.
func build(dir string, mutants []mutant) *binaries {
	b := &binaries{dir: dir, ready: make(chan struct{})}
	args := []string{"test", "-c", "-tags", "mutants", "-o", dir + "/"}
	for _, m := range mutants {
		if pkg, _, ok := m.written(); ok && !slices.Contains(args, "../../"+pkg) {
			args = append(args, "../../"+pkg)
		}
	}
	go func() {
		defer close(b.ready)
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			b.err = fmt.Errorf("%w\n%s", err, out)
		}
	}()
	return b
}

// run runs the test that is written for the scene of a fault under it: the test must fail, in order.
func (b *binaries) run(m mutant) (noticed, error) {
	<-b.ready
	if b.err != nil {
		return noticed{}, b.err
	}
	pkg, test, _ := m.written()
	c := exec.Command(filepath.Join(b.dir, path.Base(pkg)+".test"), "-test.timeout", "5m", "-test.failfast", "-test.run", "^"+test+"$")
	c.Dir = filepath.Join("../..", pkg)
	c.Env = append(os.Environ(), "EBB_FAULT="+m.name, "GOMAXPROCS=1")
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--- FAIL: "+test) {
		return noticed{}, fmt.Errorf("%s does not fail in order: %v\n%s", test, err, out)
	}
	return noticed{none, none, test, fmt.Sprintf("%.1f", (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())}, nil
}

// resultLine is what such a process prints of a fault: stories told, the last one, what noticed it, seconds of a processor.
var resultLine = regexp.MustCompile(`^RESULT (\d+) \((.*?)\) (.*), in (.*) s$`)

// cutLast cuts a text around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if at := strings.LastIndex(s, sep); at >= 0 {
		return s[:at], s[at+len(sep):], true
	}
	return s, "", false
}

// slow are jobs whose stories take long.
var slow = map[string]bool{"calls": true, "hopping": true, "keyed": true, "changes": true, "cumulate": true, "counted": true, "two levels": true}

// say prints what was found out about a fault.
func say(told int, story, by string, from time.Duration) {
	fmt.Printf("RESULT %d (%s) %s, in %.1f s\n", told, story, by, (used() - from).Seconds())
}

// hunter hunts the faults that are named on standard input, each with a story that is told first, and prints a line for each.
func hunter(t *testing.T) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		name, known, _ := strings.Cut(in.Text(), " ")
		m := mutants[slices.IndexFunc(mutants, func(m mutant) bool { return m.name == name })]
		fault.Hits.Store(0)
		from := used()
		if job, number, ok := cutLast(known, " "); ok {
			seed, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if tell(t, m, named(job, seed), seed, 0, from) {
				continue
			}
		}
		told := 0
		for seed := uint64(0); ; seed++ {
			if told == *mutantStories {
				say(told, none, fmt.Sprint(survived, fault.Hits.Load(), " times"), from)
				break
			}
			j := jobOf(seed)
			if m.by != "" {
				j = named(m.by, seed)
			} else if slow[j.name] {
				continue
			}
			if told++; tell(t, m, j, seed, told, from) {
				break
			}
		}
	}
}

// tell tells a story under a fault, the one that is told-th from seed 0 on, and says what noticed it.
func tell(t *testing.T, m mutant, j job, seed uint64, told int, from time.Duration) (noticed bool) {
	if _, err := peaceOf(j); err != nil {
		t.Fatal(err)
	}
	last := fmt.Sprintf("%s %d", j.name, seed)
	fault.Name = m.name
	end := watchdog(func() {
		say(told, last, endless, from)
		os.Exit(1)
	})
	_, err := story(j, seed, sizeOf())
	end()
	fault.Name = ""
	if err != nil {
		say(told, last, caughtBy(err), from)
	}
	return err != nil
}

// patience is how much time of a processor one story may take before it is said not to end.
const patience = 20 * time.Second

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

// survived is said of a fault that no story noticed.
const survived = "reached "

// endless is said of a story that does not end.
const endless = "it does not end"

var invariant = regexp.MustCompile(`\bI\d+:`)

// caughtBy tells what noticed a fault.
func caughtBy(err error) string {
	text := err.Error()
	switch {
	case invariant.MatchString(text):
		return strings.TrimSuffix(invariant.FindString(text), ":")
	case strings.Contains(text, "wait for each other"), strings.Contains(text, "no end after"), strings.Contains(text, "come to its end"):
		return endless
	case strings.Contains(text, "panic"):
		return "panic"
	case strings.Contains(text, "going on from checkpoint") && strings.Contains(text, "output"):
		return "outputs, from a kept checkpoint"
	case strings.Contains(text, "output "):
		return "outputs"
	}
	return "an error of the engine"
}
