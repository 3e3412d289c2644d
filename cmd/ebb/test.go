package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/cmd/ebb/testrun"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// usualChaos is how many storms a test is run under unless the command line says otherwise.
const usualChaos = 3

func testCommand() *cobra.Command {
	var flags scriptFlags
	var o testrun.Options
	var pattern, output string
	var update bool
	cmd := &cobra.Command{
		Use:   "test FILE… | DIR… | -",
		Short: "Run the tests of scripts",
		Long: "Run the tests of scripts: their `test` blocks, of folders those of all files that end in .ebb, of pages of Markdown those of their blocks.\n\n" +
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
				return usage("`%s` takes scripts, folders, or `-` for standard input: `ebb test .` runs all tests below the folder you are in", cmd.CommandPath())
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
			if update && slices.Contains(args, "-") {
				return usage("--update writes into files; what comes from standard input is in none")
			}
			t := &tests{options: o}
			t.wrong = readTexts(args, t.add)
			if update {
				if err := t.update(); err != nil {
					return err
				}
			}
			return t.run(args, output)
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

// tests are the scripts that are tested.
type tests struct {
	options testrun.Options
	files   []*testFile
	wrong   []error // files that cannot be read
}

// testFile is a script, or a page of Markdown with scripts in it.
type testFile struct {
	name, original string
	page           *syntax.Source // nil: it is one script
	blocks         []*syntax.Block
	scripts        []testrun.Text // the one script, or one for each block
}

func (t *tests) add(name, text string) { t.files = append(t.files, newTestFile(name, text)) }

func newTestFile(name, text string) *testFile {
	f := &testFile{name: name, original: text}
	if !isPage(name) {
		f.scripts = []testrun.Text{{Name: name, Text: text}}
		return f
	}
	f.page = syntax.NewSource(name, text)
	f.blocks = syntax.Blocks(f.page)
	files := pageFiles(f.page, disk.OS{})
	for _, b := range f.blocks {
		f.scripts = append(f.scripts, testrun.Text{Name: name, Text: b.Text, Block: b, Files: files})
	}
	return f
}

// update writes the rows that come into the expectations that differ.
func (t *tests) update() error {
	o := t.options
	o.Chaos, o.Cover = 0, false
	for i, f := range t.files {
		texts := make([]string, len(f.scripts))
		count := 0
		for k, x := range f.scripts {
			texts[k] = x.Text
			r := &testrun.Report{}
			s := r.Add(x, o)
			if s == nil || r.Failed() == 0 {
				continue
			}
			u, err := s.Update(r.Results)
			if err != nil {
				fmt.Fprintf(os.Stderr, "ebb: %s is not updated: %v\n", f.name, err)
				continue
			}
			for _, x := range u.Left {
				fmt.Fprintf(os.Stderr, "ebb: %s:%d is not updated: %s\n", f.name, x.Line, x.Why)
			}
			if u.Count > 0 {
				texts[k], count = u.Text, count+u.Count
			}
		}
		if count == 0 {
			continue
		}
		text := texts[0]
		if f.page != nil {
			text = syntax.Replace(f.page, f.blocks, texts)
		}
		text = lint.Restore(f.original, text)
		if err := replaceFile(f.name, text); err != nil {
			return &status{exitOutput, fmt.Errorf("cannot write %s: %w", f.name, reason(err))}
		}
		t.files[i] = newTestFile(f.name, text)
		what := "expectations"
		if count == 1 {
			what = "expectation"
		}
		fmt.Fprintf(os.Stderr, "ebb: %s: %d %s updated\n", f.name, count, what)
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
	r.Add(testrun.Text{Name: name, Text: text}, o)
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

// run runs the tests and writes the report.
func (t *tests) run(args []string, output string) error {
	r := &testrun.Report{}
	for _, err := range t.wrong {
		b := testrun.Broken{Text: "ebb: " + err.Error()}
		if u := (*unread)(nil); errors.As(err, &u) {
			b.File = u.name
		}
		r.Broken = append(r.Broken, b)
	}
	for _, f := range t.files {
		for _, x := range f.scripts {
			r.Add(x, t.options)
		}
	}
	for _, x := range r.Broken {
		fmt.Fprintln(os.Stderr, x.Text)
	}
	if len(r.Results) == 0 && len(r.Broken) == 0 {
		names := slices.Clone(args)
		if i := slices.Index(names, "-"); i >= 0 {
			names[i] = stdinName
		}
		where := strings.Join(names, ", ")
		what := "no tests in " + where
		if t.options.Match != nil {
			what = "no test matches --run in " + where
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
