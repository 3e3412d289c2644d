package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/repl/inspect"
)

func checkpointCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "checkpoint VERB DIR [ID]",
		Short: "Look into the checkpoints of a job, check them, go back to one",
		Long: "Look into the checkpoints of a job, check them, go back to one. DIR is the checkpoint folder: .ebb/NAME beside the run, " +
			"unless the script sets checkpoint.dir.\n\n" +
			"ID is the number of a checkpoint, its name, or -N for the N-th before the newest; without one it is the newest. " +
			"All but rollback work while the job runs.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(checkpointList(), checkpointShow(), checkpointInflight(), checkpointState(), checkpointDiff(), checkpointExport(), checkpointVerify(), checkpointName(), checkpointDelete(), checkpointRollback())
	return cmd
}

// before is how -N travels through the parsing of flags.
const before = "~"

var minusID = regexp.MustCompile(`^-[0-9]+$`)

// minusIDs lets -N stand where flags do.
func minusIDs(args []string) []string {
	if len(args) == 0 || args[0] != "checkpoint" {
		return args
	}
	args = slices.Clone(args)
	for i, a := range args {
		if a == "--" {
			break
		}
		if minusID.MatchString(a) {
			args[i] = before + a[1:]
		}
	}
	return args
}

// checkpointArgs says what a verb takes: a folder and at least and at most so many ids.
func checkpointArgs(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage("`%s` takes %s%s", cmd.CommandPath(), what, inspect.FoldersHere(""))
		case strings.HasPrefix(args[0], before), len(args) < 1+least && !isFolder(args[0]):
			return usage("`%s` takes %s; %s is no folder%s", cmd.CommandPath(), what, word(args, 0), inspect.FoldersHere(""))
		case len(args) < 1+least:
			return usage("`%s` takes %s", cmd.CommandPath(), what)
		case len(args) > 1+most:
			return usage("`%s` takes %s; %q is one too many", cmd.CommandPath(), what, args[1+most])
		}
		return nil
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// openFolder opens a folder for reading and says on stderr what is damaged.
func openFolder(dir string) (*inspect.Folder, error) {
	f, err := inspect.Open(dir)
	if err != nil {
		return nil, inspected(err)
	}
	for _, d := range f.Damage() {
		fmt.Fprintln(os.Stderr, "ebb: "+d.String())
	}
	return f, nil
}

// word returns argument i as it was typed, "" if there is none.
func word(args []string, i int) string {
	if i >= len(args) {
		return ""
	}
	if back, ok := strings.CutPrefix(args[i], before); ok {
		return "-" + back
	}
	return args[i]
}

// openCheckpoint opens the folder that a command line begins with and reads the checkpoint that it names next, or the
// newest. The folder is to be closed.
func openCheckpoint(args []string) (f *inspect.Folder, i checkpoint.Info, m *checkpoint.Manifest, err error) {
	if f, err = openFolder(args[0]); err != nil {
		return nil, i, nil, err
	}
	if i, m, err = f.Get(word(args, 1)); err != nil {
		f.Close()
		return nil, i, nil, inspected(err)
	}
	return f, i, m, nil
}

// inspected turns an error of looking into a folder into an exit status.
func inspected(err error) error {
	var misuse *inspect.UsageError
	var condition *inspect.ConditionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &misuse):
		return usage("%w", err)
	case errors.As(err, &condition):
		fmt.Fprintln(os.Stderr, condition)
		return &status{code: exitUsage}
	}
	return exitOf(err)
}

// printer returns what prints in a format, one of those given.
func printer(format string, formats ...string) (*inspect.Printer, error) {
	if slices.Contains(formats, format) {
		return &inspect.Printer{Format: format, Out: os.Stdout}, nil
	}
	return nil, usage("--output takes %s or %s, not %q", strings.Join(formats[:len(formats)-1], ", "), formats[len(formats)-1], format)
}

// outputFlag adds --output to a command that prints rows.
func outputFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "output", "table", "`FORMAT` of what is printed: table, json (one array), jsonl or csv")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(inspect.Formats, cobra.ShellCompDirectiveNoFileComp))
}

// whereFlag adds --where to a command that prints rows.
func whereFlag(cmd *cobra.Command, where *string) {
	cmd.Flags().StringVar(where, "where", "", "only rows for which `EXPR`, an expression of the language, is true")
	cmd.RegisterFlagCompletionFunc("where", cobra.NoFileCompletions)
}

// checkpointWords completes the folder and then ids and names.
func checkpointWords(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		dirs, _ := filepath.Glob(filepath.Join(".ebb", "*"))
		return dirs, cobra.ShellCompDirectiveFilterDirs
	}
	r, err := checkpoint.OpenReader(disk.OS{}, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer r.Close()
	var words []string
	for _, i := range slices.Backward(r.List()) {
		words = append(words, fmt.Sprintf("%d\t%s, %s", i.ID, inspect.Moment(i.Created), i.Reason))
		if i.Name != "" {
			words = append(words, i.Name)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
