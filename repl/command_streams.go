package repl

import (
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "streams", Group: "look",
	Summary: "list what the session has defined",
	Text:    "Each statement has its kind, its name, what is known of it and its first line. .schema NAME shows columns.",
	Run: func(s *Session, _ *Args) error {
		if len(s.script.stmts) == 0 {
			s.Screen.Note("nothing is defined yet")
			return nil
		}
		var rows [][]any
		looks := s.looks(s.script.stmts)
		for i, x := range s.script.stmts {
			kind, name, _ := strings.Cut(x.what, " ")
			if x.writes() {
				kind, name = "pipeline", ""
			}
			rows = append(rows, []any{kind, name, looks[i], firstLine(x.text)})
		}
		return s.table([]string{"kind", "name", "what", "text"}, rows)
	},
})

// firstLine is the first line of a statement that is no comment.
func firstLine(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			if i < len(lines)-1 {
				line += " …"
			}
			return line
		}
	}
	return ""
}

// table shows rows of text (nil: nothing) in the mode of the session.
func (s *Session) table(names []string, rows [][]any) error {
	var schema types.Schema
	for _, n := range names {
		schema.Fields = append(schema.Fields, types.Field{Name: n, Type: types.T(types.String)})
	}
	o := s.viewOptions(types.Stream{Bounded: true})
	if o.Mode == view.Table || o.Mode == view.Changes {
		o.Mode = view.Append
	}
	return view.Print(s.Screen, o, schema, vec.FromRows(schema, rows))
}
