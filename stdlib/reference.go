package stdlib

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/ebb-lang/ebb/stdlib/spec"
)

// kinds are the kinds of definition, in the order of the reference.
var kinds = []struct{ kind, title string }{
	{"statement", "Statements"}, {"stage", "Stages"}, {"clause", "Clauses"}, {"window", "Windows"}, {"conn", "Connectors"}, {"agg", "Aggregates"}, {"func", "Functions"},
}

// doc is the documentation of a definition, nil if there is none.
func (c *Catalog) doc(kind, name string) *spec.Doc {
	if d := c.stages[name]; kind == "stage" && d != nil {
		return &d.Doc
	}
	if d := c.conns[name]; kind == "conn" && d != nil {
		return &d.Doc
	}
	if d := c.aggs[name]; kind == "agg" && d != nil {
		return &d.Doc
	}
	if d := c.funcs[name]; kind == "func" && d != nil {
		return &d.Doc
	}
	for i, d := range words[kind] {
		if d.Name == name {
			return &words[kind][i]
		}
	}
	return nil
}

// Docs returns the documentation of all definitions of a kind ("func", "agg", "stage", "conn"), or of all words of the grammar
// of a kind ("statement", "clause", "window", and a few of "func"), by name.
func (c *Catalog) Docs(kind string) []spec.Doc {
	var out []spec.Doc
	for _, n := range c.names[kind] {
		out = append(out, *c.doc(kind, n))
	}
	return out
}

// AllNames returns the names of everything, sorted, each once.
func (c *Catalog) AllNames() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, c.names[k.kind]...)
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// Index lists everything on a line each.
func (c *Catalog) Index() string {
	sections := make([]string, len(kinds))
	for i, k := range kinds {
		sections[i] = c.section(k.kind, k.title)
	}
	return strings.Join(sections, "\n")
}

// section lists the definitions of a kind.
func (c *Catalog) section(kind, title string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s\n", title)
	for _, d := range c.Docs(kind) {
		first, _, _ := strings.Cut(d.Text, ". ")
		if d.Deprecated != nil {
			first = d.Deprecated.String()
		}
		fmt.Fprintf(&s, "  %-18s %s\n", d.Name, strings.TrimSuffix(first, "."))
	}
	return s.String()
}

// Help is the manual page of a name, "" if nothing is called so. A name of two kinds has both; a word that only stands inside
// of clauses, such as `every`, has theirs, and the title of a kind, such as `windows`, its part of the index.
func (c *Catalog) Help(name string) string {
	var pages []string
	for _, k := range kinds {
		if strings.EqualFold(name, k.title) {
			return c.section(k.kind, k.title)
		}
		if d := c.doc(k.kind, name); d != nil {
			pages = append(pages, c.page(k.kind, d))
		}
	}
	if pages == nil && name == strings.ToLower(name) {
		between := func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }
		for _, kind := range []string{"clause", "window"} {
			for _, d := range c.Docs(kind) {
				if slices.Contains(strings.FieldsFunc(d.Signature, between), name) {
					pages = append(pages, c.page(kind, &d))
				}
			}
		}
	}
	return strings.Join(pages, "\n")
}

func (c *Catalog) page(kind string, d *spec.Doc) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s\n\n%s\n", d.Signature, d.Body())
	if def := c.conns[d.Name]; def != nil && kind == "conn" {
		s.WriteString(options(def))
	}
	for _, e := range d.Examples {
		fmt.Fprintf(&s, "\n%s\n", indent(e.Code))
		if e.Want != "" {
			fmt.Fprintf(&s, "%s\n", indent(arrow(e.Want)))
		}
	}
	return s.String()
}

func options(d *spec.Conn) string {
	var s strings.Builder
	s.WriteString("\noptions\n")
	for _, p := range d.Params {
		t := p.Type.String()
		if p.Row {
			t = "columns"
		} else if p.Literal {
			t = "literal"
		}
		if p.Required {
			t += ", required"
		} else if p.Default != nil {
			t += fmt.Sprintf(", default %v", p.Default)
		}
		if p.Deprecated != nil {
			t += ", " + p.Deprecated.String()
		}
		fmt.Fprintf(&s, "  %s (%s): %s\n", p.Name, t, p.Text)
	}
	return s.String()
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

func arrow(s string) string { return "→ " + strings.ReplaceAll(s, "\n", "\n  ") }

// Reference is the reference manual as Markdown.
func (c *Catalog) Reference() string {
	var s strings.Builder
	s.WriteString("# Reference\n\nMade from the definitions by `make gen`; every example is run by the tests.\n")
	for _, k := range kinds {
		fmt.Fprintf(&s, "\n## %s\n", k.title)
		docs := c.Docs(k.kind)
		sort.SliceStable(docs, func(i, j int) bool { return docs[i].Group < docs[j].Group })
		group := ""
		for _, d := range docs {
			if d.Group != group {
				group = d.Group
				fmt.Fprintf(&s, "\n### %s: %s\n", k.title, group)
			}
			fmt.Fprintf(&s, "\n#### %s\n\n`%s`\n\n%s\n", d.Name, d.Signature, d.Body())
			if k.kind == "conn" {
				fmt.Fprintf(&s, "\n```text%s```\n", options(c.conns[d.Name]))
			}
			for _, e := range d.Examples {
				if c.Func(d.Name) != nil && k.kind == "func" {
					fmt.Fprintf(&s, "\n```text\n%s → %s\n```\n", e.Code, e.Want)
					continue
				}
				fmt.Fprintf(&s, "\n```ebb\n%s\n```\n", e.Code)
				if e.Want != "" {
					fmt.Fprintf(&s, "```text\n%s\n```\n", e.Want)
				}
			}
		}
	}
	return s.String()
}
