package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/cmd/ebb/langserver"
	"github.com/ebb-lang/ebb/lang/lint"
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
			if err := langserver.Serve(context.Background(), os.Stdin, os.Stdout, langserver.Options{Version: version, Choice: choiceOf}); err != nil {
				return &status{exitFailed, err}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "taken because many editors give it; nothing else is spoken")
	cmd.Flags().MarkHidden("stdio")
	return cmd
}

// choiceOf is what the configuration nearest to a script says about findings. One that is wrong says nothing: `ebb lint`
// tells what is wrong with it.
func choiceOf(path string) lint.Choice {
	c, err := nearestConfig(filepath.Dir(path), map[string]*foundConfig{})
	if err != nil || c == nil {
		return lint.Choice{}
	}
	return c.For(c.relative(path))
}
