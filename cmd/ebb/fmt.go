package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// formatting is what the command line of `ebb fmt` says, and what came of it.
type formatting struct {
	check, diff bool

	changed bool
	wrong   []error
}

func fmtCommand() *cobra.Command {
	var f formatting
	cmd := &cobra.Command{
		Use:   "fmt FILE|DIR… | -",
		Short: "Give scripts their layout",
		Long: "Give scripts their layout. Files are changed in place and named; `-` is standard input to standard output. Of a folder all *.ebb below it " +
			"are formatted, and the `ebb` blocks of its Markdown pages.\n\n" +
			"Only blanks and line breaks change, never what a script means, and every comment stays. There is nothing to choose. " +
			"Statements with errors stay as they are, with a note.\n\n" +
			"The exit status is 0 if all went well, 1 if --check or --diff found something to change, 2 if a file cannot be read or written.",
		ValidArgsFunction: scriptFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("`ebb fmt` takes files, folders, or `-` for standard input")
			}
			return f.run(args)
		},
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "name the files that would change, and write nothing")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show what would change, and write nothing")
	return cmd
}

func (f *formatting) run(args []string) error {
	// What cannot be read is told behind what can: it is what a person sees last.
	f.wrong = append(readTexts(args, f.file), f.wrong...)
	code := exitDone
	if f.changed && (f.check || f.diff) {
		code = exitFailed
	}
	for _, err := range f.wrong {
		fmt.Fprintln(os.Stderr, "ebb: "+err.Error())
		code = exitScript
	}
	if code != exitDone {
		return &status{code: code}
	}
	return nil
}

// file formats a file.
func (f *formatting) file(name, text string) {
	after, broken := formatted(name, text)
	changed := after != text
	f.changed = f.changed || changed
	out, shown := "", text // what the notes speak of
	switch {
	case f.diff:
		out = unified(name, text, after)
	case f.check && changed:
		out = name + "\n"
	case f.check:
	case name == stdinName:
		out = after
	case changed:
		if err := replaceFile(name, after); err != nil {
			f.wrong = append(f.wrong, fmt.Errorf("cannot write %s: %w", name, reason(err)))
			break
		}
		out, shown = name+"\n", after
	}
	if broken {
		notes(name, shown)
	}
	if _, err := os.Stdout.WriteString(out); err != nil {
		f.wrong = append(f.wrong, fmt.Errorf("cannot write standard output: %w", reason(err)))
	}
}

// formatted returns the text of a script or a page as it should be, and whether parts of it are broken.
func formatted(name, text string) (after string, broken bool) {
	if !isPage(name) {
		after, diags := syntax.Format(name, text)
		return after, len(diags) > 0
	}
	page := syntax.NewSource(name, text)
	blocks := syntax.Blocks(page)
	changed := false
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		var diags []syntax.Diagnostic
		texts[i], diags = syntax.Format(name, b.Text)
		changed = changed || texts[i] != b.Text
		broken = broken || len(diags) > 0
	}
	if !changed {
		return text, broken
	}
	// How the lines of a page end is the page's.
	return lint.Restore(text, syntax.Replace(page, blocks, texts)), broken
}

// notes says what is wrong with the statements that stay as they are.
func notes(name, text string) {
	const most = 10
	n := 0
	say := func(diags []syntax.Diagnostic, lift func(syntax.Pos) syntax.Pos) {
		for _, d := range diags {
			if n++; n <= most {
				at := lift(d.Span.Start)
				fmt.Fprintf(os.Stderr, "%s:%d:%d: left as it is: %s[%s]: %s\n", name, at.Line, at.Column, d.Severity, d.Code, d.Message)
			}
		}
	}
	if isPage(name) {
		for _, b := range syntax.Blocks(syntax.NewSource(name, text)) {
			_, diags := syntax.Parse(name, b.Text)
			say(diags, b.Lift)
		}
	} else {
		_, diags := syntax.Parse(name, text)
		say(diags, func(p syntax.Pos) syntax.Pos { return p })
	}
	if n > most {
		fmt.Fprintf(os.Stderr, "%s: … and %d more\n", name, n-most)
	}
}
