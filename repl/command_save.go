package repl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

var _ = command(Command{
	Name: "save", Args: "FILE", Group: "script",
	Summary: "write the script of the session to a file",
	Text: "`ebb run FILE` then does what the session's pipelines do; comments are kept. Previews and commands are not part of the script. " +
		"A file that was neither loaded nor saved in this session is replaced only if you say so.",
	Least: 1, Most: 1,
	Run: func(s *Session, a *Args) error {
		path := a.Arg(0)
		if len(s.script.stmts) == 0 {
			return errors.New("there is nothing to save: the session has no statements yet")
		}
		if _, err := os.Stat(path); err == nil && filepath.Clean(path) != filepath.Clean(s.file) && !s.Screen.Ask(path+" exists. Replace it?") {
			return nil
		}
		text := rebase(s.script.text(), ".", filepath.Dir(path))
		if err := replaceFile(path, text); err != nil {
			return fmt.Errorf("cannot save %s: %w", path, plainError(err))
		}
		s.file = path
		s.Screen.Note(fmt.Sprintf("saved %s to %s", counted(len(s.script.stmts), "statement"), path))
		return nil
	},
	Complete: func(_ *Session, args []string) []string {
		found, _ := filepath.Glob(args[len(args)-1] + "*.ebb")
		return found
	},
})
