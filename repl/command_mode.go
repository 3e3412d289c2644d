package repl

import (
	"fmt"

	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "mode", Args: "[append|table|changes|json|jsonl|csv|auto]", Group: "look",
	Summary: "say how rows are shown",
	Text: "append lets the rows scroll, table keeps the rows of an updating stream as they are after all changes, changes shows each change. " +
		"json, jsonl and csv are for programs: nothing is left out. auto, which a session begins with, is append or, for an updating stream, " +
		"table on a terminal, and jsonl without one.",
	Most: 1,
	Run: func(s *Session, a *Args) error {
		if name := a.Arg(0); name == "auto" {
			s.mode = ""
		} else if name != "" {
			m, err := view.ParseMode(name)
			if err != nil {
				return a.Usage("%v", err)
			}
			s.mode = m
		}
		mode := string(s.mode)
		if mode == "" {
			mode = "auto"
		}
		s.Screen.Note(fmt.Sprintf("mode: %s", mode))
		return nil
	},
	Complete: func(*Session, []string) []string {
		names := []string{"auto"}
		for _, m := range view.Modes {
			names = append(names, string(m))
		}
		return names
	},
})
