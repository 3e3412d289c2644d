package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
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
			return usage("`%s` takes %s%s", cmd.CommandPath(), what, foldersHere())
		case len(args) < 1+least:
			return usage("`%s` takes %s", cmd.CommandPath(), what)
		case len(args) > 1+most:
			return usage("`%s` takes %s; %q is one too many", cmd.CommandPath(), what, args[1+most])
		}
		return nil
	}
}

// foldersHere names the checkpoint folders of the working directory.
func foldersHere() string {
	dirs, _ := filepath.Glob(filepath.Join(".ebb", "*"))
	if len(dirs) == 0 {
		return ""
	}
	return "; here there is " + strings.Join(dirs, ", ")
}

// folder is an open checkpoint folder.
type folder struct {
	*checkpoint.Folder
	dir  string // as it was given
	list []checkpoint.Info
}

// openFolder opens a folder for reading and says on stderr what is damaged.
func openFolder(dir string) (*folder, error) {
	f, err := openQuietly(dir)
	if err == nil {
		for _, d := range f.Damage() {
			fmt.Fprintln(os.Stderr, "ebb: "+d.String())
		}
	}
	return f, err
}

func openQuietly(dir string) (*folder, error) {
	failed := func(err error) (*folder, error) {
		return nil, &status{exitFailed, fmt.Errorf("cannot read the checkpoints in %s: %w", dir, err)}
	}
	if info, err := os.Stat(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return failed(fmt.Errorf("there is no such folder%s", foldersHere()))
		}
		return failed(reason(err))
	} else if !info.IsDir() {
		return failed(errors.New("it is a file; give the folder"))
	}
	r, err := checkpoint.OpenReader(disk.OS{}, dir)
	if err != nil {
		return failed(err)
	}
	return &folder{r, dir, r.List()}, nil
}

// find returns the checkpoint that a word of the command line means.
func (f *folder) find(word string) (checkpoint.Info, error) {
	if back, ok := strings.CutPrefix(word, before); ok {
		word = "-" + back
	}
	i, err := checkpoint.Find(f.list, word)
	if err == nil {
		return i, nil
	}
	hint := ""
	if len(f.list) == 0 {
		hint = foldersHere()
	}
	return i, &status{exitFailed, fmt.Errorf("%s: %w%s", f.dir, err, hint)}
}

// at returns the checkpoint that argument i means, the newest if there is none.
func (f *folder) at(args []string, i int) (checkpoint.Info, error) {
	if i < len(args) {
		return f.find(args[i])
	}
	return f.find("")
}

// openCheckpoint opens the folder that a command line begins with and reads the checkpoint that it names next, or the
// newest. The folder is to be closed.
func openCheckpoint(args []string) (f *folder, i checkpoint.Info, m *checkpoint.Manifest, err error) {
	if f, err = openFolder(args[0]); err != nil {
		return nil, i, nil, err
	}
	if i, err = f.at(args, 1); err == nil {
		m, err = f.manifest(i.ID)
	}
	if err != nil {
		f.Close()
		return nil, i, nil, err
	}
	return f, i, m, nil
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
		words = append(words, fmt.Sprintf("%d\t%s, %s", i.ID, moment(i.Created), i.Reason))
		if i.Name != "" {
			words = append(words, i.Name)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
