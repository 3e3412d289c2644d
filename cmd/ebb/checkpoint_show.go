package main

import (
	"github.com/spf13/cobra"
)

func checkpointShow() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:               "show DIR [ID]",
		Short:             "Show what a checkpoint consists of: sources, states, rows in flight, outputs, times",
		Args:              checkpointArgs(0, 1, "a checkpoint folder and a checkpoint"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := printer(output, "table", "json")
			if err != nil {
				return err
			}
			f, i, m, err := openCheckpoint(args)
			if err != nil {
				return err
			}
			defer f.Close()
			if p.Format == "json" {
				return inspected(f.PrintJSON(p, i, m))
			}
			return inspected(f.PrintManifest(p, i, m))
		},
	}
	cmd.Flags().StringVar(&output, "output", "table", "`FORMAT` of what is printed: table or json")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
