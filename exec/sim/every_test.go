package sim_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestEveryOperation lets small jobs crash before each of the calls to the disk that change something, one after another, in
// a life with checkpoints and a rollback while it runs, and then before each of those of the restart that follows: what comes
// to its end then has the outputs of a run in peace. Nothing is left to chance but what a loss of power leaves.
func TestEveryOperation(t *testing.T) {
	for _, name := range []string{"small", "small parts", "small log", "small packed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := smallJob(name)
			peace, err := peaceOf(j)
			if err != nil {
				t.Fatal(err)
			}
			life0 := life{seed: 5, width: 2, mode: "unaligned", interval: 15_000, open: 2, rows: 16, back: 80}
			if name == "small packed" { // and copied in pieces
				life0.hidden = 16
			}
			whole, err := newWorld(j, 1)
			if err == nil {
				whole.examined = true
				_, err = whole.run(life0)
			}
			if err != nil || whole.count.undone == 0 || whole.count.taken < 4 {
				t.Fatalf("the life that is to crash is not what was meant: %+v, %v", whole.count, err)
			}
			ends := 0
			for k := 1; ; k++ {
				if k%apart(18) > 0 {
					continue
				}
				over := false
				for loss := range 3 { // killed; twice the power fails
					w, err := newWorld(j, uint64(k*3+loss))
					if err != nil {
						t.Fatal(err)
					}
					w.examined = true
					l := life0
					l.crashAt, l.kill = k, loss == 0
					if _, err := w.run(l); err != nil {
						t.Fatalf("crash before operation %d, loss %d: %v", k, loss, err)
					}
					if w.count.crashes == 0 {
						over = true
						break
					}
					ends++
					if err := w.restarted(j, peace, k*3+loss); err != nil {
						t.Fatalf("crash before operation %d, loss %d: %v", k, loss, err)
					}
				}
				if over {
					t.Logf("%d operations, %d crashes", k-1, ends)
					return
				}
			}
		})
	}
}

// restarted goes on after a crash to the end: on one copy of the disk without trouble, on another one after a crash in the
// restart, at an operation that differs from call to call.
func (w *world) restarted(j job, peace map[string]string, at int) error {
	if j.appends() && w.finished() {
		return nil
	}
	for _, again := range []int{0, 1 + at%40} {
		c := *w
		c.fs = w.fs.Kill()
		c.stood, c.visible, c.outcome = maps.Clone(w.stood), maps.Clone(w.visible), maps.Clone(w.outcome)
		if again > 0 {
			if _, err := c.run(life{seed: 9, width: 1 + at%3, mode: "aligned", interval: 50_000, open: 1, rows: 40, crashAt: again, kill: at%2 == 0}); err != nil {
				return fmt.Errorf("crash before operation %d of the restart: %w", again, err)
			}
			if strings.Contains(j.script, "append: true") && c.finished() {
				continue
			}
		}
		done, err := c.run(life{seed: 10, width: 1 + at%2, mode: "auto", interval: 80_000, open: 1, rows: 40})
		if err == nil && !done {
			err = errors.New("it does not come to its end")
		}
		if err == nil {
			var out map[string]string
			if out, err = c.outputs(); err == nil {
				err = compare(peace, out)
			}
		}
		if err != nil {
			return fmt.Errorf("after a crash before operation %d of the restart: %w", again, err)
		}
	}
	return nil
}

// smallJob is a job of few calls.
func smallJob(name string) job {
	var in strings.Builder
	in.WriteString("n,s\n")
	for i := range 180 {
		fmt.Fprintf(&in, "%d,%s\n", i, strings.Repeat("x", 1+i%9))
	}
	j := job{name: name, ordered: true, files: map[string]string{"small.csv": in.String()}}
	switch name {
	case "small":
		j.script = `csv("small.csv") |> where n % 3 != 0 |> into csv("out.csv")`
	case "small parts":
		j.script, j.ordered = `csv("small.csv") |> select n, digit = n % 3 |> into csv("days", partition_by: digit)`, false
	case "small packed":
		j.script, j.ordered = `csv("small.csv") |> tee csv("out.csv") |> where n < 90 |> into jsonl("packed", partition_by: {digit: n % 3}, compression: "gzip")`, false
	case "small log":
		j.script = `csv("small.csv") |> where n % 3 != 0 |> tee csv("log.csv", append: true) |> aggregate n = count() by s |> into jsonl("out.jsonl")`
		j.ordered = false
	}
	return j
}

// TestEveryOperationOfAFork lets a fork crash before each of its calls to the disk, one after another, from the first one that
// makes its folder on; then it begins or goes on to its end. The other job is what it was.
func TestEveryOperationOfAFork(t *testing.T) {
	j := smallJob("small log")
	w, err := newWorld(j, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.examined = true
	if _, err := w.run(life{seed: 5, width: 2, mode: "unaligned", interval: 15_000, open: 2, rows: 16, stop: 150}); err != nil {
		t.Fatal(err)
	}
	ids := w.list()
	if len(ids) < 2 || w.finished() {
		t.Fatalf("the job is not what was meant: checkpoints %v", ids)
	}
	was, err := w.outputs()
	if err != nil {
		t.Fatal(err)
	}
	start := w.fs
	for k := 1; ; k++ {
		if k%apart(3) > 0 {
			continue
		}
		for loss := range 3 { // killed; twice the power fails
			w.fs = start.Kill()
			at := fmt.Sprintf("crash before operation %d, loss %d", k, loss)
			f, err := w.newFork(ids[len(ids)-2], 1, rand.New(rand.NewPCG(uint64(k), uint64(loss))))
			if err == nil {
				_, err = f.run(life{seed: uint64(k), width: 1 + k%3, mode: "unaligned", interval: 15_000, open: 2, rows: 16, from: f.origin, crashAt: k, kill: loss == 0})
			}
			if err == nil && f.count.crashes == 0 {
				t.Logf("%d operations", k-1)
				return
			}
			if err == nil && !f.finished() {
				l := life{seed: 10, width: 2, mode: "auto", interval: 80_000, open: 1, rows: 40}
				if !f.starts() {
					l.from = f.origin
				}
				_, err = f.run(l)
			}
			if err == nil {
				err = f.check()
			}
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			w.fs = f.fs
			now, err := w.outputs()
			if err == nil {
				err = compare(was, now)
			}
			if err != nil {
				t.Fatalf("%s: the other job: %v", at, err)
			}
		}
	}
}

// apart returns how far apart the operations are before which a test crashes that looks at each so-manieth.
func apart(usual int) int {
	switch {
	case *every:
		return 1
	case testing.Short(): // under the race detector
		return 5 * usual
	}
	return usual
}
