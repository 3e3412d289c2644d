package main

import (
	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/repl/inspect"
)

func checkpointDiff() *cobra.Command {
	var output, where string
	cmd := &cobra.Command{
		Use:   "diff DIR A B [STAGE]",
		Short: "Show what changed from one checkpoint to another: keys, rows read, rows in flight, counters; with STAGE the rows of its state",
		Long: "Show what changed from checkpoint A to checkpoint B: for each stage how many keys were added, removed and changed, then the rows that each source had read, those in flight " +
			"and the counters of the run. With STAGE the rows themselves, marked in the column _diff: added, removed, or before and after.",
		Args:              checkpointArgs(2, 3, "a checkpoint folder, two checkpoints and a stage"),
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
			var ms [2]*checkpoint.Manifest
			for k := range ms {
				if _, ms[k], err = f.Get(word(args, 1+k)); err != nil {
					return inspected(err)
				}
			}
			if len(args) == 4 {
				return inspected(f.PrintDiffRows(p, ms, word(args, 3), where))
			}
			if where != "" {
				return usage("--where goes with a stage: `ebb checkpoint diff DIR A B STAGE`")
			}
			return inspected(f.PrintDiff(p, ms))
		},
	}
	outputFlag(cmd, &output)
	whereFlag(cmd, &where)
	return cmd
}
