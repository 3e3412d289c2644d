package main

import (
	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/repl/inspect"
)

func checkpointInflight() *cobra.Command {
	var output, where string
	cmd := &cobra.Command{
		Use:   "inflight DIR [ID] [EDGE]",
		Short: "Print the rows that were in flight, with the channel they were in and their place in it",
		Long: "Print the rows that were in flight, with the tasks of their channel (_from, _to) and the number of their item in it (_item). " +
			"EDGE is an edge of the plan as `ebb checkpoint show` lists them, or the stage that edges lead to.",
		Args:              checkpointArgs(0, 2, "a checkpoint folder, a checkpoint and an edge"),
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
			return inspected(f.PrintFlights(p, m, word(args, 2), where))
		},
	}
	outputFlag(cmd, &output)
	whereFlag(cmd, &where)
	return cmd
}
