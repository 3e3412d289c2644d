package lint

import (
	_ "embed" // for the head of the manual
	"fmt"
	"strings"
	"unicode"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Find returns the rule with a code. What the parser and the checker find is a rule, too, if nothing more is known of it. nil:
// there is no such code.
func Find(code string) *Rule {
	for _, r := range rules {
		if r.Code == code {
			return r
		}
	}
	text, ok := syntax.Codes[syntax.Code(code)]
	if !ok {
		text, ok = check.Codes[code]
	}
	if !ok {
		return nil
	}
	r := &Rule{Code: code, Name: wordsOf(text), Text: sentence(text)}
	if code == unopened {
		r.Severity = syntax.SevInfo
	}
	return r
}

// unopened is the code of an input that cannot be opened. The script may be right, and the linter judges scripts.
const unopened = "I601"

// wordsOf makes a name of what a code means: its words up to a comma or colon, with hyphens.
func wordsOf(text string) string {
	text, _, _ = strings.Cut(text, ":")
	text, _, _ = strings.Cut(text, ",")
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) > 1 && (words[0] == "a" || words[0] == "an") {
		words = words[1:]
	}
	return strings.Join(words, "-")
}

// sentence makes a sentence of what a code means. Names keep their first letter.
func sentence(text string) string {
	if first, _, _ := strings.Cut(text, " "); !strings.ContainsAny(first, "_(") {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text + "."
}

// Name is the name of the rule that a finding comes from.
func (f Finding) Name() string {
	if f.Rule != nil {
		return f.Rule.Name
	}
	if r := Find(f.Code); r != nil {
		return r.Name
	}
	return ""
}

// family says what the rules of a letter are about.
var families = []struct{ letter, name string }{
	{"P", "how a script is put together"},
	{"N", "names"},
	{"T", "types"},
	{"C", "stages, clauses and connectors"},
	{"X", "expressions"},
	{"W", "windows, time and changes"},
	{"S", "state"},
	{"K", "keys and exchanges"},
	{"D", "determinism: what happens when rows are read again"},
	{"O", "operations"},
	{"U", "files and params"},
	{"I", "inputs"},
	{"F", "form"},
	{"L", "comments that suppress findings"},
}

// Page describes a rule in Markdown.
func Page(r *Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n%s", r.Code, r.Name, severity(r))
	if r.Fix != NoFix {
		fmt.Fprintf(&b, ", %s fix", r.Fix)
	}
	fmt.Fprintf(&b, ". %s\n", r.Text)
	if r.Why != "" {
		fmt.Fprintf(&b, "\n%s\n", r.Why)
	}
	if r.Bad != "" {
		fmt.Fprintf(&b, "\n%s\nbetter:\n\n%s", indent(r.Bad), indent(r.Good))
	}
	return b.String()
}

func severity(r *Rule) string {
	return map[syntax.Severity]string{syntax.SevError: "Error", syntax.SevWarn: "Warning", syntax.SevInfo: "Information"}[r.Severity]
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if line != "\n" {
			line = "    " + line
		}
		b.WriteString(line)
	}
	return b.String()
}

// Explain describes a rule for a terminal.
func Explain(r *Rule) string {
	return strings.TrimPrefix(Page(r), "### ")
}

// Index lists all codes, a line each.
func Index() string {
	var b strings.Builder
	for _, c := range Codes() {
		r := Find(c)
		fmt.Fprintf(&b, "%s  %-5s  %-6s  %s\n", c, r.Severity, strings.Replace(r.Fix.String(), "none", "", 1), r.Text)
	}
	return b.String()
}

//go:embed manual.md
var manualHead string

// Manual describes the linter and all rules in Markdown, a section for each family.
func Manual() string {
	var b strings.Builder
	b.WriteString(manualHead)
	for _, f := range families {
		var list []string
		for _, c := range Codes() {
			if strings.HasPrefix(c, f.letter) {
				list = append(list, c)
			}
		}
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s: %s\n", f.letter, f.name)
		var plain []*Rule
		for _, c := range list {
			if r := Find(c); r.Why == "" {
				plain = append(plain, r)
			} else {
				b.WriteString("\n" + Page(r))
			}
		}
		if len(plain) > 0 {
			b.WriteString("\nErrors of the parser and the checker, also shown by `ebb check`:\n\n| code | what |\n|---|---|\n")
			for _, r := range plain {
				fmt.Fprintf(&b, "| %s | %s |\n", r.Code, strings.ReplaceAll(r.Text, "|", "\\|"))
			}
		}
	}
	return b.String()
}
