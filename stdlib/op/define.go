// Package op defines the stages of the language, one a file; aggregate has several. It knows the traits that the planner
// asks for, and no plan, no connector, and functions and aggregates only by what a Lib gives it.
package op

import "github.com/ebb-lang/ebb/stdlib/spec"

var all []*spec.Stage

// define adds a definition to the package's list.
func define(s spec.Stage) bool {
	s.StageSig.Name = s.Doc.Name
	all = append(all, &s)
	return true
}

// All returns the definitions.
func All() []*spec.Stage { return all }
