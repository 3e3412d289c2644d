package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
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

// mostTasks bounds --parallelism: more tasks of a kind than this only cost memory.
const mostTasks = 1024

func (f *scriptFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "value of a param, as `NAME=VALUE`; may be given several times")
	cmd.Flags().StringVarP(&f.text, "command", "c", "", "the `SCRIPT` itself instead of a file")
	cmd.Flags().IntVar(&f.parallelism, "parallelism", 0, "at most `N` tasks of each kind (default: what the script sets, else the number of cores)")
	cmd.RegisterFlagCompletionFunc("set", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("command", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("parallelism", cobra.NoFileCompletions)
}

// scriptFiles completes the names of scripts.
func scriptFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"ebb"}, cobra.ShellCompDirectiveFilterFileExt
}

// script returns the name and text of the one script that a command line names.
func (f *scriptFlags) script(cmd *cobra.Command, args []string, env *exec.Env) (name, text string, err error) {
	given := cmd.Flags().Changed("command")
	switch {
	case given && len(args) == 0:
		return "-c", f.text, nil
	case given:
		return "", "", usage("both -c and the file %s: give one of them", args[0])
	case len(args) == 1:
		return readScript(args[0], env)
	}
	number := "one script"
	if cmd.Name() == "check" {
		number = "scripts"
	}
	return "", "", usage("`%s` takes %s: a file, `-` for standard input, or -c 'SCRIPT'", cmd.CommandPath(), number)
}

// readScript reads a script. One that comes on standard input leaves nothing there for the sources.
func readScript(path string, env *exec.Env) (name, text string, err error) {
	if path == "-" {
		b, err := io.ReadAll(env.Stdin)
		if err != nil {
			return "", "", &status{exitScript, fmt.Errorf("cannot read the script from standard input: %w", err)}
		}
		env.Stdin = scriptRead{}
		return "<stdin>", string(b), nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", "", &status{exitScript, fmt.Errorf("cannot read the script %s: %w%s", path, reason(err), otherScript(path, err))}
	}
	return path, string(b), nil
}

// scriptRead is a standard input that held the script.
type scriptRead struct{}

func (scriptRead) Read([]byte) (int, error) {
	return 0, errors.New("standard input is the script; give the script as a file or with -c")
}

// reason takes the operation and the path off an error of a file.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// otherScript says what was perhaps meant by a path that leads to no script.
func otherScript(path string, err error) string {
	if strings.Contains(path, "|>") || strings.ContainsAny(path, "\n(") {
		return "; a script on the command line stands behind -c"
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.ebb"))
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	if s := syntax.Suggest(filepath.Base(path), files); s != "" {
		return "; did you mean `" + filepath.Join(filepath.Dir(path), s) + "`?"
	}
	if _, err := os.Stat(path + ".ebb"); err == nil {
		return "; did you mean `" + path + ".ebb`?"
	}
	return ""
}

func (f *scriptFlags) options(cmd *cobra.Command) (planner.Options, error) {
	o := planner.Options{Set: map[string]string{}, Parallelism: f.parallelism}
	if cmd.Flags().Changed("parallelism") && (f.parallelism < 1 || f.parallelism > mostTasks) {
		return o, usage("--parallelism takes a number of tasks from 1 to %d, not %d", mostTasks, f.parallelism)
	}
	for _, s := range f.set {
		name, value, ok := strings.Cut(s, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return o, usage("--set takes NAME=VALUE, not %q", s)
		}
		if _, twice := o.Set[name]; twice {
			return o, usage("--set gives %s twice", name)
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
		return nil, &status{code: refusal(diags)}
	}
	if len(c.Script.Writes) == 0 {
		fmt.Fprintf(os.Stderr, "ebb: %s: there is nothing to run: no pipeline is printed or goes `into` a connector or a sink; `into NAME` makes a stream, which something must read\n", name)
	}
	return c, nil
}

// refusal is the exit status of a script with errors: if only its inputs cannot be opened, the script may be right.
func refusal(diags []check.Diagnostic) int {
	for _, d := range diags {
		if d.Severity == syntax.SevError && d.Code != "I601" {
			return exitScript
		}
	}
	return exitFailed
}

// show prints diagnostics in the order of the text.
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
	var misfits *exec.MisfitsError
	if errors.As(err, &misfits) {
		return &status{exitScript, misfits}
	}
	var out *exec.OutputError
	var folder *checkpoint.FolderError
	if errors.As(err, &out) || errors.As(err, &folder) {
		return &status{exitOutput, err}
	}
	return &status{exitFailed, err}
}
