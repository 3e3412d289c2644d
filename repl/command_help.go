package repl

import (
	"fmt"
	"strings"
)

var _ = command(Command{
	Name: "help", Args: "[NAME]", Group: "session", Most: 1,
	Summary: "list the commands, or explain a command, statement, stage, clause, function, connector or error code",
	Text: "NAME is a command, a statement, a stage, a clause, a window, a connector, an aggregate, a function or the code of an error; or one of the lists: " +
		"catalog (all that a script can name), codes. ?NAME is short for .help NAME.",
	Run: func(s *Session, a *Args) error {
		text, err := "", error(nil)
		switch name := a.Arg(0); strings.ToLower(name) {
		case "":
			text = commandIndex() + helpTail
		case "catalog":
			text = s.lib.Index()
		case "codes":
			text = codeIndex()
		default:
			text, err = Help(s.lib, name)
		}
		if err != nil {
			return fmt.Errorf("%w\n.help lists the commands, .help catalog all that a script can name, .help codes the errors", err)
		}
		width, _ := s.Screen.Size()
		return s.page(fold(text, width))
	},
	Complete: func(s *Session, _ []string) []string { return append(Topics(s.lib), "catalog", "codes") },
})

const helpTail = `.help NAME tells more of a command, statement, stage, clause, function, connector or error code.
.help catalog lists all that a script can name, .help codes all errors.
Enter runs a statement; a line that begins with |> extends the last pipeline. Ctrl-C stops what is shown, Ctrl-D ends the session.
`
