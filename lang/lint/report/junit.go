package report

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

var _ = define(Format{
	Name: "junit", Text: "for CI servers: a suite for each file, a failed case for each error and warning",
	Write: func(w io.Writer, r *Report) error {
		all := junitSuites{Name: "ebb lint"}
		for _, name := range r.Files {
			suite := junitSuite{Name: name}
			for _, f := range r.Found {
				if f.Source.Name != name {
					continue
				}
				c := junitCase{Name: fmt.Sprintf("%s %d:%d", f.Code, f.Span.Start.Line, f.Span.Start.Column), Class: name, File: name, Line: f.Span.Start.Line}
				if f.Severity == syntax.SevInfo {
					c.Out = check.Render(f.Diagnostic)
				} else {
					suite.Failures++
					c.Failure = &junitFailure{Type: f.Severity.String(), Message: f.Message, Text: check.Render(f.Diagnostic)}
				}
				suite.Cases = append(suite.Cases, c)
			}
			if len(suite.Cases) == 0 {
				suite.Cases = []junitCase{{Name: "clean", Class: name, File: name}}
			}
			suite.Tests = len(suite.Cases)
			all.Tests += suite.Tests
			all.Failures += suite.Failures
			all.Suites = append(all.Suites, suite)
		}
		if _, err := io.WriteString(w, xml.Header); err != nil {
			return err
		}
		e := xml.NewEncoder(w)
		e.Indent("", "  ")
		if err := e.Encode(all); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n")
		return err
	},
})
