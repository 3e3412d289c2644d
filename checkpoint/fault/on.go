//go:build mutants

// Package fault switches faults of the engine on, to prove that the tests notice them.
package fault

import (
	"os"
	"sync/atomic"
)

// Name is the fault that is on; "" for none. It is set while nothing runs. For tests that know nothing of faults the
// environment says it.
var Name = os.Getenv("EBB_FAULT")

// Hits counts how often the fault was reached while it was on.
var Hits atomic.Int64

// On reports whether a fault is switched on.
func On(name string) bool {
	if Name != name {
		return false
	}
	Hits.Add(1)
	return true
}
