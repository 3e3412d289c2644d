package main

import (
	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
)

func checkCommand() *cobra.Command {
	var flags scriptFlags
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Do everything but running: fails exactly where run would refuse a script",
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := flags.options()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("command") || len(args) == 0 {
				name, text, err := flags.script(cmd, args)
				if err != nil {
					return err
				}
				_, err = compile(name, text, exec.OS(), o)
				return err
			}
			var worst error
			for _, path := range args {
				name, text, err := readScript(path)
				if err != nil {
					return err
				}
				if _, err := compile(name, text, exec.OS(), o); err != nil {
					worst = err
				}
			}
			return worst
		},
	}
	flags.add(cmd)
	return cmd
}
