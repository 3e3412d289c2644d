package check

// exprCodes says in one line what the codes of expressions mean, for the documentation.
var exprCodes = map[string]string{
	"P100": "a malformed expression",

	"N150": "an unknown column",
	"N151": "an unknown function",
	"N152": "an unknown field of a record",
	"N153": "a method call: values have no methods",
	"N154": "`$env`, which this language does not have",
	"N155": "an aggregate where none may be called",
	"N156": "a column that is neither aggregated nor a key",
	"N157": "a column where only constants may stand",
	"N158": "a `let` whose name is taken",
	"N159": "a function used as a value, or a value called",
	"N160": "event_time() of rows without an event time",
	"N161": "a function that calls itself",
	"N162": "an aggregate inside of an aggregate",
	"N163": "a function that cannot be used on the elements of a list",
	"N164": "an unknown, doubled or misplaced named argument",

	"T201": "a value of another type than the operator, condition, list or statement takes",
	"T202": "a value that may be null where none may be",
	"T222": "arguments that a function does not take",
	"X303": "a constant that divides by zero",
	"X304": "a malformed regular expression",
	"X307": "a `not` that binds tighter than was meant",
	"X308": "a record whose braces are read as those of a closure",
	"T225": "an expression whose type cannot be known",
	"T226": "a member or an index of a value that has none",
	"T227": "an argument that must be constant, but is not",
	"T228": "a constant expression that fails",
	"T229": "an expression that is too large or nested too deeply",
	"T230": "a field that stands twice, or has no constant name",
}
