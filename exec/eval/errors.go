package eval

import "errors"

// What a row may do wrong, in the words that users see.
var (
	errZeroModulo    = errors.New("integer division by zero in `%`")
	errZeroDuration  = errors.New("a duration divided by zero")
	errTimeRange     = errors.New("the result is beyond what a time can hold (1677 to 2262)")
	errDurationRange = errors.New("the result is not a duration: it is not a number or beyond 292 years")
)
