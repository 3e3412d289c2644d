package lint

import (
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// P: how statements and stages are put together. The parser finds these.
var _ = define(
	Rule{
		Code: "P001", Name: "single-pipe", Severity: syntax.SevError, Fix: Safe,
		Text: "A single `|` stands where `|>` separates stages.",
		Why:  "`|` alone has a meaning of its own inside of expressions. Only `|>` starts a stage.",
		Bad:  "csv(\"orders.csv\") | where amount > 15\n",
		Good: "csv(\"orders.csv\") |> where amount > 15\n",
		Mend: func(_ *Script, d check.Diagnostic) *Fix { return replace(d.Span, "|>", Safe, "write `|>`") },
	},
	Rule{
		Code: "P002", Name: "unknown-stage", Severity: syntax.SevError, Fix: Unsafe,
		Text: "A stage has a name that no stage and no pipe has.",
		Why:  "There are no stages but those of the language and the pipes of the script. `ebb doc` lists the stages; where one is near, the fix writes it.",
		Bad:  "csv(\"orders.csv\") |> wher amount > 15\n",
		Good: "csv(\"orders.csv\") |> where amount > 15\n",
		Mend: didYouMean,
	},
	Rule{
		Code: "P003", Name: "statement-in-a-line", Severity: syntax.SevError, Fix: Safe,
		Text: "A statement begins in the middle of a line, or other text follows a complete statement.",
		Why:  "A statement starts at the left margin, and every indented line goes on with it. Either a line break is missing here, or a comma or an operator.",
		Bad:  "let _least = 15 let _most = 20\n",
		Good: "let _least = 15\nlet _most = 20\n",
		Mend: func(s *Script, d check.Diagnostic) *Fix {
			if !slices.Contains(syntax.Statements, d.Source.Slice(d.Span)) {
				return nil
			}
			before := d.Source.Text[:d.Span.Start.Offset]
			blanks := len(before) - len(strings.TrimRight(before, " \t"))
			return replace(syntax.Span{Start: d.Source.Pos(len(before) - blanks), End: d.Span.Start}, "\n", Safe, "start a new line")
		},
	},
)

// replace is a fix that puts a text in the place of a span.
func replace(at syntax.Span, with string, a Applicability, text string) *Fix {
	return &Fix{Applicability: a, Text: text, Edits: []Edit{{at, with}}}
}

// meant is what the message of a diagnostic proposes: "… did you mean `NAME`?".
func meant(message string) (name string, ok bool) {
	_, rest, ok := strings.Cut(message, "did you mean `")
	if !ok {
		return "", false
	}
	name, _, ok = strings.Cut(rest, "`?")
	return name, ok && name != "" && !strings.Contains(name, "`")
}

// didYouMean writes what the message of a diagnostic proposes in the place that it points at.
func didYouMean(_ *Script, d check.Diagnostic) *Fix {
	name, ok := meant(d.Message)
	if !ok {
		return nil
	}
	return replace(d.Span, name, Unsafe, "write `"+name+"`")
}

// meantWord writes the name that was probably meant, where the diagnostic is about a word that is nearly that name.
func meantWord(d check.Diagnostic) *Fix {
	name, ok := meant(d.Message)
	if !ok || !strings.HasSuffix(d.Message, "`?") {
		return nil
	}
	word := strings.Trim(strings.TrimPrefix(d.Source.Slice(d.Span), "@"), `"`)
	near := syntax.Suggest(word, []string{name}) != "" || strings.HasSuffix(name, "."+word)
	if !near || strings.ContainsAny(word, " \n") {
		return nil // the finding is about more than the word
	}
	return replace(d.Span, name, Unsafe, "write `"+name+"`")
}
