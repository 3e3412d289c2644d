package check

import "maps"

// Codes says in one line what the code of each diagnostic of this package means, for the documentation.
var Codes = func() map[string]string {
	all := maps.Clone(statementCodes)
	maps.Copy(all, exprCodes)
	maps.Copy(all, definitionCodes)
	return all
}()

var statementCodes = map[string]string{
	"N100": "an unknown stream or source",
	"N106": "a name that is defined twice",
	"N107": "a name that belongs to the language",
	"N108": "a name that stands for something else than is wanted",
	"N109": "a field or parameter that stands twice",
	"N110": "streams that read each other in a circle",
	"N111": "definitions that refer to too many later ones",
	"N112": "constants that depend on each other in a circle",
	"N120": "an unknown connector",
	"N121": "an unknown option of a connector",
	"N130": "an unknown setting",
	"N131": "a setting that is made twice",

	"T231": "a constant that is too small or too large",
	"T232": "an argument of a pipe that must be constant, but is not",
	"T233": "an order by values that have none",
	"T206": "a column without a type",
	"T210": "an unknown type",
	"T211": "a format where none can be, or that is none",
	"T240": "rows with other columns than the stream that they go into",

	"P002": "an unknown stage",
	"C302": "a stage or clause that this version does not have yet",
	"C303": "a clause that the stage does not take",
	"C304": "a clause that the stage needs",
	"C306": "an argument that the stage does not take, or needs",
	"C307": "a stage with its arguments in parentheses",
	"C308": "a pipe without parentheses",
	"C310": "a stage behind the end of the pipeline",
	"C311": "a stream without rows at its end",
	"C312": "pipes that call each other in a circle",
	"C313": "pipes that bring too many stages",
	"C314": "an argument that a pipe does not take, or needs",
	"N105": "two columns of one name",
	"C321": "an expression that needs a name",
	"C322": "an expression where the name of a column is wanted",
	"C330": "a stage that cannot be used this way",
	"C340": "a connector that cannot be read, or cannot be written",
	"C341": "an argument of a connector without its name",
	"C342": "an option that is given twice",
	"C343": "an option that a connector needs",
	"C344": "an empty schema",
	"C345": "a connector that cannot be used this way",
	"C350": "steps of a test that do not go together",
	"C351": "a value that a step of a test does not take",
	"T205": "rows that do not fit the schema of the sink",

	"W421": "an unknown window",
	"W401": "a window over rows without an event time",
	"W422": "arguments that a window does not take, or needs",
	"W423": "sizes of a window that do not go together",
	"W424": "an empty interval",
	"W408": "an updating stream that goes into a sink which cannot take it",
	"O904": "two outputs in one place, or two readers of standard input",

	"U501": "a file that cannot be read",
	"U502": "files that use each other in a circle",
	"U510": "`--set` of a param that does not exist",
	"U511": "`--set` with a value of the wrong type",
	"U512": "a param without a value",

	"I601": "an input that cannot be opened: the run fails, the script may be right",
}

// definitionCodes are those that definitions of stages use for what they know themselves.
var definitionCodes = map[string]string{
	"C331": "a stage that leaves no column",
	"C332": "streams with different columns in a `union`",
	"W425": "a clause that goes with a window",
	"W426": "a clause that a window makes idle",
	"W410": "a stage that cannot take an updating stream",
	"W411": "a window that a stage does not take",
	"W412": "a stage that needs an end of the input, or a window",
}
