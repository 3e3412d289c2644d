package repl

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/repl/term"
)

// An Editor is a terminal that statements are typed on.
type Editor interface {
	Screen
	// Read returns the next thing that was typed; term.ErrInterrupt for Ctrl-C and io.EOF at the end.
	Read() (term.Input, error)
	// Lost reports whether the terminal is gone or the process was told to end: nobody can be asked.
	Lost() bool
	// Started forgets a Ctrl-C that came before what runs now.
	Started()
}

// again is how soon a second Ctrl-C on an empty line means that the session shall end.
const again = 2 * time.Second

// Serve runs a session on a terminal until it is left; then jobs take their final checkpoints. The Screen of the session is the editor.
func (s *Session) Serve(in Editor) error {
	s.serve(in)
	return s.Close()
}

func (s *Session) serve(in Editor) {
	var stopped time.Time
	for {
		typed, err := in.Read()
		switch {
		case errors.Is(err, term.ErrInterrupt):
			if time.Since(stopped) < again {
				if s.MayQuit() {
					return
				}
				stopped = time.Time{}
				continue
			}
			stopped = time.Now()
			s.Screen.Note("Ctrl-D or .quit ends the session")
			continue
		case err != nil:
			if in.Lost() || !errors.Is(err, io.EOF) || s.MayQuit() {
				return
			}
			continue
		}
		in.Started()
		for _, st := range units(typed) {
			if err = s.Do(st, typedName); err != nil {
				break
			}
		}
		if errors.Is(err, ErrQuit) {
			return
		}
		if err != nil {
			s.Screen.Note(err.Error())
		}
	}
}

// units cuts what was typed into what is done at once: commands, and statements, which may name each other.
func units(typed term.Input) []Statement {
	if !typed.Pasted {
		return []Statement{{typed.Text, 1}}
	}
	var out []Statement
	lines := strings.Split(strings.Trim(typed.Text, "\r\n"), "\n")
	for _, st := range cutLines(strings.Join(lines, "\n")) {
		n := len(out)
		if n > 0 && !IsCommand(st.Text) && !IsCommand(out[n-1].Text) {
			last := out[n-1]
			out[n-1].Text = strings.Join(lines[last.Line-1:st.Line+strings.Count(st.Text, "\n")], "\n")
			continue
		}
		out = append(out, st)
	}
	return out
}

// A LineReader gives lines without their ends; io.EOF behind the last one, term.ErrInterrupt if the session shall end.
type LineReader interface{ ReadLine() (string, error) }

// Read runs the statements of a pipe; then jobs take their final checkpoints. With keepGoing it goes on after an error. It
// returns whether there were errors in statements; they have been shown.
func (s *Session) Read(in LineReader, keepGoing bool) (failed bool, err error) {
	failed, err = s.read(in, keepGoing)
	return failed, errors.Join(err, s.Close())
}

func (s *Session) read(in LineReader, keepGoing bool) (failed bool, err error) {
	var l layout
	do := func(list []Statement) (end bool) {
		for _, st := range list {
			err := s.Do(st, "<stdin>")
			if errors.Is(err, ErrQuit) {
				return true
			}
			if err != nil {
				s.Screen.Note(err.Error())
				failed = true
				if !keepGoing {
					return true
				}
			}
		}
		return false
	}
	for {
		line, err := in.ReadLine()
		switch {
		case errors.Is(err, io.EOF):
			do(l.end())
			return failed, nil
		case errors.Is(err, term.ErrInterrupt): // what is not complete is not run
			return failed, nil
		case err != nil:
			return failed, err
		}
		if do(l.add(line)) {
			return failed, nil
		}
	}
}

// Do runs a statement or a command. Errors in its text say where it stands in the text called name. A panic is an error.
func (s *Session) Do(st Statement, name string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = internalError(r)
		}
	}()
	text, mended := mend(st.Text)
	if mended {
		s.Screen.Note("stages are separated by `|>`: `|` was read as that")
	}
	err = s.Eval(text)
	if wrong, ok := errors.AsType[*ScriptError](err); ok {
		moveTo(wrong.Diags, st.Line, name)
		wrong.Width, _ = s.Screen.Size()
	}
	return err
}

// moveTo moves what is said about a typed text to where it stands in a larger one.
func moveTo(diags []check.Diagnostic, line int, name string) {
	moved := map[*syntax.Source]*syntax.Source{}
	move := func(src **syntax.Source, span *syntax.Span) {
		if *src == nil || (*src).Name != typedName {
			return
		}
		if moved[*src] == nil {
			moved[*src] = &syntax.Source{Name: name, Text: strings.Repeat("\n", line-1) + (*src).Text}
		}
		*src = moved[*src]
		for _, p := range []*syntax.Pos{&span.Start, &span.End} {
			p.Line += line - 1
			p.Offset += line - 1
		}
	}
	if name == typedName && line == 1 {
		return
	}
	for i := range diags {
		d := &diags[i]
		move(&d.Source, &d.Span)
		d.Notes = slices.Clone(d.Notes)
		for k := range d.Notes {
			move(&d.Notes[k].Source, &d.Notes[k].Span)
		}
	}
}

// internalError is a fault of Ebb, with where it happened.
func internalError(r any) error {
	stack := string(debug.Stack())
	if _, after, ok := strings.Cut(stack, "panic("); ok { // what called the handler says nothing
		if _, after, ok = strings.Cut(after, "\n"); ok {
			_, stack, _ = strings.Cut(after, "\n")
		}
	}
	lines := strings.Split(stack, "\n")
	if len(lines) > 12 {
		lines = lines[:12]
	}
	return fmt.Errorf("internal error: %v\nThis is a fault in Ebb; please report it with these lines. The session goes on.\n%s", r, strings.Join(lines, "\n"))
}
