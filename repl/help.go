package repl

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/stdlib"
)

// Greeting is what a session on a terminal begins with: three lines that lead to a result in a minute.
func Greeting(version string) string {
	return "Ebb " + version + ": .demo is a live job to play with, .help lists what there is. Or type:\n" +
		"  nexmark(\"bid\", events: 1000) |> where price > 1_000_000\n" +
		"  |> aggregate n = count() by auction |> sort by n desc |> limit 5"
}

// Topics are all names that Help knows: commands with their dot, what the catalog has, and codes.
func Topics(lib *stdlib.Catalog) []string {
	var out []string
	for _, c := range Commands() {
		out = append(out, "."+c.Name)
	}
	out = append(out, lib.AllNames()...)
	return append(out, lint.Codes()...)
}

// Help explains a name: a command with or without its dot, a stage, connector, aggregate or function, or the code of a
// diagnostic. The error says what was perhaps meant.
func Help(lib *stdlib.Catalog, name string) (string, error) {
	var parts []string
	if c := findCommand(strings.TrimPrefix(name, ".")); c != nil {
		parts = append(parts, c.help())
	}
	if text := lib.Help(name); text != "" {
		parts = append(parts, text)
	}
	code := strings.ToUpper(strings.Trim(name, "[]"))
	if r := lint.Find(code); r != nil {
		parts = append(parts, lint.Explain(r))
	}
	if parts == nil {
		hint := ""
		if m := suggest(name, Topics(lib)); m != "" {
			hint = fmt.Sprintf("; did you mean `%s`?", m)
		}
		return "", fmt.Errorf("nothing is called %q%s", name, hint)
	}
	return strings.Join(parts, "\n"), nil
}

// suggest is syntax.Suggest for names that may lack the dot of a command.
func suggest(name string, topics []string) string {
	if m := syntax.Suggest(name, topics); m != "" {
		return m
	}
	return syntax.Suggest("."+name, topics)
}

// codeIndex lists the codes, a line each.
func codeIndex() string { return lint.Index() }

// commandIndex lists the commands by group, a line each.
func commandIndex() string {
	var s strings.Builder
	for _, g := range groups {
		lines := ""
		for _, c := range Commands() {
			if c.Group == g {
				lines += fmt.Sprintf("  %-13s %s\n", "."+c.Name, c.Summary)
			}
		}
		if lines != "" {
			fmt.Fprintf(&s, "%s\n%s\n", g, lines)
		}
	}
	return s.String()
}

// help is the page of a command.
func (c *Command) help() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s\n\n%s\n", c.Usage(), sentence(c.Summary))
	if c.Text != "" {
		fmt.Fprintf(&s, "%s\n", strings.TrimSpace(c.Text))
	}
	if len(c.Flags) > 0 {
		s.WriteByte('\n')
	}
	for _, f := range c.Flags {
		fmt.Fprintf(&s, "  %-16s %s\n", strings.TrimSpace(f.Name+" "+f.Value), f.Text)
	}
	return s.String()
}

// sentence makes a sentence of a line that is none.
func sentence(line string) string {
	if line == "" {
		return ""
	}
	return strings.ToUpper(line[:1]) + strings.TrimSuffix(line[1:], ".") + "."
}

// Manual describes all commands as Markdown.
func Manual() string {
	var s strings.Builder
	s.WriteString(manualHead)
	for _, g := range groups {
		fmt.Fprintf(&s, "\n## %s\n", strings.ToUpper(g[:1])+g[1:])
		for _, c := range Commands() {
			if c.Group != g {
				continue
			}
			fmt.Fprintf(&s, "\n### .%s\n\n`%s`\n\n%s\n", c.Name, c.Usage(), sentence(c.Summary))
			if c.Text != "" {
				fmt.Fprintf(&s, "%s\n", strings.TrimSpace(c.Text))
			}
			for i, f := range c.Flags {
				if i == 0 {
					s.WriteByte('\n')
				}
				fmt.Fprintf(&s, "- `%s`: %s\n", strings.TrimSpace(f.Name+" "+f.Value), f.Text)
			}
		}
	}
	return s.String()
}

const manualHead = `# The session

` + "`ebb`" + ` on a terminal, or ` + "`ebb repl [FILE]`" + `, starts a session. [tour.md](tour.md) is the way in. This page is made from the commands by
` + "`make gen`" + `; ` + "`.help NAME`" + ` shows the same.

A pipeline without an output is shown at once, and Ctrl-C ends what is shown. All other statements build the script of the session;
` + "`.run`" + ` runs it in the background. A line that ends in an open bracket, ` + "`|>`" + `, a comma or an operator goes on in the next; a line that begins
with ` + "`|>`" + ` extends the last pipeline. Commands begin with a dot. Where a command takes an ID of a checkpoint, its name or -N (N before the
newest) stands as well. A command acts on the newest job, or on the one that ` + "`-j JOB`" + ` names.
`
