package repl

import (
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/lint/report"
	"github.com/ebb-lang/ebb/planner"
)

var _ = command(Command{
	Name: "lint", Args: "[CODE…]", Group: "script", Most: -1,
	Summary: "find what is suspicious in the script of the session",
	Text: "A CODE, or its beginning, shows only such findings: `.lint W`. `.help CODE` says what a code means. Lines are those of the script as `.save` writes it; " +
		"`ebb lint --fix` of the saved file makes the fixes.",
	Run: func(s *Session, a *Args) error {
		choice := lint.Choice{}
		for _, code := range a.Pos {
			code = strings.ToUpper(code)
			if err := lint.CheckPrefix(code); err != nil {
				return a.Usage("%v", err)
			}
			choice.Select = append(choice.Select, code)
		}
		name := s.opts.Name
		if name == "" {
			name = "<script>"
		}
		env := s.env().ReadOnly()
		found := lint.Lint([]lint.Text{{Name: name, Text: s.script.text(), Env: &planner.World{Catalog: s.lib, Env: env}, Facts: planner.Facts(s.lib, env), Choice: choice}})[0].Found
		if len(found) == 0 {
			s.Screen.Note("nothing is suspicious")
			return nil
		}
		text, err := report.Find("text")
		if err != nil {
			return err
		}
		r := &report.Report{Found: found}
		r.Width, _ = s.Screen.Size()
		if err := text.Write(s.Screen, r); err != nil {
			return err
		}
		s.Screen.Note(strings.TrimSpace(r.Summary()))
		return nil
	},
	Complete: func(*Session, []string) []string { return slices.Clone(lint.Codes()) },
})
