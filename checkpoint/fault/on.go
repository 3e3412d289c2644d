//go:build mutants

// Package fault switches faults of the engine on, to prove that the tests notice them.
package fault

// Name is the fault that is on; "" for none. It is set while nothing runs.
var Name string

// Hits counts how often the fault was asked for while it was on: one that is never reached proves nothing.
var Hits int

// On reports whether a fault is switched on.
func On(name string) bool {
	if Name != name {
		return false
	}
	Hits++
	return true
}
