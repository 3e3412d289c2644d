package testrun

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// tap writes the report in the Test Anything Protocol, version 14.
func (r *Report) tap(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(r.Results)+len(r.Broken))
	n := 0
	for _, x := range r.Results {
		n++
		word := "ok"
		if !x.Passed() {
			word = "not ok"
		}
		fmt.Fprintf(&b, "%s %d - %s: %s\n", word, n, tapText(x.File), tapText(oneLine(x.Name)))
		if x.Spared != "" {
			fmt.Fprintf(&b, "# not under chaos: %s\n", x.Spared)
		}
		for _, f := range x.Failures {
			line, column := x.place(f)
			fmt.Fprintf(&b, "  ---\n  message: %s\n  at:\n    file: %s\n    line: %d\n    column: %d\n", strconv.Quote(f.message()), strconv.Quote(x.File), line, column)
			if _, rest, more := strings.Cut(f.Text, "\n"); more {
				fmt.Fprintf(&b, "  detail: |2\n    %s\n", strings.ReplaceAll(rest, "\n", "\n    "))
			}
			if x.Stormy {
				fmt.Fprintf(&b, "  again: %s\n", strconv.Quote(x.Again()))
			}
			b.WriteString("  ...\n")
			break // one block a test
		}
	}
	for _, x := range r.Broken {
		n++
		fmt.Fprintf(&b, "not ok %d - %s\n  ---\n  message: %s\n  ...\n", n, tapText(x.File), strconv.Quote(x.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tapText(s string) string {
	return strings.NewReplacer("\\", "\\\\", "#", "\\#").Replace(s)
}
