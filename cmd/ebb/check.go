package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
)

func checkCommand() *cobra.Command {
	var flags scriptFlags
	cmd := &cobra.Command{
		Use:               "check FILE… | - | -c SCRIPT",
		Short:             "Do everything but running: fails exactly where run would refuse a script",
		ValidArgsFunction: scriptFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := flags.options(cmd)
			if err != nil {
				return err
			}
			scripts := [][]string{args}
			if len(args) > 1 && !cmd.Flags().Changed("command") {
				scripts = slices.Collect(slices.Chunk(args, 1))
			}
			worst := 0
			for _, one := range scripts {
				env := exec.OS().ReadOnly()
				name, text, err := flags.script(cmd, one, env)
				if err == nil {
					_, err = compile(name, text, env, o)
				}
				var s *status
				if !errors.As(err, &s) {
					continue
				}
				if s.code == exitUsage {
					return err
				}
				if s.err != nil {
					fmt.Fprintln(os.Stderr, "ebb: "+s.err.Error())
				}
				worst = max(worst, s.code)
			}
			if worst > 0 {
				return &status{code: worst}
			}
			return nil
		},
	}
	flags.add(cmd)
	return cmd
}
