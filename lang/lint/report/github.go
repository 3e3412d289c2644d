package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

var _ = define(Format{
	Name: "github", Text: "for GitHub Actions: notes at the lines of a pull request",
	Write: func(w io.Writer, r *Report) error {
		for _, f := range r.Found {
			level := map[syntax.Severity]string{syntax.SevError: "error", syntax.SevWarn: "warning", syntax.SevInfo: "notice"}[f.Severity]
			message := f.Message
			if f.Help != "" {
				message += "\n" + f.Help
			}
			at, title := f.Span, f.Code
			if n := f.Name(); n != "" {
				title += " " + n
			}
			end := ""
			if at.End.Line == at.Start.Line { // GitHub takes columns only within a line
				end = fmt.Sprintf(",col=%d,endColumn=%d", at.Start.Column, max(at.End.Column, at.Start.Column+1))
			}
			if _, err := fmt.Fprintf(w, "::%s file=%s,line=%d,endLine=%d%s,title=%s::%s\n", level, property.Replace(f.Source.Name),
				at.Start.Line, at.End.Line, end, property.Replace(title), data.Replace(message)); err != nil {
				return err
			}
		}
		return nil
	},
})

// What has a meaning in the commands of a workflow.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
