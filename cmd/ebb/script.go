package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// scriptFlags are the flags of the commands that take a script and its parameters.
type scriptFlags struct {
	set         []string
	text        string
	parallelism int
}

func (f *scriptFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "value of a param, as `NAME=VALUE`; may be given several times")
	cmd.Flags().StringVarP(&f.text, "command", "c", "", "the `SCRIPT` itself instead of a file")
	cmd.Flags().IntVar(&f.parallelism, "parallelism", 0, "tasks of each kind at most (default: what the script sets, else the number of cores)")
}

// script returns the name and text of the one script that a command line names.
func (f *scriptFlags) script(cmd *cobra.Command, args []string) (name, text string, err error) {
	if cmd.Flags().Changed("command") {
		if len(args) > 0 {
			return "", "", usage("both -c and a file")
		}
		return "-c", f.text, nil
	}
	if len(args) != 1 {
		return "", "", usage("`ebb %s` takes one script: a file, `-` for standard input, or -c 'SCRIPT'", cmd.Name())
	}
	return readScript(args[0])
}

func readScript(path string) (name, text string, err error) {
	if path == "-" {
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			return "", "", &status{exitFailed, fmt.Errorf("read the script from standard input: %w", err)}
		}
		return "<stdin>", string(b), nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", "", &status{exitScript, err}
	}
	return path, string(b), nil
}

func (f *scriptFlags) options() (planner.Options, error) {
	o := planner.Options{Set: map[string]string{}, Parallelism: f.parallelism}
	if f.parallelism < 0 {
		return o, usage("--parallelism takes a number of tasks, at least 1")
	}
	for _, s := range f.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return o, usage("--set takes NAME=VALUE, not %q", s)
		}
		o.Set[name] = value
	}
	return o, nil
}

// compile compiles a script and shows its diagnostics; an error means that it must not run.
func compile(name, text string, env *exec.Env, o planner.Options) (*planner.Compiled, error) {
	c, diags, err := planner.Compile(name, text, stdlib.New(), env, o)
	if err != nil {
		return nil, &status{exitFailed, err}
	}
	show(os.Stderr, diags)
	if c == nil {
		code := exitFailed // an input that cannot be opened is no fault of the script
		for _, d := range diags {
			if d.Severity == syntax.SevError && d.Code != "I601" {
				code = exitScript
			}
		}
		return nil, &status{code: code}
	}
	return c, nil
}

// show prints diagnostics, most severe work first in order of the text.
func show(w io.Writer, diags []check.Diagnostic) {
	const most = 100
	for i, d := range diags {
		if i == most {
			fmt.Fprintf(w, "… and %d more\n", len(diags)-most)
			return
		}
		fmt.Fprintln(w, strings.TrimRight(check.Render(d), "\n"))
	}
}

// printed is how pipelines without `into` are written.
func printed(format string) (*types.ConnArgs, error) {
	switch format {
	case "":
		format = "jsonl"
		if isTerminal(os.Stdout) {
			format = "table"
		}
	case "table", "jsonl", "csv":
	default:
		return nil, usage("--output takes table, jsonl or csv, not %q", format)
	}
	return &types.ConnArgs{Name: "console", Args: map[string]any{"format": format}}, nil
}

// exitOf turns the error of a run into an exit status.
func exitOf(err error) error {
	if err == nil {
		return nil
	}
	var out *exec.OutputError
	if errors.As(err, &out) {
		return &status{exitOutput, err}
	}
	return &status{exitFailed, err}
}
