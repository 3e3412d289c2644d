package repl

import (
	"errors"
	"fmt"

	"github.com/ebb-lang/ebb/lang/syntax"
)

var _ = command(Command{
	Name: "fmt", Args: "[NAME]", Group: "script",
	Summary: "give the script, or one statement, its layout, and show it",
	Text:    "Only blanks and line breaks change, never what is meant. It is what `ebb fmt` does to files; .undo takes it back.",
	Most:    1,
	Run:     func(s *Session, a *Args) error { return s.format(a.Arg(0)) },
	Complete: func(s *Session, _ []string) []string {
		var names []string
		for _, x := range s.script.stmts {
			if x.name != "" {
				names = append(names, x.name)
			}
		}
		return names
	},
})

// format formats a statement, or with name "" the script, and shows it.
func (s *Session) format(name string) error {
	if len(s.script.stmts) == 0 {
		return errors.New("there is nothing to format: the session has no statements yet")
	}
	if name != "" && s.script.named(name) == nil {
		return s.unknown(name)
	}
	next := &script{undo: s.script.undo}
	changed, what := 0, "the layout of the script"
	for _, x := range s.script.stmts {
		if name == "" || x.name == name {
			text, _ := syntax.Format(typedName, x.text)
			parsed, _ := syntax.Parse(typedName, text)
			y := cut(parsed)[0]
			if y.tight = x.tight; y.text != x.text {
				changed++
			}
			if x = y; name != "" {
				what = "the layout of " + x.what
				fmt.Fprintln(s.Screen, x.text)
			}
		}
		next.stmts = append(next.stmts, x)
	}
	if name == "" {
		fmt.Fprint(s.Screen, next.text())
	}
	if changed == 0 {
		s.Screen.Note("nothing was changed: it has its layout already")
		return nil
	}
	next.note(s.script.stmts, what)
	s.script = *next
	s.typed = ""
	s.Screen.Note("formatted " + counted(changed, "statement"))
	return nil
}
