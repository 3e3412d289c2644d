package testrun

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitMessage `xml:"failure"`
	Error   *junitMessage `xml:"error"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit writes the report in the form that CI systems read: a suite a script.
func (r *Report) junit(w io.Writer) error {
	all := junitSuites{}
	at := map[string]int{}
	suite := func(file string) *junitSuite {
		i, known := at[file]
		if !known {
			i = len(all.Suites)
			at[file] = i
			all.Suites = append(all.Suites, junitSuite{Name: file})
		}
		all.Suites[i].Tests++
		all.Tests++
		return &all.Suites[i]
	}
	for _, x := range r.Results {
		s := suite(x.File)
		c := junitCase{Class: x.File, Name: x.Name, File: x.File, Line: x.LineNo}
		if x.Spared != "" {
			c.Out = "not under chaos: " + x.Spared
		}
		if !x.Passed() {
			s.Failures++
			all.Failures++
			var text []string
			for _, f := range x.Failures {
				text = append(text, x.failure(f))
			}
			if x.Stormy {
				text = append(text, "again: "+x.Again())
			}
			c.Failure = &junitMessage{Message: x.Failures[0].message(), Text: strings.Join(text, "\n")}
		}
		s.Cases = append(s.Cases, c)
	}
	for _, x := range r.Broken {
		s := suite(x.File)
		s.Errors++
		all.Errors++
		s.Cases = append(s.Cases, junitCase{Class: x.File, Name: x.File, File: x.File, Error: &junitMessage{Message: "the script cannot be tested", Text: x.Text}})
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, out)
	return err
}
