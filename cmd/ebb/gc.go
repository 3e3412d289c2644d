package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/ebb-lang/ebb/checkpoint"
)

const (
	leastHeap = 4 << 20 // the runtime counts from at least this
	// firstHeap is how large the heap grows before the collector runs for the first time: few commands come that far that are no jobs.
	firstHeap = 8 << 20
	// garbage is how much garbage may pile up before the collector runs, if the live heap is smaller: it should stay in the
	// processor's cache, and fresh memory costs more than to collect a heap that keeps little.
	garbage = 32 << 20
	// largeHeap is how much of the heap lies in large pages, as far as the system has some.
	largeHeap = 48 << 20
)

// limitGarbage lets the heap grow to about twice what lives, or by 32 MiB, whichever is more, unless GOGC is set.
// State lies mostly outside the collector's sight, so that its own pace would be far too quick for a job, and the commands that look
// at scripts keep little and are done soon.
func limitGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(firstHeap / leastHeap * 100)
	paced(func(uint64) {
		debug.SetGCPercent(-1)
		checkpoint.Memory[byte](largeHeap) // garbage at once: what the heap grows by next takes its place
		paced(pace)
		runtime.GC()
	})
}

// pace sets the collector's pace for a live heap, anew after each collection.
func pace(live uint64) {
	debug.SetGCPercent(int(max(100, garbage*100/live)))
	paced(pace)
}

type cycle struct{ _ [16]byte }

// paced calls f with the size of the live heap after the next collection: a finalizer of a dead object runs once a cycle.
func paced(f func(live uint64)) {
	runtime.SetFinalizer(&cycle{}, func(*cycle) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		f(max(sample[0].Value.Uint64(), leastHeap))
	})
}
