package sim_test

import (
	"testing"
)

// wide are jobs whose outputs do not fit into their checkpoints, nor into the pieces in which they are held back and copied.
var wide = []job{
	{name: "wide", ordered: true, script: `generate({n: "sequence", text: "hex 4000"}, count: 500) |> into csv("out.csv")`},
	{name: "wide log", ordered: true, script: `generate({n: "sequence", text: "hex 4000"}, count: 500) |> into jsonl("out.jsonl", append: true)`},
	{name: "wide parts", script: `generate({n: "sequence", text: "hex 4000"}, count: 500) |> into csv("days", partition_by: {digit: n % 3})`},
	{name: "wide packed", script: `generate({n: "sequence", text: "hex 4000"}, count: 500) |> tee csv("out.csv.gz") |> into csv("days", partition_by: {digit: n % 3}, compression: "zstd")`},
}

// TestWideOutputs tells stories of outputs that are held back as in a run, by the 64 KiB that ride in a checkpoint.
func TestWideOutputs(t *testing.T) {
	n, wide := uint64(2), wide
	switch {
	case *seeds > 0:
		n = uint64(*seeds)
	case testing.Short():
		n, wide = 1, wide[2:]
	}
	for _, j := range wide {
		var sum tally
		for seed := range n {
			count, err := story(j, seed, size{lives: 6, width: 4, rows: 16})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", j.name, seed, err)
			}
			sum.add(count)
		}
		t.Logf("%s: %+v", j.name, sum)
		if sum.large == 0 || sum.restored == 0 {
			t.Errorf("%s: the stories do not try what they are meant to: %+v", j.name, sum)
		}
	}
}

// TestEveryCopy lets a job crash before each call that changes its output, which gets what a hidden file holds in several pieces:
// what comes to its end then has the output of a run in peace.
func TestEveryCopy(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
	j := wide[0]
	peace, err := peaceOf(j)
	if err != nil {
		t.Fatal(err)
	}
	losses := 1 // killed; the power fails, in different ways
	if *every {
		losses = 3
	}
	for loss := range losses {
		n := 0
		for k := 1; ; n++ {
			w, err := newWorld(j, uint64(k*3+loss))
			if err != nil {
				t.Fatal(err)
			}
			w.examined = true
			if _, err := w.run(life{seed: 5, width: 2, mode: "unaligned", interval: 40_000, open: 2, rows: 16, crashAt: k, crashOn: "out.csv", kill: loss == 0}); err != nil {
				t.Fatalf("crash before operation %d, loss %d: %v", k, loss, err)
			}
			if w.count.crashes == 0 {
				if n < 2*w.count.large {
					t.Errorf("only %d operations for %d hidden files: nothing is copied in pieces", n, w.count.large)
				}
				t.Logf("%d operations, %d hidden files", n, w.count.large)
				break
			}
			k = w.crashedAt + 1
			if err := w.restarted(j, peace, k*3+loss); err != nil {
				t.Fatalf("crash before operation %d, loss %d: %v", k-1, loss, err)
			}
		}
	}
}
