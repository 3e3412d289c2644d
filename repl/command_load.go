package repl

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ebb-lang/ebb/lang/syntax"
)

var _ = command(Command{
	Name: "load", Args: "FILE", Group: "script",
	Summary: "run the statements of a file as if they had been typed",
	Text: "Definitions join the script, in any order, or none does if one of them is wrong. Then the pipelines without an output are shown. " +
		".undo takes the whole file back.",
	Least: 1, Most: 1,
	Run: func(s *Session, a *Args) error { return s.Load(a.Arg(0)) },
	Complete: func(_ *Session, args []string) []string {
		found, _ := filepath.Glob(args[len(args)-1] + "*")
		return found
	},
})

// Load runs the statements of a file as if they had been typed. Messages count the lines of the file.
func (s *Session) Load(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot load %s: %w", path, plainError(err))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	text := rebase(syntax.NewSource(path, string(data)).Text, filepath.Dir(path), ".")
	s.typed = "" // the file goes on with nothing
	if err := s.statements(text); err != nil {
		if e, ok := err.(*ScriptError); ok {
			for i, d := range e.Diags {
				if d.Source != nil && d.Source.Name == typedName {
					e.Diags[i].Source = &syntax.Source{Name: path, Text: d.Source.Text}
				}
			}
		}
		return err
	}
	s.file = path
	return nil
}

// plainError is an error of a file without its path.
func plainError(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}
