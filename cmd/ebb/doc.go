package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/repl"
	"github.com/ebb-lang/ebb/stdlib"
)

func docCommand() *cobra.Command {
	var markdown, commands, rules, grammar bool
	cmd := &cobra.Command{
		Use:   "doc [NAME]",
		Short: "Show what the language offers: all of it, or one statement, stage, clause, function, connector, error code or command of the session",
		Args:  noMoreThan(1, "one name"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return repl.Topics(stdlib.New()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			lib := stdlib.New()
			if markdown {
				_, err := os.Stdout.WriteString(lib.Reference())
				return err
			}
			if commands {
				_, err := os.Stdout.WriteString(repl.Manual())
				return err
			}
			if rules {
				_, err := os.Stdout.WriteString(lint.Manual())
				return err
			}
			if grammar {
				text, err := textMate(lib)
				if err == nil {
					_, err = os.Stdout.Write(text)
				}
				return err
			}
			if len(args) == 0 {
				_, err := os.Stdout.WriteString(lib.Index())
				return err
			}
			text, err := repl.Help(lib, args[0])
			if err != nil {
				return usage("%v", err)
			}
			_, err = os.Stdout.WriteString(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "the whole reference manual as Markdown")
	cmd.Flags().BoolVar(&commands, "session", false, "the commands of the session as Markdown")
	cmd.Flags().BoolVar(&rules, "lint", false, "the rules of the linter as Markdown")
	cmd.Flags().BoolVar(&grammar, "textmate", false, "the grammar that editors colour scripts by, in the form of TextMate")
	cmd.MarkFlagsMutuallyExclusive("markdown", "session", "lint", "textmate")
	return cmd
}
