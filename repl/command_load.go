package repl

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/repl/inspect"
)

var _ = command(Command{
	Name: "load", Args: "FILE|FOLDER", Group: "script",
	Summary: "run the statements of a file as if they were typed; of a checkpoint folder, the script of its job",
	Text: "Definitions join the script, in any order, or none does if one of them is wrong. Then the pipelines without an output are shown. " +
		".undo takes the whole file back. A folder is one with checkpoints, as .ebb/NAME: its script is that of the newest one, and `.run NAME` goes on from there, " +
		"also if the session that ran it was killed.",
	Least: 1, Most: 1,
	Run: func(s *Session, a *Args) error { return s.Load(a.Arg(0)) },
	Complete: func(_ *Session, args []string) []string {
		found, _ := filepath.Glob(args[len(args)-1] + "*")
		return found
	},
})

// Load runs the statements of a file as if they had been typed. Messages count the lines of the file.
func (s *Session) Load(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return s.loadJob(path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot load %s: %w", path, plainError(err))
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

// loadJob runs the statements of the script that a checkpoint folder keeps.
func (s *Session) loadJob(dir string) error {
	f, err := inspect.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Stay = true
	i, text, err := f.Script("")
	if err != nil {
		return err
	}
	s.typed = ""
	if err := s.statements(text); err != nil {
		return err
	}
	if name := filepath.Base(dir); sameFolder(dir, filepath.Join(".ebb", name)) {
		s.Screen.Note(fmt.Sprintf("this is the script of checkpoint %s in %s; `.run %s` goes on from there", checkpoint.Label(i.ID, i.Name), dir, name))
	}
	return nil
}

// plainError is an error of a file without its path.
func plainError(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}
