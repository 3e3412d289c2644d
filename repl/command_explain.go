package repl

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/planner"
)

var _ = command(Command{
	Name: "explain", Args: "[NAME | PIPELINE] [--logical | --physical | --dot | --mermaid | --json]", Group: "look", Most: 1, Tail: true,
	Summary: "show how a stream, a pipeline or the whole script is planned",
	Text: "NAME is a stream or a source. Without an argument it is the script of the session, or what was shown last if the script writes nothing. " +
		"The logical plan says what is done, the parallel plan which tasks do it.",
	Flags: []Flag{
		{"--logical", "", "the logical plan only"},
		{"--physical", "", "the parallel plan only"},
		{"--dot", "", "the parallel plan for Graphviz"},
		{"--mermaid", "", "the parallel plan as a Mermaid flowchart"},
		{"--json", "", "both plans for programs"},
	},
	Run: func(s *Session, a *Args) error {
		what := a.trailing(a.Arg(0))
		if len(a.Flags) > 1 {
			return a.Usage("give one of the flags")
		}
		c, err := s.plan(what)
		if err != nil {
			return err
		}
		form := ""
		for f := range a.Flags {
			form = strings.TrimLeft(f, "-")
		}
		text, err := c.Explain(form)
		if err != nil {
			return err
		}
		return s.page(text)
	},
	Complete: func(s *Session, _ []string) []string { return s.script.streams() },
})

// trailing takes the flags off the end of an argument that took the rest of the line.
func (a *Args) trailing(text string) string {
	for {
		text = strings.TrimSpace(text)
		i := strings.LastIndexAny(text, " \t")
		f := a.Command.flag(text[i+1:])
		if f == nil || f.Value != "" {
			return text
		}
		a.Flags[f.Name] = ""
		text = text[:max(i, 0)]
	}
}

// plan compiles a pipeline of the session; "" is its script, or the last pipeline if that writes nothing.
func (s *Session) plan(pipeline string) (*planner.Compiled, error) {
	if pipeline == "" && s.script.writes() {
		return s.compileScript(s.opts.Plan)
	}
	if pipeline == "" {
		pipeline = s.last
	}
	if pipeline == "" {
		return nil, fmt.Errorf("there is nothing yet that could be planned: type a pipeline, or name a stream; .help explain")
	}
	return s.compile(pipeline, s.withLast(pipeline, s.script.definitions()), s.opts.Plan)
}

// writes reports whether the script has pipelines of its own.
func (s *script) writes() bool {
	for _, x := range s.stmts {
		if x.writes() {
			return true
		}
	}
	return false
}

// streams are the names that a pipeline can begin with.
func (s *script) streams() []string {
	var out []string
	for _, x := range s.stmts {
		word, _, _ := strings.Cut(x.text, " ")
		if name, ok := strings.CutPrefix(x.key, "name "); ok && (word == "stream" || word == "source") {
			out = append(out, name)
		}
	}
	return out
}
