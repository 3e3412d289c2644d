package report

import (
	"fmt"
	"io"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/lint"
)

var _ = define(Format{
	Name: "text", Text: "for people: the line, what is wrong with it, what to do",
	Statistics: countLines,
	Write: func(w io.Writer, r *Report) error {
		width := r.Width
		if width == 0 {
			width = 1 << 20
		}
		for _, f := range r.Found {
			if _, err := io.WriteString(w, check.RenderIn(f.Diagnostic, width)); err != nil {
				return err
			}
			if f.Fix == nil {
				continue
			}
			flag := "--fix"
			if f.Fix.Applicability == lint.Unsafe {
				flag = "--unsafe-fixes"
			}
			if _, err := fmt.Fprintf(w, "fix: %s (%s)\n", f.Fix.Text, flag); err != nil {
				return err
			}
		}
		return nil
	},
})
