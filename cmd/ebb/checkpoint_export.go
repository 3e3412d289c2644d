package main

import (
	"os"

	"github.com/spf13/cobra"
)

func checkpointExport() *cobra.Command {
	format := "jsonl"
	cmd := &cobra.Command{
		Use:   "export DIR ID FOLDER",
		Short: "Write the states and the rows in flight of a checkpoint to files, one for each stage and each edge",
		Long: "Write the states and the rows in flight of a checkpoint to files: FOLDER/state/STAGE.jsonl holds what `ebb checkpoint state` prints, " +
			"FOLDER/inflight/EDGE.jsonl what `ebb checkpoint inflight` prints. A FOLDER that is there must be empty.",
		Args:              checkpointArgs(2, 2, "a checkpoint folder, a checkpoint and a folder for the files"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := printer(format, "jsonl", "csv"); err != nil {
				return err
			}
			f, _, m, err := openCheckpoint(args)
			if err != nil {
				return err
			}
			defer f.Close()
			return inspected(f.Export(os.Stdout, m, args[2], format))
		},
	}
	cmd.Flags().StringVar(&format, "output", format, "`FORMAT` of the files: jsonl or csv")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"jsonl", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
