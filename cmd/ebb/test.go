package main

import (
	"errors"
	"fmt"
	"io"
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
	var update bool
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
			if update {
				if err := updateTests(paths, o); err != nil {
					return err
				}
			}
			return test(paths, args, o, output)
		},
	}
	asScript(cmd)
	flags.add(cmd)
	cmd.Flags().Lookup("parallelism").Usage = "at most `N` tasks of each kind (default 1)"
	cmd.Flags().Lookup("command").Hidden = true
	cmd.Flags().StringVar(&pattern, "run", "", "run the tests whose names match a regular expression, the `PATTERN`")
	cmd.Flags().StringVar(&output, "output", "text", "`FORMAT` of the report: "+strings.Join(testrun.Formats, ", "))
	cmd.Flags().BoolVar(&update, "update", false, "write the rows that come into the expectations that differ")
	cmd.Flags().BoolVar(&o.Cover, "cover", false, "say which stages, arms of split, late rows and failing rows no test has seen")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "`N` that chaos begins with; the same seed gives the same run")
	cmd.Flags().IntVar(&o.Chaos, "chaos", usualChaos, "run each test `N` more times under chaos")
	cmd.RegisterFlagCompletionFunc("run", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(testrun.Formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("seed", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("chaos", cobra.NoFileCompletions)
	return cmd
}

// asScript makes a wrong use of a command end with the status of a wrong script, as it is for all that look at scripts.
func asScript(cmd *cobra.Command) {
	change := func(err error) error {
		var s *status
		if errors.As(err, &s) && s.code == exitUsage {
			s.code = exitScript
		}
		return err
	}
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return change(run(cmd, args)) }
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return change(flagError(cmd, err)) })
}

// updateTests writes the rows that come into the expectations that differ.
func updateTests(paths []string, o testrun.Options) error {
	o.Chaos = 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return &status{exitScript, fmt.Errorf("cannot read %s: %w", path, reason(err))}
		}
		r := &testrun.Report{}
		s := r.Add(path, string(text), o)
		if s == nil || r.Failed() == 0 {
			continue
		}
		u, err := s.Update(r.Results, string(text))
		if err != nil {
			fmt.Fprintf(os.Stderr, "ebb: %s is not updated: %v\n", path, err)
			continue
		}
		for _, x := range u.Left {
			fmt.Fprintf(os.Stderr, "ebb: %s:%d is not updated: %s\n", path, x.Line, x.Why)
		}
		if u.Count == 0 {
			continue
		}
		if err := replaceFile(path, u.Text); err != nil {
			return &status{exitOutput, fmt.Errorf("cannot write %s: %w", path, reason(err))}
		}
		what := "expectations"
		if u.Count == 1 {
			what = "expectation"
		}
		fmt.Fprintf(os.Stderr, "ebb: %s: %d %s updated\n", path, u.Count, what)
	}
	return nil
}

// testSession runs the tests of the script of a session.
func testSession(show io.Writer, name, text string, set map[string]string, pattern string) error {
	o := testrun.Options{Set: set, Seed: 1, Chaos: usualChaos}
	var err error
	if o.Match, err = testrun.Pattern(pattern); err != nil {
		return fmt.Errorf("the pattern is no regular expression: %w", err)
	}
	r := &testrun.Report{}
	r.Add(name, text, o)
	switch {
	case len(r.Broken) > 0:
		return errors.New(r.Broken[0].Text)
	case len(r.Results) == 0 && pattern != "":
		return fmt.Errorf("no test matches %s", pattern)
	case len(r.Results) == 0:
		return errors.New("the script has no tests: a test is a statement, `test \"NAME\" { … }`")
	}
	if err := r.Write(show, "text"); err != nil {
		return err
	}
	if n := r.Failed(); n == 1 {
		return errors.New("a test failed")
	} else if n > 1 {
		return fmt.Errorf("%d tests failed", n)
	}
	return nil
}

// test runs the tests of scripts and writes the report.
func test(paths, args []string, o testrun.Options, output string) error {
	r := testrun.Files(paths, o)
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
