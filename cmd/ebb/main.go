// Command ebb runs, checks and explains scripts of the Ebb language.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1  // the run failed, also an input that cannot be opened
	exitScript = 2  // the script has errors
	exitUsage  = 64 // bad usage of the command line
	exitOutput = 74 // an output cannot be written
)

// status is an error that says how the process ends. Its message has been shown already if err is nil.
type status struct {
	code int
	err  error
}

func (s *status) Error() string {
	if s.err == nil {
		return ""
	}
	return s.err.Error()
}

func usage(format string, args ...any) error {
	return &status{exitUsage, fmt.Errorf(format, args...)}
}

func main() {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the write, which ends the run cleanly
	os.Exit(run(os.Args[1:]))
}

// run executes a command line and returns the exit status.
func run(args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	var s *status
	if !errors.As(err, &s) {
		s = &status{exitUsage, err} // cobra's own: unknown commands and flags
	}
	if s.err != nil {
		fmt.Fprintln(os.Stderr, "ebb: "+s.err.Error())
		if s.code == exitUsage {
			fmt.Fprintln(os.Stderr, "see `ebb help`")
		}
	}
	return s.code
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "ebb",
		Short:         "Stateful stream processing that one person can hold in their hands",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("unknown command %q%s", args[0], didYouMean(args[0], cmd))
			}
			return cmd.Help()
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(runCommand(), checkCommand(), explainCommand(), docCommand(), versionCommand())
	return root
}

func didYouMean(word string, cmd *cobra.Command) string {
	if s := cmd.SuggestionsFor(word); len(s) > 0 {
		return "; did you mean `" + s[0] + "`?"
	}
	return ""
}
