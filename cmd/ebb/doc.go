package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/stdlib"
)

func docCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "doc [NAME]",
		Short: "Show what the language offers: all of it, or one function, aggregate, stage or connector",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return stdlib.New().AllNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			lib := stdlib.New()
			if markdown {
				_, err := os.Stdout.WriteString(lib.Reference())
				return err
			}
			if len(args) == 0 {
				_, err := os.Stdout.WriteString(lib.Index())
				return err
			}
			text := lib.Help(args[0])
			if text == "" {
				hint := ""
				if s := syntax.Suggest(args[0], lib.AllNames()); s != "" {
					hint = "; did you mean `" + s + "`?"
				}
				return usage("nothing is called %q%s", strings.TrimSpace(args[0]), hint)
			}
			_, err := os.Stdout.WriteString(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "the whole reference manual as Markdown")
	return cmd
}
