//go:build !mutants

// Package fault is how the tests of checkpoints prove that they would notice a fault: in a build with the tag "mutants"
// one of the faults that are written into the engine can be switched on, and the tests must fail. In every other build
// On is a constant, and the compiler leaves the faults out.
package fault

// On reports whether a fault is switched on: never.
func On(string) bool { return false }
