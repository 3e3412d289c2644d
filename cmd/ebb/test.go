package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/cmd/ebb/testrun"
)

// usualChaos is how many storms a test is run under unless the command line says otherwise.
const usualChaos = 3

func testCommand() *cobra.Command {
	var flags scriptFlags
	var o testrun.Options
	var pattern, output string
	cmd := &cobra.Command{
		Use:   "test FILE… | DIR…",
		Short: "Run the tests of scripts",
		Long: "Run the tests of scripts: their `test` blocks, of folders those of all files that end in .ebb.\n\n" +
			"A test is run on one goroutine with a clock of its own; its outputs and checkpoints stay in memory, so nothing is written. " +
			"Each test that passes is run again under chaos: checkpoints, crashes and restarts at other parallelisms at random, which must " +
			"make no difference. The status is 0 if all tests pass, 1 if one fails, 2 if a script has errors.",
		ValidArgsFunction: scriptFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := flags.options(cmd)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return usage("`%s` takes scripts or folders: `ebb test .` runs all tests below the folder you are in", cmd.CommandPath())
			}
			if !slices.Contains(testrun.Formats, output) {
				return usage("--output takes %s, not %q", strings.Join(testrun.Formats, ", "), output)
			}
			if o.Chaos < 0 {
				return usage("--chaos takes how often a test is run under chaos, 0 or more, not %d", o.Chaos)
			}
			if o.Match, err = testrun.Pattern(pattern); err != nil {
				return usage("--run takes a regular expression: %v", err)
			}
			o.Set, o.Parallelism = plan.Set, plan.Parallelism
			paths, err := testrun.Find(args)
			if err != nil {
				return &status{exitScript, err}
			}
			return test(paths, args, o, output)
		},
	}
	flags.add(cmd)
	cmd.Flags().Lookup("parallelism").Usage = "at most `N` tasks of each kind (default 1)"
	cmd.Flags().Lookup("command").Hidden = true
	cmd.Flags().StringVar(&pattern, "run", "", "run the tests whose names match a regular expression, the `PATTERN`")
	cmd.Flags().StringVar(&output, "output", "text", "`FORMAT` of the report: "+strings.Join(testrun.Formats, ", "))
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "`N` that chaos begins with; the same seed gives the same run")
	cmd.Flags().IntVar(&o.Chaos, "chaos", usualChaos, "run each test `N` more times under chaos")
	cmd.RegisterFlagCompletionFunc("run", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(testrun.Formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("seed", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("chaos", cobra.NoFileCompletions)
	return cmd
}

// test runs the tests of scripts and writes the report.
func test(paths, args []string, o testrun.Options, output string) error {
	r := testrun.Files(paths, o, nil)
	for _, x := range r.Broken {
		fmt.Fprintln(os.Stderr, x.Text)
	}
	if len(r.Results) == 0 && len(r.Broken) == 0 {
		what := "no tests in " + strings.Join(args, ", ")
		if o.Match != nil {
			what = "no test matches --run in " + strings.Join(args, ", ")
		}
		fmt.Fprintln(os.Stderr, "ebb: "+what)
	}
	if output != "text" || len(r.Results) > 0 {
		if err := r.Write(os.Stdout, output); err != nil {
			return &status{exitOutput, errors.Join(errors.New("cannot write the report"), err)}
		}
	}
	switch {
	case len(r.Broken) > 0:
		return &status{code: exitScript}
	case r.Failed() > 0:
		return &status{code: exitFailed}
	}
	return nil
}
