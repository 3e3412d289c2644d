// Package fn holds the scalar functions of the language, one file each: signature, documentation, tested examples and
// kernel. It knows no plan and no script; the files share adapters (adapt.go, lists.go) and time zones (calendar.go).
package fn

import (
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var all []*spec.Func

// define adds a definition to All; a file calls it once.
func define(f spec.Func) bool {
	all = append(all, &f)
	return true
}

// parses says of a signature that its text may not be what it is taken for; a constant one shows what it is at once.
func parses(s types.Sig) types.Sig {
	s.Fails = func(args []*types.Expr) bool {
		return slices.ContainsFunc(args, func(a *types.Expr) bool { return a.Op != types.OpConst })
	}
	return s
}

// rare says of a signature that there may be rows for which it fails, though hardly ever; see types.Sig.
func rare(s types.Sig) types.Sig {
	s.Rare = true
	return s
}

// All returns the definitions of the package, in no order.
func All() []*spec.Func { return all }

// The types that signatures are made of.
var (
	boolT     = types.T(types.Bool)
	intT      = types.T(types.Int)
	floatT    = types.T(types.Float)
	stringT   = types.T(types.String)
	bytesT    = types.T(types.Bytes)
	timeT     = types.T(types.Time)
	durationT = types.T(types.Duration)
	anyT      = types.T(types.Any)
	valueT    = types.Type{}               // a parameter that takes any value
	listT     = types.ListOf(types.Type{}) // a parameter that takes any list
	stringsT  = types.ListOf(stringT)
)

// sig is the signature of a strict function.
func sig(result types.Type, params ...types.Type) types.Sig {
	return types.Sig{Params: params, Result: result}
}

// sameList is the Infer of a function that gives a list like its first argument.
func sameList(args []*types.Expr) (types.Type, error) { return args[0].Type.NotNull(), nil }

// element is the Infer of a function that gives an element of its first argument, or null.
func element(args []*types.Expr) (types.Type, error) { return args[0].Type.Elem.Null(), nil }
