package report

import (
	"fmt"
	"io"
)

var _ = define(Format{
	Name: "concise", Text: "for people and editors: a line each",
	Statistics: countLines,
	Write: func(w io.Writer, r *Report) error {
		for _, f := range r.Found {
			if _, err := fmt.Fprintf(w, "%s:%s\n", f.Source.Name, f.Error()); err != nil {
				return err
			}
		}
		return nil
	},
})
