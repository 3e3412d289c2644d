package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl"
	"github.com/ebb-lang/ebb/repl/term"
	"github.com/ebb-lang/ebb/repl/view"
)

func replCommand() *cobra.Command {
	var output string
	var keepGoing bool
	cmd := &cobra.Command{
		Use:   "repl [FILE]",
		Short: "Start an interactive session; FILE's statements are run first",
		Long: "Start an interactive session; FILE's statements are run first.\n\n" +
			"On a terminal statements are typed, else they are read from standard input: the first error ends the session with status 2, " +
			"and at the end jobs that run take a final checkpoint. What was typed is remembered in ~/.ebb_history; $EBB_HISTORY names " +
			"another file, or none if it is empty.",
		Args:              noMoreThan(1, "one script at most"),
		ValidArgsFunction: scriptFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if output != "" && output != "table" && output != "jsonl" && output != "csv" {
				return usage("--output takes table, jsonl or csv, not %q", output)
			}
			file := ""
			if len(args) > 0 {
				file = args[0]
			}
			return session(file, output, keepGoing)
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "`FORMAT` of previews: table, jsonl or csv (default: a table on a terminal, else jsonl)")
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "go on after an error when statements come from a pipe")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "jsonl", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// session runs an interactive session on the terminal, or the statements of standard input if there is none.
func session(file, output string, keepGoing bool) error {
	o := repl.Options{Name: file, Output: output, Version: version, Plan: planner.Options{}, Test: testSession}
	var text []byte
	if file != "" {
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return &status{exitFailed, err}
		}
	}
	if isTerminal(os.Stdin) && isTerminal(os.Stdout) {
		return typed(o, string(text))
	}
	return piped(o, string(text), keepGoing)
}

// typed is a session on a terminal.
func typed(o repl.Options, text string) error {
	var s *repl.Session
	e, err := term.New(os.Stdin, os.Stdout, term.Options{
		Prompt: "ebb> ", More: "...> ", Incomplete: repl.Incomplete, Join: repl.Join, History: historyFile(),
		Complete: func(text string) (int, []string) { return s.Complete(text) },
	})
	if err != nil {
		return &status{exitFailed, err}
	}
	defer e.Close()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go func() {
		for sig := range signals {
			e.Interrupt()
			if sig != os.Interrupt { // the terminal is gone, or we are told to end: final checkpoints, no questions
				e.End()
			}
		}
	}()
	o.Pager = func(height int) (io.WriteCloser, error) { return view.OpenPager(os.Stdout, height) }
	s = repl.New(e, exec.OS, o)
	if o.Name == "" {
		s.Screen.Note(repl.Greeting(version))
		if earlier := repl.Earlier(); earlier != "" {
			s.Screen.Note(earlier)
		}
	}
	if text != "" {
		if err := s.Do(repl.Statement{Text: text, Line: 1}, o.Name); err != nil {
			s.Screen.Note(err.Error())
		}
	}
	if err := s.Serve(e); err != nil {
		return &status{exitFailed, err}
	}
	return nil
}

// piped runs the statements of standard input.
func piped(o repl.Options, text string, keepGoing bool) error {
	stop := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go func() {
		<-signals
		close(stop)
		time.Sleep(sameSignal)
		signal.Stop(signals) // a second signal ends the process at once
	}()
	p := term.NewPlain(os.Stdin, standardOutput(), os.Stderr, stop)
	s := repl.New(p, exec.OS, o)
	if text != "" {
		if err := s.Do(repl.Statement{Text: text, Line: 1}, o.Name); err != nil && !errors.Is(err, repl.ErrQuit) {
			fmt.Fprintln(os.Stderr, err)
			return &status{code: exitScript}
		}
	}
	failed, err := s.Read(p, keepGoing)
	switch {
	case err != nil:
		return &status{exitFailed, err}
	case failed:
		return &status{code: exitScript}
	}
	return nil
}

// historyFile is where statements are remembered, "" for nowhere.
func historyFile() string {
	if path, ok := os.LookupEnv("EBB_HISTORY"); ok {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".ebb_history")
}
