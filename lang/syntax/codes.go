package syntax

// Code is the code of a syntax error.
type Code string

// The codes of syntax errors. Codes says what each means.
const (
	P001 Code = "P001"
	P003 Code = "P003"
	P004 Code = "P004"
	P005 Code = "P005"
	P006 Code = "P006"
	P007 Code = "P007"
	P008 Code = "P008"
	P009 Code = "P009"
	P010 Code = "P010"
	P011 Code = "P011"
	P012 Code = "P012"
	P013 Code = "P013"
	P014 Code = "P014"

	P020 Code = "P020"
	P021 Code = "P021"
	P022 Code = "P022"
	P023 Code = "P023"

	P030 Code = "P030"
	P031 Code = "P031"
	P032 Code = "P032"
	P033 Code = "P033"
	P034 Code = "P034"
	P036 Code = "P036"
	P037 Code = "P037"
	P038 Code = "P038"
	P039 Code = "P039"
	P040 Code = "P040"
	P041 Code = "P041"
	P042 Code = "P042"
	P043 Code = "P043"

	P050 Code = "P050"
	P051 Code = "P051"
	P052 Code = "P052"
	P053 Code = "P053"
	P054 Code = "P054"
	P055 Code = "P055"
	P056 Code = "P056"
	P057 Code = "P057"
	P058 Code = "P058"
	P059 Code = "P059"

	P060 Code = "P060"
	P061 Code = "P061"
	P062 Code = "P062"
	P063 Code = "P063"
	P064 Code = "P064"
	P065 Code = "P065"

	P070 Code = "P070"
	P071 Code = "P071"
	P072 Code = "P072"
	P073 Code = "P073"
	P074 Code = "P074"

	P099 Code = "P099"
)

// Codes says in one line what each code means, for the documentation.
var Codes = map[Code]string{
	P001: "a single `|` where `|>` separates stages",
	P003: "a statement that begins in the middle of a line, or other text after a complete one",
	P004: "a NUL byte",
	P005: "a string that is never closed",
	P006: "a comment that is never closed",
	P007: "an unknown or incomplete escape in a string",
	P008: "a malformed number",
	P009: "a malformed duration",
	P010: "a malformed time",
	P011: "an `@` that starts neither a time nor a quoted name",
	P012: "a `;`: statements end with their line",
	P013: "a character that means nothing",
	P014: "a byte that is not UTF-8",

	P020: "a bracket that is never closed",
	P021: "a closing bracket without an opening one",
	P022: "a closing bracket that does not fit the opening one",
	P023: "brackets nested deeper than 200",

	P030: "an unknown statement",
	P031: "a missing name",
	P032: "a missing `=`",
	P033: "a missing expression",
	P034: "a missing or malformed type",
	P036: "a missing bracket of a list",
	P037: "a line at the margin that no statement starts with",
	P038: "a statement that does not start at the left margin",
	P039: "a definition without its keyword",
	P040: "a missing string",
	P041: "stages after a statement that takes none",
	P042: "an unknown, doubled or malformed clause of a source or sink",
	P043: "a list with too many elements",

	P050: "a missing `|>` before a stage",
	P051: "an empty stage",
	P052: "a `|>` at the end",
	P053: "a pipeline without a head",
	P054: "a stage without a name",
	P055: "a missing comma or operator",
	P056: "a stage without its arguments",
	P057: "an operator without its operand",
	P058: "`=` where a comparison or a name is wanted",
	P059: "text after a complete stage",

	P060: "a clause given twice",
	P061: "a clause without its operand",
	P062: "an unknown word in a clause",
	P063: "an unknown clause",
	P064: "a malformed operand of a clause",
	P065: "an order word where nothing is sorted",

	P070: "a malformed case of `split`",
	P071: "a malformed step of `pattern`",
	P072: "a malformed step of a test",
	P073: "a missing or misplaced block",
	P074: "a missing target of `into` or `tee`",

	P099: "too many errors",
}
