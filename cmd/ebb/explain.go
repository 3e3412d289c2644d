package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
)

func explainCommand() *cobra.Command {
	var flags scriptFlags
	forms := map[string]*bool{}
	cmd := &cobra.Command{
		Use:               "explain FILE | - | -c SCRIPT",
		Short:             "Show how a script is planned: logical plan and parallel plan",
		ValidArgsFunction: scriptFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := flags.options(cmd)
			if err != nil {
				return err
			}
			form := ""
			for _, f := range []string{"logical", "physical", "dot", "mermaid", "json"} {
				if *forms[f] {
					if form != "" {
						return usage("both --%s and --%s: give one of them", form, f)
					}
					form = f
				}
			}
			env := exec.OS().ReadOnly()
			name, text, err := flags.script(cmd, args, env)
			if err != nil {
				return err
			}
			c, err := compile(name, text, env, o)
			if err != nil {
				return err
			}
			out, err := c.Explain(form)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(os.Stdout, out)
			return err
		},
	}
	flags.add(cmd)
	for f, text := range map[string]string{"logical": "the logical plan only", "physical": "the parallel plan only", "dot": "the parallel plan for Graphviz",
		"mermaid": "the parallel plan as a Mermaid flowchart", "json": "both plans for programs"} {
		forms[f] = cmd.Flags().Bool(f, false, text)
	}
	return cmd
}
