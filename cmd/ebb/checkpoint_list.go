package main

import (
	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/repl/inspect"
)

func checkpointList() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:               "list DIR",
		Short:             "List the checkpoints, those of abandoned branches too",
		Args:              checkpointArgs(0, 0, "a checkpoint folder"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := printer(output, inspect.Formats...)
			if err != nil {
				return err
			}
			f, err := openFolder(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			return inspected(f.PrintList(p))
		},
	}
	outputFlag(cmd, &output)
	return cmd
}
