package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/lint/report"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// linting is what the command line of `ebb lint` says.
type linting struct {
	outputs    []string
	choice     lint.Choice
	failOn     string
	explain    string
	statistics bool
	exitZero   bool
	fix        bool
	unsafe     bool
	diff       bool
	against    string
}

func lintCommand() *cobra.Command {
	var l linting
	var formats []string
	for _, f := range report.Formats() {
		formats = append(formats, f.Name)
	}
	cmd := &cobra.Command{
		Use:   "lint FILE|DIR… | -",
		Short: "Find what is suspicious in scripts: state without end, late rows that vanish, names that nothing uses",
		Long: "Find what is suspicious in scripts: state without end, late rows that vanish, names that nothing uses. Of a folder all *.ebb below it " +
			"are read, and the `ebb` blocks of its Markdown pages.\n\n" +
			"The exit status is 0 if nothing is found, 1 if something is found that --fail-on names or worse, 2 if a file cannot be read or the command " +
			"line or the configuration is wrong. The nearest " + lint.ConfigName + ", from the folder of a file upwards, holds the choices of a project. " +
			"In a script, `// lint:ignore CODE reason` says that a finding is meant.",
		ValidArgsFunction: scriptFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := l.run(args)
			s, told := errors.AsType[*status](err)
			switch {
			case err == nil:
			case !told:
				err = &status{exitScript, fmt.Errorf("cannot write standard output: %w", reason(err))}
			case s.code == exitUsage:
				s.code = exitScript
			}
			return err
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		err = flagError(cmd, err)
		var s *status
		if errors.As(err, &s) {
			s.code = exitScript
		}
		return err
	})
	f := cmd.Flags()
	f.StringArrayVar(&l.outputs, "output", []string{"text"}, "how findings are written: `FORMAT[:FILE]`, one of "+strings.Join(formats, ", ")+"; may be given several times")
	f.StringSliceVar(&l.choice.Select, "select", nil, "look only for these `CODES`; the beginning of a code stands for all that start with it")
	f.StringSliceVar(&l.choice.ExtendSelect, "extend-select", nil, "look for these `CODES`, too")
	f.StringSliceVar(&l.choice.Ignore, "ignore", nil, "do not look for these `CODES`")
	f.StringVar(&l.failOn, "fail-on", "error", "the least `SEVERITY` that makes the exit status 1: error, warn or info")
	f.StringVar(&l.explain, "explain", "", "say what a `CODE` means; `all` lists them")
	f.BoolVar(&l.statistics, "statistics", false, "count findings by code in place of showing them")
	f.BoolVar(&l.exitZero, "exit-zero", false, "end with exit status 0 whatever is found")
	f.BoolVar(&l.fix, "fix", false, "make the safe fixes, those that do not change what a script does")
	f.BoolVar(&l.unsafe, "unsafe-fixes", false, "make the unsafe fixes, too: look at what they did")
	f.StringVar(&l.against, "against", "", "compare the script with a `CHECKPOINT` of it: an ID, a name, -N, or FOLDER#ID")
	f.BoolVar(&l.diff, "diff", false, "show what --fix would change, and write nothing")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]string{"error", "warn", "info"}, cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"select", "extend-select", "ignore", "explain"} {
		cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(lint.Codes(), cobra.ShellCompDirectiveNoFileComp))
	}
	// What the command line does not say is left to the configuration.
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if !cmd.Flags().Changed("fail-on") {
			l.failOn = ""
		}
	}
	return cmd
}

func (l *linting) run(args []string) error {
	if l.explain != "" {
		return explainCode(l.explain)
	}
	if len(args) == 0 {
		return usage("`ebb lint` takes files, folders, or `-` for standard input")
	}
	var outputs []output
	for _, o := range l.outputs {
		name, path, _ := strings.Cut(o, ":")
		f, err := report.Find(name)
		if err != nil {
			return usage("%v", err)
		}
		if path != "" && slices.ContainsFunc(outputs, func(o output) bool { return same(o.path, path) }) {
			return usage("two outputs go to %s", path)
		}
		if l.statistics && path == "" && f.Statistics == nil {
			return usage("--statistics has no form as %s; `--output %s:FILE` writes the findings beside it", name, name)
		}
		outputs = append(outputs, output{f, path})
	}
	for _, list := range [][]string{l.choice.Select, l.choice.ExtendSelect, l.choice.Ignore} {
		for _, code := range list {
			if err := lint.CheckPrefix(code); err != nil {
				return usage("%v", err)
			}
		}
	}
	if l.failOn != "" {
		if _, err := lint.ParseSeverity(l.failOn); err != nil {
			return usage("--fail-on: %v", err)
		}
	}

	g := gather(args)
	for _, o := range outputs {
		if o.path != "" && slices.ContainsFunc(g.files, func(f *lintFile) bool { return same(f.name, o.path) }) {
			return usage("the output would replace the script %s", o.path)
		}
	}
	if err := g.configure(l); err != nil {
		return err
	}
	if err := g.compare(l.against); err != nil {
		return err
	}
	found := g.look()
	changed := false
	if l.fix || l.unsafe || l.diff {
		most := lint.Safe
		if l.unsafe {
			most = lint.Unsafe
		}
		var err error
		if changed, err = g.mend(most, l.diff); err != nil {
			return err
		}
		if changed && !l.diff {
			found = g.look()
		}
	}
	r := &report.Report{Version: version, Found: found}
	for _, f := range g.files {
		r.Files = append(r.Files, f.name)
	}
	if err := l.write(r, outputs, g.stdin() && (l.fix || l.unsafe)); err != nil {
		return err
	}
	code := exitDone
	if slices.ContainsFunc(found, g.fails) || changed && l.diff {
		code = exitFailed
	}
	if l.exitZero {
		code = exitDone
	}
	for _, err := range g.wrong {
		fmt.Fprintln(os.Stderr, "ebb: "+err.Error())
		code = exitScript
	}
	if code != exitDone {
		return &status{code: code}
	}
	return nil
}

// output is a format and the file that it goes to, "" for standard output.
type output struct {
	*report.Format
	path string
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// write writes the report in all formats. Of those that go to standard output the last one counts.
func (l *linting) write(r *report.Report, outputs []output, scriptOut bool) error {
	var out io.Writer = os.Stdout
	if scriptOut {
		out = os.Stderr
	}
	screen := -1
	for i, o := range outputs {
		if o.path == "" {
			screen = i
			continue
		}
		var b bytes.Buffer
		if err := o.Write(&b, r); err != nil {
			return err
		}
		if err := os.WriteFile(o.path, b.Bytes(), 0o666); err != nil {
			return &status{exitScript, fmt.Errorf("cannot write %s: %w", o.path, reason(err))}
		}
	}
	switch {
	case l.diff:
		return nil
	case l.statistics:
		f, err := report.Find("text")
		if screen >= 0 {
			f = outputs[screen].Format
		}
		if err != nil {
			return err
		}
		return f.Statistics(out, r.Counts())
	case screen < 0:
		return nil
	}
	if err := outputs[screen].Write(out, r); err != nil {
		return err
	}
	if name := outputs[screen].Name; name == "text" || name == "concise" {
		fmt.Fprint(os.Stderr, r.Summary())
	}
	return nil
}

// explainCode says what a code means.
func explainCode(code string) error {
	if code == "all" {
		_, err := os.Stdout.WriteString(lint.Index())
		return err
	}
	r := lint.Find(strings.ToUpper(code))
	if r == nil {
		hint := didYouMean(strings.ToUpper(code), lint.Codes())
		if hint == "" {
			hint = "; `ebb lint --explain all` lists the codes"
		}
		return usage("there is no code %s%s", code, hint)
	}
	_, err := os.Stdout.WriteString(lint.Explain(r))
	return err
}

// atLeast reports whether a severity is as bad as another one.
func atLeast(s, limit syntax.Severity) bool { return s <= limit }
