package testrun

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/ebb-lang/ebb/lang/check"
)

// Report is what became of all tests.
type Report struct {
	Results []*Result
	Broken  []Broken // scripts that cannot be tested
	Cover   []*Coverage
}

// Broken is a script that cannot be tested.
type Broken struct {
	File  string
	Text  string // why
	Diags []check.Diagnostic
}

// Failed returns how many tests failed.
func (r *Report) Failed() (n int) {
	for _, x := range r.Results {
		if !x.Passed() {
			n++
		}
	}
	return n
}

// Formats are the forms that a report can be written in.
var Formats = []string{"text", "tap", "junit", "json"}

// Write writes the report.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "tap":
		return r.tap(w)
	case "junit":
		return r.junit(w)
	case "json":
		return r.json(w)
	}
	return r.text(w)
}

// Show shows a result to people: one line, and what is wrong below it.
func (r *Result) Show() string {
	var b strings.Builder
	word := "ok  "
	if !r.Passed() {
		word = "FAIL"
	}
	fmt.Fprintf(&b, "%s  %s:%d: %s", word, r.File, r.LineNo, oneLine(r.Name))
	if r.Spared != "" {
		fmt.Fprintf(&b, "  (not under chaos: %s)", r.Spared)
	}
	for _, f := range r.Failures {
		b.WriteString("\n" + indent(r.failure(f)))
	}
	switch {
	case r.Stormy && r.File == "<session>":
		b.WriteString("\n" + indent("this came about under chaos only"))
	case r.Stormy:
		b.WriteString("\n" + indent("this came about under chaos only; it comes again with\n  "+r.Again()))
	}
	return b.String()
}

// oneLine is a name that keeps to its line, whatever is in it.
func oneLine(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (r *Result) failure(f Failure) string {
	line, column := r.place(f)
	return fmt.Sprintf("%s:%d:%d: %s", r.File, line, column, f.Text)
}

// Again is the command that repeats a failure that only chaos brings about.
func (r *Result) Again() string {
	file := r.File
	if file == "<stdin>" {
		file = "-"
	}
	return fmt.Sprintf("ebb test %s --run %s --seed %d --chaos 1", quoteArg(file), quoteArg("^"+quotePattern(r.Name)+"$"), r.Seed)
}

func quoteArg(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

func (r *Report) text(w io.Writer) error {
	for _, x := range r.Results {
		if _, err := fmt.Fprintln(w, x.Show()); err != nil {
			return err
		}
	}
	if len(r.Cover) > 0 {
		for _, c := range r.Cover {
			if _, err := fmt.Fprint(w, c.Text()); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(w, r.Sum())
	return err
}

// Sum says in one line what became of the tests.
func (r *Report) Sum() string {
	n, failed := len(r.Results), r.Failed()
	storms := 0
	for _, x := range r.Results {
		storms += x.Storms
	}
	var s string
	switch {
	case failed == 0:
		s = fmt.Sprintf("%s passed", count(n, "test"))
	default:
		s = fmt.Sprintf("%d of %s failed", failed, count(n, "test"))
	}
	if storms > 0 {
		s += fmt.Sprintf(", %s under chaos", count(storms, "more run"))
	}
	if n := len(r.Broken); n > 0 {
		s += fmt.Sprintf("; %s cannot be tested", count(n, "script"))
	}
	return s
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// message is a failure in one line.
func (f Failure) message() string {
	head, _, _ := strings.Cut(f.Text, "\n")
	return head
}

// place is where a failure lies in the file.
func (r *Result) place(f Failure) (line, column int) {
	at := r.from.place(f.At.Start)
	return at.Line, at.Column
}
