package repl

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ebb-lang/ebb/lang/syntax"
)

var _ = command(Command{
	Name: "params", Group: "script",
	Summary: "list the params of the script and their values",
	Text:    ".set PARAM VALUE gives one another value for this session, .run --set PARAM=VALUE for one job.",
	Run: func(s *Session, _ *Args) error {
		lines := s.params()
		if len(lines) == 0 {
			s.Screen.Note("there is no param; `param limit: int = 10` declares one")
		}
		for _, l := range lines {
			fmt.Fprintln(s.Screen, l)
		}
		return nil
	},
})

// params are the params of the script, a line each. Those of files that are used are listed once they are set.
func (s *Session) params() []string {
	var out []string
	set := maps.Clone(s.opts.Plan.Set)
	tree, _ := syntax.Parse(typedName, s.script.text())
	for _, stmt := range tree.Stmts {
		p, ok := stmt.(*syntax.Param)
		if !ok {
			continue
		}
		line := p.Name.Name + ": " + tree.Source.Slice(p.Type.Range())
		def := ""
		if p.Default != nil {
			def = tree.Source.Slice(p.Default.Span)
		}
		if v, ok := set[p.Name.Name]; ok {
			line += " = " + v + "  (set; default " + def + ")"
			delete(set, p.Name.Name)
		} else if def != "" {
			line += " = " + def
		}
		out = append(out, line)
	}
	for _, k := range slices.Sorted(maps.Keys(set)) {
		out = append(out, k+" = "+set[k]+"  (set)")
	}
	return out
}
