package repl

import "fmt"

var _ = command(Command{
	Name: "timer", Args: "[on|off]", Group: "look",
	Summary: "say whether the number of rows and the time is shown",
	Text:    "On a terminal the rows of a preview are counted and timed. off leaves the time out; on shows both without a terminal, too.",
	Most:    1,
	Run: func(s *Session, a *Args) error {
		switch a.Arg(0) {
		case "":
		case "on":
			s.timer = turnedOn
		case "off":
			s.timer = turnedOff
		default:
			return a.Usage("%q is neither on nor off", a.Arg(0))
		}
		width, _ := s.Screen.Size()
		is := "off"
		if s.timer == turnedOn || s.timer == byItself && width > 0 {
			is = "on"
		}
		s.Screen.Note(fmt.Sprintf("timer: %s", is))
		return nil
	},
	Complete: func(*Session, []string) []string { return []string{"on", "off"} },
})
