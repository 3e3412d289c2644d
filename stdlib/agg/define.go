// Package agg defines the aggregate functions of the language, one a file. It knows groups of rows, and neither windows
// nor keys nor plans: those are for the stage that asks.
package agg

import (
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var all []*spec.Agg

// define adds a definition to the package's list.
func define(a spec.Agg) bool {
	a.AggSig.Name = a.Doc.Name
	all = append(all, &a)
	return true
}

// All returns the definitions.
func All() []*spec.Agg { return all }

// Kinds that aggregates take.
var (
	ordered = []types.Kind{types.Bool, types.Int, types.Float, types.String, types.Bytes, types.Time, types.Duration}
	summed  = []types.Kind{types.Int, types.Float, types.Duration}
	floats  = []types.Kind{types.Float}
	bools   = []types.Kind{types.Bool}
	ints    = []types.Kind{types.Int}
)

// sameType is the Result of an aggregate that gives a value of its first argument.
func sameType(args []*types.Expr) (types.Type, error) { return args[0].Type, nil }

// always returns a Result of a type whatever the arguments are.
func always(t types.Type) func([]*types.Expr) (types.Type, error) {
	return func([]*types.Expr) (types.Type, error) { return t, nil }
}
