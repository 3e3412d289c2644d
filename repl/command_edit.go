package repl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

var _ = command(Command{
	Name: "edit", Args: "[NAME]", Group: "script",
	Summary: "edit the script, or one statement, with $VISUAL or $EDITOR",
	Text: "What comes out of the editor is checked and takes the place of what was there, or nothing changes. A text with errors is kept: " +
		"the next .edit of the same goes on with it. Without the variables the editor is vi.",
	Most: 1,
	Run:  func(s *Session, a *Args) error { return s.edit(a.Arg(0)) },
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

// draft is a text that came out of the editor with errors.
type draft struct{ name, text string }

// edit has a statement edited, or with name "" the script.
func (s *Session) edit(name string) error {
	old := s.script.text()
	if name != "" {
		x := s.script.named(name)
		if x == nil {
			return s.unknown(name)
		}
		old = x.text + "\n"
	}
	text := old
	if s.draft.text != "" && s.draft.name == name {
		text = s.draft.text
	}
	text, err := s.inEditor(text)
	if err != nil {
		return err
	}
	s.draft = draft{}
	if strings.TrimSpace(text) == strings.TrimSpace(old) {
		s.Screen.Note("nothing was changed")
		return nil
	}
	if err := s.replace(name, text); err != nil {
		s.draft = draft{name, text}
		return fmt.Errorf("%w\nnothing was changed; the text is kept, %s goes on with it", err, strings.TrimSpace(".edit "+name))
	}
	return nil
}

// replace puts a text in the place of a statement, or of the script.
func (s *Session) replace(name, text string) error {
	tree, diags := syntax.Parse(typedName, text)
	if err := wrong(diags, tree.Source); err != nil {
		return err
	}
	if i := slices.IndexFunc(tree.Stmts, bare); i >= 0 {
		return fmt.Errorf("line %d is a pipeline without an output: it is shown, but no part of a script; end it with `|> into …`, or take it out",
			tree.Stmts[i].Range().Start.Line)
	}
	add := cut(tree)
	next := &script{undo: s.script.undo}
	what := "an edit of the script"
	if name == "" {
		next.stmts = add
	} else {
		what = "an edit of " + s.script.named(name).what
		for _, x := range s.script.stmts {
			if x.name != name {
				next.stmts = append(next.stmts, x)
			} else {
				next.stmts = append(next.stmts, add...)
			}
		}
	}
	var rest []statement
	for _, x := range next.stmts {
		if !slices.Contains(add, x) {
			rest = append(rest, x)
		}
	}
	if _, err := s.compile(tree.Source.Text, rest, s.opts.Plan); err != nil {
		if len(add) > 0 {
			return s.refuse(err, add)
		}
		return err
	}
	next.note(s.script.stmts, what)
	before := s.script
	s.script = *next
	s.typed = ""
	looks := s.looks(add)
	for k, a := range add {
		if i := before.find(a); i < 0 || before.stmts[i].text != a.text {
			s.Screen.Note(s.news(&before, a, looks[k]))
		}
	}
	for _, x := range before.stmts {
		if next.find(x) < 0 {
			s.Screen.Note(x.what + " is gone")
		}
	}
	return nil
}

// inEditor has a text edited.
func (s *Session) inEditor(text string) (string, error) {
	editor := ""
	for _, v := range []string{"VISUAL", "EDITOR"} {
		if e := strings.TrimSpace(os.Getenv(v)); e != "" {
			editor = e
			break
		}
	}
	terminal, _ := s.Screen.Size()
	if editor == "" {
		if editor = "vi"; terminal == 0 {
			return "", errors.New("there is no terminal to edit on; $EDITOR names an editor that needs none")
		}
	}
	f, err := os.CreateTemp("", "*.ebb")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "-c", editor+` "$@"`, editor, f.Name()) // as git does it: the variable may hold quotes
	if runtime.GOOS == "windows" {
		words := strings.Fields(editor)
		cmd = exec.Command(words[0], append(words[1:], f.Name())...)
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if terminal > 0 { // else it would read the statements that are still to come
		cmd.Stdin = os.Stdin
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %s: %w; nothing was changed ($EDITOR says which one is used)", editor, err)
	}
	data, err := os.ReadFile(f.Name())
	return string(data), err
}

// unknown is the error of a name that the session does not know.
func (s *Session) unknown(name string) error {
	var names []string
	for _, x := range s.script.stmts {
		if x.name != "" {
			names = append(names, x.name)
		}
	}
	if m := syntax.Suggest(name, names); m != "" {
		return fmt.Errorf("nothing in this session is called %q; did you mean `%s`?", name, m)
	}
	return fmt.Errorf("nothing in this session is called %q; .streams lists what there is", name)
}
