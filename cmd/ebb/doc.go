package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/stdlib"
)

func docCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "doc [NAME]",
		Short: "Show what the language offers: all of it, or one function, aggregate, stage or connector",
		Args:  noMoreThan(1, "one name"),
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
				return usage("nothing is called %q%s", args[0], didYouMean(args[0], lib.AllNames()))
			}
			_, err := os.Stdout.WriteString(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "the whole reference manual as Markdown")
	return cmd
}
