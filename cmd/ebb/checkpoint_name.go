package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/repl/inspect"
)

func checkpointName() *cobra.Command {
	return &cobra.Command{
		Use:   "name DIR ID NAME",
		Short: "Name a checkpoint, which is then kept; while a job runs on the folder, the job does it at its next checkpoint",
		Long: "Name a checkpoint. One with a name is kept until it is deleted or its name is taken away, which the name \"\" does. " +
			"While a job runs on the folder, the job does it at its next checkpoint.",
		Args:              checkpointArgs(2, 2, "a checkpoint folder, a checkpoint and a name"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := openFolder(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			i, err := f.Find(word(args, 1))
			if err != nil {
				return inspected(err)
			}
			name := args[2]
			if name != "" {
				if err := f.Nameable(i.ID, name); err != nil {
					return &status{exitFailed, err}
				}
			}
			return nameID(f, i.ID, name)
		},
	}
}

// nameID names a checkpoint, or asks the job that holds the folder to.
func nameID(f *inspect.Folder, id checkpoint.ID, name string) error {
	dir := f.Dir
	said := fmt.Sprintf("checkpoint %d %s", id, name)
	if name == "" {
		said = fmt.Sprintf("checkpoint %d no more by a name", id)
	}
	return amend(f, "ebb checkpoint name", func() error {
		if err := checkpoint.RequestName(disk.OS{}, dir, id, name); err != nil {
			return err
		}
		fmt.Printf("asked the job that runs on %s to call %s\n", dir, said)
		return nil
	}, func(s *checkpoint.Store) error {
		if err := s.Name(id, name); err != nil {
			return fmt.Errorf("cannot name checkpoint %d in %s: %w", id, dir, err)
		}
		fmt.Println("called " + said)
		return nil
	})
}
