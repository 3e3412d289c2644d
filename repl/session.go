// Package repl is the interactive session: it reads statements, previews pipelines, runs jobs and mends them. It does not
// know how rows are stored or how tasks are stepped; it asks the planner and a job.
package repl

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/view"
	"github.com/ebb-lang/ebb/stdlib"
)

// ErrQuit ends a session.
var ErrQuit = errors.New("quit")

// Options are what the command line says about a session.
type Options struct {
	Name    string // of the session: the script's file, "" if there is none
	Output  string // format of previews: "" is a table on a terminal, else jsonl
	Version string
	Plan    planner.Options
	// Test runs the tests of the script; nil: there are none to be run.
	Test Tester
	// Pager opens what shows long results on a terminal so high; nil: there is none. See view.OpenPager.
	Pager func(height int) (io.WriteCloser, error)
}

// switched is a setting that a person may have turned on or off; else it depends.
type switched int

const (
	byItself switched = iota
	turnedOn
	turnedOff
)

// Session is one interactive session. Its methods are called by one goroutine; what runs in the background speaks through
// the Screen.
type Session struct {
	Screen  Screen
	opts    Options
	lib     *stdlib.Catalog
	env     func() *exec.Env // a new one for each run
	script  script
	last    string    // the last pipeline that was shown: `_`
	typed   string    // the last statement: what a line that begins with |> goes on with
	comment string    // typed by itself: it goes with the next statement
	known   known     // for completion
	mode    view.Mode // of previews; "": by what is shown, and where
	timer   switched
	file    string // that was loaded or saved last
	draft   draft  // what .edit goes on with

	held    sync.Mutex    // guards jobs for Close, which a signal calls
	jobs    []*sessionJob // in the order in which they were started
	numbers int           // that were given to jobs
}

// New returns a session.
func New(screen Screen, env func() *exec.Env, o Options) *Session {
	pipes := &exec.Pipes{}
	own := func() *exec.Env {
		e := env()
		e.Stdin, e.Pipes = noInput{}, pipes
		return e
	}
	s := &Session{Screen: prose{screen}, opts: o, lib: stdlib.New(), env: own}
	if m, err := view.ParseMode(o.Output); err == nil {
		s.mode = m
	}
	return s
}

// Eval runs one statement or several, or one command. Diagnostics are within the error.
func (s *Session) Eval(text string) error {
	switch plain := strings.TrimSpace(text); {
	case plain == "":
		return nil
	case IsCommand(plain):
		return s.run(plain)
	case s.script.named(plain) == nil && (findCommand(plain) != nil || otherCommands[plain] != ""):
		if c := commandOf(plain); c.Name != "help" && c.Name != "quit" {
			return fmt.Errorf("commands begin with a dot: .%s", c.Name)
		}
		return s.run("." + plain)
	}
	return s.statements(text)
}

// IsCommand reports whether a line is a command: no statement begins with a dot and a letter, or with a question mark.
func IsCommand(line string) bool {
	return strings.HasPrefix(line, "?") || len(line) > 1 && line[0] == '.' && (line[1] >= 'a' && line[1] <= 'z' || line[1] >= 'A' && line[1] <= 'Z')
}

// noInput is the standard input of what a session runs: the session reads it itself.
type noInput struct{}

func (noInput) Read([]byte) (int, error) {
	return 0, errors.New("the standard input belongs to the session; read a file, or use `ebb run`")
}
