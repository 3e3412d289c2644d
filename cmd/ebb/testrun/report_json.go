package testrun

import (
	"encoding/json"
	"io"

	"github.com/ebb-lang/ebb/exec/vec"
)

// mostReported is how many rows of a kind a failure lists; its message counts all of them.
const mostReported = 1000

type jsonReport struct {
	Passed   int          `json:"passed"`
	Failed   int          `json:"failed"`
	Tests    []jsonTest   `json:"tests"`
	Broken   []jsonBroken `json:"broken"`
	Coverage []*Coverage  `json:"coverage,omitempty"`
}

type jsonTest struct {
	File     string        `json:"file"`
	Line     int           `json:"line"`
	Name     string        `json:"name"`
	Passed   bool          `json:"passed"`
	Storms   int           `json:"chaos"`
	Spared   string        `json:"not_under_chaos,omitempty"`
	Seed     *uint64       `json:"seed,omitempty"`
	Again    string        `json:"again,omitempty"`
	Failures []jsonFailure `json:"failures"`
}

type jsonFailure struct {
	Line       int               `json:"line"`
	Column     int               `json:"column"`
	Message    string            `json:"message"`
	Text       string            `json:"text"`
	Missing    []json.RawMessage `json:"missing,omitempty"`
	Unexpected []json.RawMessage `json:"unexpected,omitempty"`
}

type jsonBroken struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// json writes the report for programs.
func (r *Report) json(w io.Writer) error {
	out := jsonReport{Passed: len(r.Results) - r.Failed(), Failed: r.Failed(), Tests: []jsonTest{}, Broken: []jsonBroken{}, Coverage: r.Cover}
	for _, x := range r.Results {
		t := jsonTest{File: x.File, Line: x.LineNo, Name: x.Name, Passed: x.Passed(), Storms: x.Storms, Spared: x.Spared, Failures: []jsonFailure{}}
		if x.Stormy {
			t.Seed, t.Again = &x.Seed, x.Again()
		}
		for _, f := range x.Failures {
			line, column := x.place(f)
			j := jsonFailure{Line: line, Column: column, Message: f.message(), Text: f.Text}
			if d := f.Diff; d != nil {
				for _, row := range d.Missing[:min(len(d.Missing), mostReported)] {
					j.Missing = append(j.Missing, d.json(row.Values, row.Change))
				}
				for _, row := range d.Unexpected[:min(len(d.Unexpected), mostReported)] {
					j.Unexpected = append(j.Unexpected, d.json(row.Values, row.Change.String()))
				}
			}
			t.Failures = append(t.Failures, j)
		}
		out.Tests = append(out.Tests, t)
	}
	for _, x := range r.Broken {
		out.Broken = append(out.Broken, jsonBroken{x.File, x.Text})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// json is a row as JSON: the columns that the expectation names, as outputs write them.
func (d *Diff) json(values map[string]any, change string) json.RawMessage {
	b := []byte{'{'}
	for _, c := range d.Columns {
		v, named := values[c]
		if c == changeColumn {
			named = change != ""
		}
		if !named {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(vec.AppendQuoted(b, c), ':')
		if c == changeColumn {
			b = vec.AppendQuoted(b, change)
			continue
		}
		col := vec.NewBuilder(d.typeOf(c).OrNull(true))
		col.Append(v)
		b = col.Column().AppendJSON(b, 0)
	}
	return append(b, '}')
}
