package report

import (
	"encoding/json"
	"io"

	"github.com/ebb-lang/ebb/lang/syntax"
)

type (
	jsonFinding struct {
		Code     string    `json:"code"`
		Name     string    `json:"name"`
		Severity string    `json:"severity"`
		Message  string    `json:"message"`
		File     string    `json:"file"`
		Range    jsonRange `json:"range"`
		Help     string    `json:"help"`
		Fix      *jsonFix  `json:"fix"`
	}
	jsonCount struct {
		Code     string `json:"code"`
		Name     string `json:"name"`
		Severity string `json:"severity"`
		Count    int    `json:"count"`
	}
	jsonRange struct {
		Start jsonPos `json:"start"`
		End   jsonPos `json:"end"`
	}
	jsonPos struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
	jsonFix struct {
		Applicability string     `json:"applicability"`
		Edits         []jsonEdit `json:"edits"`
	}
	jsonEdit struct {
		Range jsonRange `json:"range"`
		Text  string    `json:"text"`
	}
)

var _ = define(Format{
	Name: "json", Text: "for programs: one array of findings",
	Write: func(w io.Writer, r *Report) error {
		list := []jsonFinding{}
		for _, f := range r.Found {
			x := jsonFinding{Code: f.Code, Name: f.Name(), Severity: f.Severity.String(), Message: f.Message, File: f.Source.Name, Range: rangeOf(f.Span), Help: f.Help}
			if f.Fix != nil {
				x.Fix = &jsonFix{Applicability: f.Fix.Applicability.String(), Edits: []jsonEdit{}}
				for _, e := range f.Fix.Edits {
					x.Fix.Edits = append(x.Fix.Edits, jsonEdit{rangeOf(e.Span), e.Text})
				}
			}
			list = append(list, x)
		}
		return indented(w, list)
	},
	Statistics: func(w io.Writer, counts []Count) error {
		list := []jsonCount{}
		for _, c := range counts {
			list = append(list, jsonCount{c.Rule.Code, c.Rule.Name, c.Rule.Severity.String(), c.Times})
		}
		return indented(w, list)
	},
})

func rangeOf(s syntax.Span) jsonRange {
	return jsonRange{jsonPos{s.Start.Line, s.Start.Column}, jsonPos{s.End.Line, s.End.Column}}
}

// indented writes a value as JSON that people can read, too: `|>` stays as it is.
func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
