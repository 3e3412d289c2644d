package lint

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// What the catalog keeps for old scripts only.
var _ = define(
	Rule{
		Code: "X310", Name: "deprecated", Severity: syntax.SevWarn, Fix: Safe,
		Text: "A function, aggregate, stage, connector or option is deprecated.",
		Why: "It works, and will be taken away some day. `ebb doc NAME` says what to write instead; where that is no more than another name, the fix writes it. " +
			"Neither completion nor messages propose what is deprecated.",
		Bad:   "csv(\"orders.csv\") |> where at >= date(\"2026-01-31\")\n",
		Good:  "csv(\"orders.csv\") |> where at >= time(\"2026-01-31\")\n",
		Check: deprecated,
	},
)

func deprecated(p *Pass) {
	if p.Facts == nil {
		return
	}
	p.everyUse(p.deprecatedCalls)
	for _, s := range p.Stages {
		if !s.Tree.Call {
			p.old("stage", s.Tree.Name, "")
		}
	}
	connector := func(c *syntax.Call) {
		p.old("conn", c.Name, "")
		for _, a := range c.Args {
			if a.Name != nil {
				p.old("conn", *a.Name, c.Name.Name)
			}
		}
	}
	for _, stmt := range p.Tree.Stmts {
		if s, ok := stmt.(*syntax.SinkStmt); ok {
			connector(s.Call)
		}
		syntax.Ends(stmt, func(in *syntax.Input) { connector(in.Call) }, func(t *syntax.Target) {
			if t.Call != nil {
				connector(t.Call)
			}
		})
	}
}

// deprecatedCalls finds functions and aggregates.
func (p *Pass) deprecatedCalls(r *reading) (found []hint) {
	r.each(func(n ast.Node) {
		name, _ := r.call(n)
		x := r.Type(n)
		if name == "" || x == nil {
			return
		}
		kind := "func"
		if x.Op == types.OpCol {
			kind = "agg"
		}
		if d := p.Facts.Deprecated(kind, name, ""); d != nil && !p.hasFn(name) {
			found = append(found, p.oldName(syntax.Ident{Span: r.Operator(n), Name: name}, kind, d))
		}
	})
	return found
}

// old reports a name that is deprecated: a stage, a connector, or an option of a connector.
func (p *Pass) old(kind string, name syntax.Ident, of string) {
	what, option := name.Name, ""
	if of != "" {
		what, option = of, name.Name
	}
	if d := p.Facts.Deprecated(kind, what, option); d != nil {
		h := p.oldName(name, kind, d)
		p.Report(h.at, h.message, h.help, h.fix)
	}
}

// oldName says of a name that it is deprecated. The fix writes the one that means the same, unless that is another thing in this
// script.
func (p *Pass) oldName(name syntax.Ident, kind string, d *types.Deprecated) hint {
	since, instead, _ := strings.Cut(d.String(), ": ")
	h := hint{at: name.Span, message: fmt.Sprintf("`%s` is %s", name.Name, since), help: instead}
	if d.Name != "" && !(kind == "func" && p.hasFn(d.Name)) {
		h.fix = replace(name.Span, d.Name, Safe, instead)
	}
	return h
}

// hasFn reports whether the script, or a file that it uses, has a function of that name.
func (s *Script) hasFn(name string) bool {
	for _, d := range s.definitions() {
		if d.kind == "function" && d.name.Name == name {
			return true
		}
	}
	for _, u := range s.Uses {
		if u.Own[name] == "fn" || u.Further[name] == "fn" {
			return true
		}
	}
	return false
}
