package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// garbage is how much garbage may pile up before the collector runs, if the live heap is smaller.
const garbage = 128 << 20

// limitGarbage lets the heap grow to about twice what lives, or by 128 MiB, whichever is more, unless GOGC is set.
// State lies mostly outside the collector's sight, so that its own pace would be far too quick for a job, and the commands that look
// at scripts keep little and are done soon.
func limitGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(garbage / (4 << 20) * 100) // the runtime counts from at least 4 MiB
	rearm()
}

type cycle struct{ _ [16]byte }

// rearm sets the pace anew after each collection: a finalizer of a dead object runs once a cycle.
func rearm() {
	runtime.SetFinalizer(&cycle{}, func(*cycle) {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		live := max(sample[0].Value.Uint64(), 4<<20)
		debug.SetGCPercent(int(max(100, garbage*100/live)))
		rearm()
	})
}
