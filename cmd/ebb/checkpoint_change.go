package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/repl/inspect"
)

func checkpointVerify() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:               "verify DIR",
		Short:             "Read every byte of the checkpoints and compare the checksums; exit status 1 if something is damaged",
		Args:              checkpointArgs(0, 0, "a checkpoint folder"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := printer(output, inspect.Formats...)
			if err != nil {
				return err
			}
			f, err := inspect.Open(args[0])
			if err != nil {
				return inspected(err)
			}
			defer f.Close()
			sum, err := f.PrintVerify(p, func(text string) { fmt.Fprintln(os.Stderr, "ebb: "+text) })
			if sum != "" {
				fmt.Fprintln(os.Stderr, sum)
			}
			return inspected(err)
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

func checkpointDelete() *cobra.Command {
	return &cobra.Command{
		Use:               "delete DIR ID…",
		Short:             "Delete checkpoints; while a job runs on the folder, the job does it at its next checkpoint",
		Args:              checkpointArgs(1, 1000, "a checkpoint folder and the checkpoints to delete"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := openFolder(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			var ids []checkpoint.ID
			for k := range args[1:] {
				i, err := f.Find(word(args, 1+k))
				if err != nil {
					return inspected(err)
				}
				if i.Head {
					return &status{exitFailed, fmt.Errorf("checkpoint %d is where the next run goes on and cannot be deleted; `ebb run --fresh` starts from nothing, "+
						"`ebb checkpoint rollback` goes back to another", i.ID)}
				}
				ids = append(ids, i.ID)
			}
			return deleteIDs(f, ids)
		},
	}
}

// deleteIDs deletes checkpoints, or asks the job that holds the folder to.
func deleteIDs(f *inspect.Folder, ids []checkpoint.ID) error {
	dir := f.Dir
	return amend(f, "ebb checkpoint delete", func() error {
		for _, id := range ids {
			if err := checkpoint.RequestDelete(disk.OS{}, dir, id); err != nil {
				return err
			}
			fmt.Printf("asked the job that runs on %s to delete checkpoint %d\n", dir, id)
		}
		return nil
	}, func(s *checkpoint.Store) error {
		for _, id := range ids {
			if err := s.Delete(id); err != nil {
				return fmt.Errorf("cannot delete checkpoint %d in %s: %w", id, dir, err)
			}
			fmt.Printf("deleted checkpoint %d\n", id)
		}
		return nil
	})
}

// amend changes a folder, or asks the job that holds it to.
func amend(f *inspect.Folder, what string, ask func() error, do func(*checkpoint.Store) error) error {
	s, _, err := openStore(f, what, 0)
	if _, locked := errors.AsType[*checkpoint.LockedError](err); locked {
		if err := ask(); err != nil {
			return &status{exitOutput, err}
		}
		return nil
	}
	if err != nil {
		return exitOf(err)
	}
	if err := do(s); err != nil {
		s.Close()
		return &status{exitOutput, err}
	}
	if err := errors.Join(s.Tidy(), s.Close()); err != nil {
		return &status{exitOutput, fmt.Errorf("cannot clean up in %s: %w", f.Dir, err)}
	}
	return nil
}

// openStore takes a folder as a run would, and says what that leaves out. home is the directory to which its outputs are
// relative; where that is another job's, or unknown, nothing is taken. from, if not 0, is where to go on if something is damaged.
func openStore(f *inspect.Folder, what string, from checkpoint.ID) (s *checkpoint.Store, home string, err error) {
	home, err = f.Home()
	if e, ok := errors.AsType[*checkpoint.ElsewhereError](err); ok {
		name := ""
		if e.Copy {
			name = fmt.Sprintf("name %s to change that one; ", e.Was)
		}
		return nil, "", &status{exitFailed, fmt.Errorf("nothing was changed: %w; %s`ebb run` in the directory of the outputs makes %s their folder, "+
			"and `ebb run --from ID` goes back there", e, name, f.Dir)}
	}
	dir, e := filepath.Abs(f.Dir) // a rollback goes where the run was
	if err = errors.Join(err, e); err != nil {
		return nil, "", err
	}
	s, r, err := checkpoint.Open(disk.OS{}, dir, checkpoint.Options{Owner: checkpoint.ThisProcess(0, what), Keep: keepAll, From: from,
		CheckOutput: checkpoint.CheckOutput(disk.OS{}, home), KeepOutput: checkpoint.KeepOutput(disk.OS{}, home)})
	if err != nil {
		return nil, "", fmt.Errorf("cannot open the checkpoints in %s: %w", f.Dir, err)
	}
	for _, l := range r.LeftOut { // what is damaged has been said
		fmt.Fprintln(os.Stderr, "ebb: "+l.String())
	}
	return s, home, nil
}

// keepAll: a command that changes one thing leaves the rest to the job's own rule.
const keepAll = 1 << 30
