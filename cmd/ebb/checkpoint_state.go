package main

import (
	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/repl/inspect"
)

func checkpointState() *cobra.Command {
	var output, where string
	cmd := &cobra.Command{
		Use:   "state DIR ID STAGE",
		Short: "Print what the state of a stage stands for: the rows it would give out if its input ended there",
		Long: "Print what the state of a stage stands for: the rows that it would give out if its input had ended there, and those of a changelog " +
			"that it may still take back. STAGE is a name that `ebb checkpoint show` lists, or a part of one.",
		Args:              checkpointArgs(2, 2, "a checkpoint folder, a checkpoint and a stage"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := printer(output, inspect.Formats...)
			if err != nil {
				return err
			}
			f, _, m, err := openCheckpoint(args)
			if err != nil {
				return err
			}
			defer f.Close()
			return inspected(f.PrintState(p, m, word(args, 2), where))
		},
	}
	outputFlag(cmd, &output)
	whereFlag(cmd, &where)
	return cmd
}
