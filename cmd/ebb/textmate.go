package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/stdlib"
)

// rule is a rule of a TextMate grammar.
type rule struct {
	Name     string          `json:"name,omitempty"`
	Comment  string          `json:"comment,omitempty"`
	Match    string          `json:"match,omitempty"`
	Begin    string          `json:"begin,omitempty"`
	End      string          `json:"end,omitempty"`
	Captures map[string]rule `json:"captures,omitempty"`
	Patterns []rule          `json:"patterns,omitempty"`
}

// textMate is the grammar of scripts that editors colour by, in the form of TextMate. Its words are those of the grammar and
// of the catalog. It sees a line at a time, so of the soft words it knows only the places where they mostly stand; what the
// language server says of them counts.
func textMate(lib *stdlib.Catalog) ([]byte, error) {
	names := func(kinds ...string) (out []string) {
		for _, kind := range kinds {
			for _, d := range lib.Docs(kind) {
				out = append(out, d.Name)
			}
		}
		return out
	}
	stages := append(names("stage"), "left join", "full join", "semi join", "anti join", "join", "split", "pattern", "into", "tee", "union", "unnest", "top")
	escape := []rule{{Name: "constant.character.escape.ebb", Match: `\\.`}}
	grammar := struct {
		Comment   string   `json:"information_for_contributors"`
		Name      string   `json:"name"`
		ScopeName string   `json:"scopeName"`
		FileTypes []string `json:"fileTypes"`
		Patterns  []rule   `json:"patterns"`
	}{
		Comment:   "made by `make gen` from the grammar and the catalog",
		Name:      "Ebb",
		ScopeName: "source.ebb",
		FileTypes: []string{"ebb"},
		Patterns: []rule{
			{Name: "comment.line.double-slash.ebb", Match: `//.*$`},
			{Name: "comment.block.ebb", Begin: `/\*`, End: `\*/`},
			{Name: "variable.other.quoted.ebb", Match: `@"(?:[^"\\]|\\.)*"`},
			{Name: "string.quoted.double.ebb", Begin: `b?"`, End: `"|$`, Patterns: escape},
			{Name: "string.quoted.single.ebb", Begin: `b?'`, End: `'|$`, Patterns: escape},
			{Name: "string.quoted.raw.ebb", Begin: "`", End: "`"},
			{Name: "constant.other.time.ebb", Match: `@\d{4}-\d{2}-\d{2}(?:T[0-9:.]+(?:Z|[+-]\d{2}:?\d{2})?)?`},
			{Name: "constant.numeric.duration.ebb", Match: `(?<![\w.])(?:\d[\d_]*(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d|w))+\b`},
			{Name: "constant.numeric.ebb", Match: `(?<![\w])(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?|\.\d+)\b`},
			{Match: `^(use|test)(?=\s+["'` + "`])", Captures: map[string]rule{"1": {Name: "keyword.declaration.ebb"}}},
			{Match: `^(set)\s+([\w.]+)(?=\s*=)`, Captures: map[string]rule{"1": {Name: "keyword.declaration.ebb"}, "2": {Name: "entity.name.setting.ebb"}}},
			{Match: `^(` + words(without(syntax.Statements, "use", "test", "set")) + `)\s+([A-Za-z_$][\w$]*)(?=\s*[=:(])`,
				Captures: map[string]rule{"1": {Name: "keyword.declaration.ebb"}, "2": {Name: "entity.name.ebb"}}},
			{Match: `^(` + words(without(syntax.Statements, "use", "test", "set")) + `)(?=\s+@")`, Captures: map[string]rule{"1": {Name: "keyword.declaration.ebb"}}},
			{Match: `(\|>)\s*(` + words(stages) + `)\b(?!\s*\()`, Captures: map[string]rule{"1": {Name: "keyword.operator.pipe.ebb"}, "2": {Name: "keyword.control.stage.ebb"}}},
			{Match: `(\|>)\s*(?:([A-Za-z_$][\w$]*)(?=\s*\())?`, Captures: map[string]rule{"1": {Name: "keyword.operator.pipe.ebb"}, "2": {Name: "entity.name.function.pipe.ebb"}}},
			{Name: "keyword.operator.word.ebb", Match: `(?<![.\w$])(?:and|or|not|in|matches|contains|startsWith|endsWith|if|else|let)\b(?!\s*[:])`},
			{Name: "constant.language.ebb", Match: `(?<![.\w$])(?:true|false|nil)\b`},
			{Name: "support.class.connector.ebb", Match: `(?<![.\w$])(?:` + words(names("conn")) + `)(?=\()`},
			{Name: "support.function.window.ebb", Match: `(?<=\bwindow\s)(?:tumbling|hopping|cumulate|session|count)(?=\()`},
			{Name: "support.function.ebb", Match: `(?<![.\w$])(?:` + words(names("func", "agg")) + `)(?=\()`},
			{Name: "entity.name.function.ebb", Match: `(?<![.\w$])[A-Za-z_$][\w$]*(?=\()`},
			{Match: `([(,])\s*([A-Za-z_$][\w$]*)(?=:)`, Captures: map[string]rule{"1": {Name: "punctuation.separator.ebb"}, "2": {Name: "variable.parameter.option.ebb"}}},
			{Match: `(:)\s*\[?(bool|int|float|string|bytes|time|duration|any)\b(?!\s*[=.+*/<>-])`, Captures: map[string]rule{"1": {Name: "punctuation.separator.ebb"}, "2": {Name: "support.type.ebb"}}},
			{Name: "keyword.other.clause.ebb", Match: `(?<![.\w$@])(?:` + words(without(syntax.Labels, "rows", "keep")) + `)\b(?!\s*[=:.,)]|\()`},
			{Name: "keyword.other.clause.ebb", Match: `(?<![.\w$@])(?:` + words(slices.Concat(syntax.InnerWords, []string{"rows", "keep", "given", "expect", "advance"})) + `)\b(?=\s+[\w@({\["'])`},
			{Name: "keyword.other.order.ebb", Match: `(?<=[\w)\]"]\s)(?:desc|asc|final|ties)\b`},
			{Name: "keyword.operator.ebb", Match: `=>|==|!=|<=|>=|\?\?|\?\.|::|\*\*|\.\.|[-+*/%<>=?|^#]`},
			{Name: "variable.other.ebb", Match: `[A-Za-z_$][\w$]*`},
		},
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(grammar)
	return out.Bytes(), err
}

// words is an alternative of words, longer ones first.
func words(list []string) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return strings.Join(slices.Compact(list), "|")
}

func without(list []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(some, s) })
}
