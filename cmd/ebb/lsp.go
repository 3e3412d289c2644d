package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/cmd/ebb/langserver"
)

func lspCommand() *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor: speak the Language Server Protocol on standard input and output",
		Long: "Serve an editor: speak the Language Server Protocol on standard input and output.\n\n" +
			"Editors start it by themselves; docs/editors.md says how they are told to.",
		Args:              noMoreThan(0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if err := langserver.Serve(context.Background(), os.Stdin, os.Stdout, version); err != nil {
				return &status{exitFailed, err}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "taken because many editors give it; nothing else is spoken")
	cmd.Flags().MarkHidden("stdio")
	return cmd
}
