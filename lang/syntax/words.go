package syntax

import "slices"

// Statements are the words that start a statement.
var Statements = []string{"use", "param", "let", "fn", "pipe", "source", "sink", "stream", "set", "test"}

// Labels are the words that open a clause of a stage.
var Labels = []string{"by", "per", "on", "as", "within", "window", "emit", "late", "retain", "keep", "rows", "into", "on_error"}

// InnerWords are the words with a meaning inside of clauses, blocks and sources.
var InnerWords = []string{"desc", "asc", "every", "allow", "final", "changes", "ties", "times", "for", "then", "next", "when", "lag", "idle",
	"schema", "time", "key"}

// inputWords open a clause of a source.
var inputWords = []string{"schema", "time", "lag", "idle", "key", "on_error"}

// OtherWords are words of other languages and what is written here.
var OtherWords = map[string]string{
	"null": "`nil`", "none": "`nil`", "undefined": "`nil`", "true": "`true`", "false": "`false`", "and": "`and`", "or": "`or`", "not": "`not`", "in": "`in`",
	"is": "`x == nil` or `x != nil`", "like": "`contains`, `startsWith`, `endsWith` or `matches`", "ilike": "`lower(x) contains …` or `x matches \"(?i)…\"`",
	"between": "`x >= a and x <= b`", "case": "`condition ? a : b`", "<>": "`!=`", "interval": "`1d`, `5m` or `1h30m`",
	"window_start": "`window.start`", "window_end": "`window.end`", "_time": "`event_time()`", "current_timestamp": "`now()`",
}

// form says how the arguments of a stage are written.
type form uint8

const (
	formItems   form = iota // comma-separated items
	formOpt                 // the same, but there may be none
	formTarget              // into, tee
	formJoin                // join: a stream or a connector call
	formUnion               // union: several of them
	formSplit               // split { … }
	formPattern             // pattern … { … }
	formCall                // NAME(…), a pipe
)

// stageForm is what the grammar knows of a stage.
type stageForm struct {
	form    form
	max     int  // most items, 0 for any number
	unnamed bool // items are plain expressions, `NAME = EXPR` is a mistake
	sorts   bool // items of `by` may carry asc or desc
	example string
}

var joinForm = stageForm{form: formJoin, max: 1, unnamed: true, example: "join other as o on id == o.id"}

// stageForms lists the stages whose arguments the grammar knows. Other names parse as formOpt.
var stageForms = map[string]stageForm{
	"where":     {max: 1, unnamed: true, example: "where amount > 0"},
	"derive":    {example: "derive total = price * amount"},
	"select":    {example: "select id, total = price * amount"},
	"drop":      {unnamed: true, example: "drop id, name"},
	"rename":    {example: "rename new_name = old_name"},
	"aggregate": {form: formOpt, example: "aggregate n = count() by customer"},
	"join":      joinForm,
	"left join": joinForm, "full join": joinForm, "semi join": joinForm, "anti join": joinForm, "right join": joinForm,
	"dedup":   {form: formOpt, max: 1, example: "dedup by id within 1h"},
	"top":     {max: 1, unnamed: true, sorts: true, example: "top 10 by price desc"},
	"union":   {form: formUnion, unnamed: true, example: "union other, third"},
	"unnest":  {max: 1, unnamed: true, example: "unnest tags as tag"},
	"split":   {form: formSplit, example: "split { when amount > 100 => large else => small }"},
	"pattern": {form: formPattern, example: "pattern by user within 5m { a = kind == \"x\" then b = kind == \"y\" }"},
	"limit":   {max: 1, unnamed: true, example: "limit 10"},
	"sample":  {max: 1, unnamed: true, example: "sample 0.1"},
	"sort":    {form: formOpt, sorts: true, example: "sort by amount desc"},
	"assert":  {max: 1, unnamed: true, example: "assert amount >= 0"},
	"tee":     {form: formTarget, example: "tee jsonl(\"copy.jsonl\")"},
	"into":    {form: formTarget, example: "into jsonl(\"out.jsonl\")"},
}

// stageWords are the first words of stageForms, for did-you-mean.
var stageWords = []string{"where", "derive", "select", "drop", "rename", "aggregate", "join", "dedup", "top", "union", "unnest", "split",
	"pattern", "limit", "sample", "sort", "assert", "tee", "into"}

// joinKinds stand before `join`. The checker refuses right.
var joinKinds = []string{"left", "full", "semi", "anti", "right"}

// joinWords is how many words the name of a join takes: `left join` two, SQL's `left outer join`, which the checker refuses,
// three; 1 if it is no join. The function gives the word i places after the first.
func joinWords(word func(int) string) int {
	if word(1) == "join" {
		return 2
	}
	if w := word(1); (w == "outer" || w == "inner") && word(2) == "join" {
		return 3
	}
	return 1
}

// statementSynonyms are other languages' words for our statements.
var statementSynonyms = map[string]string{"func": "fn", "function": "fn", "def": "fn", "fun": "fn", "const": "let", "var": "let", "val": "let",
	"view": "stream", "table": "source", "import": "use", "include": "use", "input": "source", "output": "sink", "macro": "pipe", "define": "let"}

func isStatement(s string) bool { return slices.Contains(Statements, s) }
func isLabel(s string) bool     { return slices.Contains(Labels, s) }
func isStageWord(s string) bool { return slices.Contains(stageWords, s) }

// isBinaryWord reports whether a word is a binary operator of expr.
func isBinaryWord(s string) bool {
	switch s {
	case "and", "or", "in", "matches", "contains", "startsWith", "endsWith":
		return true
	}
	return false
}

// isReserved reports whether expr reserves a word, so that it can be no name.
func isReserved(s string) bool {
	switch s {
	case "not", "if", "else", "let", "true", "false", "nil":
		return true
	}
	return isBinaryWord(s)
}
