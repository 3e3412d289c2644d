// Command ebb runs, checks and explains scripts of the Ebb language.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1  // the run failed, also an input that cannot be opened
	exitScript = 2  // the script has errors
	exitUsage  = 64 // bad usage of the command line
	exitOutput = 74 // an output or the checkpoint folder cannot be written
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
	limitGarbage()
	os.Exit(run(os.Args[1:]))
}

// run executes a command line and returns the exit status.
func run(args []string) int {
	root := rootCommand()
	root.SetArgs(minusIDs(args))
	cmd, err := root.ExecuteC()
	if err == nil || errors.Is(err, syscall.EPIPE) { // `ebb doc | head`
		return exitDone
	}
	var s *status
	if file, is := errors.AsType[*fs.PathError](err); !errors.As(err, &s) && is && file.Path == os.Stdout.Name() {
		s = &status{exitOutput, fmt.Errorf("cannot write standard output: %w", file.Err)}
	} else if s == nil {
		s = &status{exitUsage, err} // cobra's own
	}
	if s.err != nil {
		fmt.Fprintln(os.Stderr, "ebb: "+s.err.Error())
		if s.code == exitUsage {
			see := cmd.CommandPath() + " --help"
			if cmd.Name() == "doc" && cmd.Flags().NArg() == 1 {
				see = cmd.CommandPath() // lists what has a page
			}
			fmt.Fprintf(os.Stderr, "see `%s`\n", see)
		}
		if help := remedy(s.err, cmd.Name() == "run" || cmd.Name() == "repl" || cmd == root); help != "" {
			fmt.Fprintln(os.Stderr, "help: "+help)
		}
	}
	return s.code
}

// remedy says what to do about a disk that does not take what is written; "" if it is not that. runs: jobs were run.
func remedy(err error, runs bool) string {
	var folder *checkpoint.FolderError
	switch full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT); {
	case full && runs:
		return "make room there and run it again; a job that takes checkpoints goes on from its newest one"
	case full:
		return "make room there and run it again"
	case runs && errors.As(err, &folder):
		return "`set checkpoint.dir = \"…\"` keeps the checkpoints in another folder, `set checkpoint.mode = \"none\"` takes none"
	}
	return ""
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ebb",
		Short: "Stateful stream processing that one person can hold in their hands",
		Long: "Stateful stream processing that one person can hold in their hands.\n\n" +
			"`ebb run FILE` runs a script, `ebb doc` lists what the language offers. `ebb` alone starts an interactive session.",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return session("", "", false)
		},
	}
	root.SetVersionTemplate(versionText())
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(runCommand(), checkCommand(), lintCommand(), fmtCommand(), testCommand(), explainCommand(), docCommand(), checkpointCommand(), replCommand(), lspCommand(), versionCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = cobra.ArbitraryArgs, root.RunE
		case "help":
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					return unknownCommand(about, rest[0])
				}
				about.InitDefaultHelpFlag()
				about.InitDefaultVersionFlag()
				return about.Help()
			}
		}
	}
	return root
}

func unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	hint := didYouMean(word, names)
	if _, err := os.Stat(word); hint == "" && err == nil || strings.HasSuffix(word, ".ebb") {
		hint = fmt.Sprintf("; did you mean `ebb run %s`?", word)
	}
	return usage("unknown command %q%s", word, hint)
}

// flagError says what is wrong with a flag, and which one was perhaps meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return usage("`%s` has no flag -%s%s", cmd.CommandPath(), unknown.GetSpecifiedName(), otherFlag(cmd, unknown.GetSpecifiedName()))
		}
		guess := didYouMean(unknown.GetSpecifiedName(), names)
		if guess == "" {
			guess = otherFlag(cmd, unknown.GetSpecifiedName())
		}
		return usage("`%s` has no flag --%s%s", cmd.CommandPath(), unknown.GetSpecifiedName(), guess)
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "int":
		return usage("--%s takes a whole number, not %q", invalid.GetFlag().Name, invalid.GetValue())
	}
	return usage("%w", err)
}

// otherFlag is the flag that was meant by one of other tools, or that a command is missing for; "" if none is near.
func otherFlag(cmd *cobra.Command, name string) string {
	run, _, err := cmd.Root().Find([]string{"run"})
	if err != nil {
		return ""
	}
	long := map[string]string{"p": "parallelism", "j": "parallelism", "threads": "parallelism", "o": "output", "format": "output", "f": "output",
		"param": "set", "var": "set"}[name]
	if long == "" {
		long = name
	}
	at, flag := cmd, cmd.Flags().Lookup(long)
	if flag == nil && cmd == cmd.Root() {
		at, flag = run, run.Flags().Lookup(long)
		if flag == nil && len(long) == 1 {
			flag = run.Flags().ShorthandLookup(long)
		}
	}
	switch {
	case flag == nil:
		return ""
	case len(name) == 1 && flag.Shorthand == name:
		return fmt.Sprintf("; did you mean `%s -%s`?", at.CommandPath(), name)
	}
	return fmt.Sprintf("; did you mean `%s --%s`?", at.CommandPath(), flag.Name)
}

func didYouMean(word string, words []string) string {
	if s := syntax.Suggest(word, words); s != "" {
		return "; did you mean `" + s + "`?"
	}
	return ""
}

// noMoreThan refuses arguments that a command does not take.
func noMoreThan(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usage("`%s` takes %s; %q is one too many", cmd.CommandPath(), what, args[n])
		}
		return nil
	}
}
