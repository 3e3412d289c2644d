package fn

import (
	"errors"

	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "div", Group: "math", Signature: "div(a: int, b: int) -> int",
		Text:     "The quotient of two ints, cut toward zero; by zero it is a row error. `/` gives a float.",
		Examples: []spec.Example{{Code: "div(7, 2)", Want: "3"}, {Code: "div(-7, 2)", Want: "-3"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{intT, intT}, Result: intT, Fails: types.ByZero}, Kernel: try2(func(a, b int64) (int64, error) {
		if b == 0 {
			return 0, errZeroDiv
		}
		return a / b, nil
	})}},
})

var errZeroDiv = errors.New("integer division by zero in `div`")
