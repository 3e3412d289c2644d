package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl"
)

func replCommand() *cobra.Command {
	var output string
	var keepGoing bool
	cmd := &cobra.Command{
		Use:   "repl [FILE]",
		Short: "Start an interactive session; FILE's statements are run first",
		Args:  noMoreThan(1, "one script at most"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			s := repl.New(plainScreen{}, exec.OS, repl.Options{Output: output, Version: version, Plan: planner.Options{}})
			defer func() {
				if e := s.Close(); err == nil && e != nil {
					err = &status{exitFailed, e}
				}
			}()
			signals := make(chan os.Signal, 2)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			go func() { // the statements that are under way are not waited for
				<-signals
				code := 0
				if err := s.Close(); err != nil {
					fmt.Fprintln(os.Stderr, err)
					code = exitFailed
				}
				os.Exit(code)
			}()
			in := bufio.NewScanner(os.Stdin)
			for in.Scan() {
				err := s.Eval(in.Text())
				if errors.Is(err, repl.ErrQuit) {
					return nil
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					if !keepGoing {
						return &status{code: exitScript}
					}
				}
			}
			return in.Err()
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "`FORMAT` of previews: table, jsonl or csv (default: a table on a terminal, else jsonl)")
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "go on after an error when statements come from a pipe")
	return cmd
}

// plainScreen shows things without a terminal.
type plainScreen struct{}

func (plainScreen) Write(b []byte) (int, error) { return os.Stdout.Write(b) }
func (plainScreen) Note(text string)            { fmt.Fprintln(os.Stderr, text) }
func (plainScreen) Ask(string) bool             { return true }
func (plainScreen) Size() (int, int)            { return 0, 0 }
func (plainScreen) Interrupts() <-chan struct{} { return nil }
