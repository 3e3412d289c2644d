package repl

import (
	"errors"
	"fmt"
)

var _ = command(Command{
	Name: "undo", Group: "script",
	Summary: "take the last change of the script back",
	Text:    "A statement, a paste, .load and .edit are one change each. Jobs that run are not touched: .rollback takes them back.",
	Run: func(s *Session, _ *Args) error {
		n := len(s.script.undo)
		if n == 0 {
			return errors.New("there is nothing to undo: the script has not been changed in this session")
		}
		last := s.script.undo[n-1]
		s.script = script{stmts: last.stmts, undo: s.script.undo[:n-1]}
		s.typed = ""
		s.Screen.Note(fmt.Sprintf("taken back: %s; the script has %s", last.what, counted(len(s.script.stmts), "statement")))
		return nil
	},
})

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
