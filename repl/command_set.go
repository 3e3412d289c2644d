package repl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

var _ = command(Command{
	Name: "set", Args: "[KEY = VALUE | PARAM VALUE]", Group: "session", Most: 2, Tail: true,
	Summary: "give a setting or a param a value; without arguments list them",
	Text: "A setting, such as checkpoint.interval, becomes a `set` statement of the script. A param keeps its default in the script and has the " +
		"value in this session; values are written as after `ebb run --set`. Jobs that run are not touched.",
	Complete: func(s *Session, _ []string) []string {
		out := check.Settings()
		for _, p := range s.params() {
			name, _, _ := strings.Cut(p, " ")
			out = append(out, strings.TrimSuffix(name, ":"))
		}
		return out
	},
	Run: func(s *Session, a *Args) error {
		if len(a.Pos) == 0 {
			s.listSet()
			return nil
		}
		name, value := a.Arg(0), a.Arg(1)
		if k, v, ok := strings.Cut(name, "="); ok { // limit=10
			name, value = k, v+value
		} else if v, ok := strings.CutPrefix(value, "="); ok {
			value = strings.TrimSpace(v)
		}
		switch {
		case name == "":
			return a.Usage("a name is missing before =")
		case value == "":
			return a.Usage("a value is missing")
		case slices.Contains(check.Settings(), name):
			return s.statements("set " + name + " = " + value)
		}
		return s.setParam(name, value)
	},
})

func (s *Session) listSet() {
	var lines []string
	for _, x := range s.script.stmts {
		if strings.HasPrefix(x.key, "set ") {
			lines = append(lines, x.text)
		}
	}
	for _, p := range s.params() {
		lines = append(lines, "param "+p)
	}
	if len(lines) == 0 {
		s.Screen.Note("nothing is set, and there is no param; the settings are " + strings.Join(check.Settings(), ", "))
	}
	for _, l := range lines {
		fmt.Fprintln(s.Screen, l)
	}
}

// setParam gives a param a value if the script is right with it.
func (s *Session) setParam(name, value string) error {
	if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		value = value[1 : len(value)-1] // texts need no quotes, but may have them
	}
	plan := s.opts.Plan
	plan.Set = maps.Clone(plan.Set)
	if plan.Set == nil {
		plan.Set = map[string]string{}
	}
	plan.Set[name] = value
	if _, err := s.compile("", s.script.stmts, plan); err != nil {
		if e, ok := errors.AsType[*ScriptError](err); ok && slices.ContainsFunc(e.Diags, func(d check.Diagnostic) bool { return d.Code == unknownParam }) {
			if m := syntax.Suggest(name, check.Settings()); m != "" {
				return fmt.Errorf("no param or setting is called %s; did you mean %s?", name, m)
			}
		}
		return err
	}
	s.opts.Plan = plan
	s.Screen.Note(name + " = " + value)
	s.changed()
	return nil
}

// unknownParam is the code of a value for a param that there is not.
const unknownParam = "U510"

// forget takes back the values of params that are no longer declared.
func (s *Session) forget(diags []check.Diagnostic, set map[string]string) bool {
	some := false
	for _, d := range diags {
		if d.Code != unknownParam || d.Source == nil {
			continue
		}
		name, _, _ := strings.Cut(d.Source.Text, "=")
		if _, ok := s.opts.Plan.Set[name]; ok {
			delete(s.opts.Plan.Set, name)
			delete(set, name)
			s.Screen.Note("there is no param " + name + " any more: its value is forgotten")
			some = true
		}
	}
	return some
}
