package fn

import (
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "min", Group: "math", Signature: "min(a: T, b: T, …) -> T · min(xs: [T]) -> T?",
		Text: "The smallest of several values, or of a list (null if it is empty or has a null). Ints with floats become floats. " +
			"As an aggregate see `min` there; inside of `aggregate` this one is `::min`.",
		Examples: []spec.Example{{Code: "min(1, 3, 2)", Want: "1"}, {Code: "min([1.5, 0.5])", Want: "0.5"}, {Code: "min(5m, 30s)", Want: "30s"}}},
	Overloads: extremes(false),
})
