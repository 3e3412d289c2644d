package repl

import (
	"errors"
	"io"
)

var _ = command(Command{
	Name: "test", Args: "[PATTERN]", Group: "script", Most: 1, Tail: true,
	Summary: "run the tests of the script, or those whose names match a pattern",
	Text: "A test is a statement like any other: `test \"NAME\" { … }`. It runs on rows of its own, writes nothing, and no job of the session is touched. " +
		"PATTERN is a regular expression. `ebb test FILE` does the same for a file.",
	Run: func(s *Session, a *Args) error {
		if s.opts.Test == nil {
			return errors.New("this program cannot run tests")
		}
		return s.opts.Test(s.Screen, typedName, s.script.text(), s.opts.Plan.Set, a.Arg(0))
	},
})

// Tester runs the tests of a script that match a pattern, "" for all, and shows what became of them. An error says that one
// failed or that they cannot be run.
type Tester func(show io.Writer, name, text string, set map[string]string, pattern string) error
