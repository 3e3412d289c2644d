package check

import (
	"fmt"
	"maps"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// maxExpanded bounds the stages that the pipes of a script bring: pipes that call pipes twice double them each time.
const maxExpanded = 20_000

// expand checks the stages of a pipe in the place of its call.
func (c *checker) expand(r *pipeline, s *syntax.Stage, d *decl) {
	for f := c.frame; f != nil; f = f.up {
		if f.pipe == d {
			path := d.name
			for g := c.frame; g != f; g = g.up {
				path = g.pipe.name + " → " + path
			}
			c.fault(s.Name.Span, "C312", "pipes call each other in a circle: "+d.name+" → "+path, "")
			r.rows.ok = false
			return
		}
	}
	stmt := d.stmt.(*syntax.Pipe)
	d.called = true
	if c.expanded > maxExpanded {
		r.rows.ok = false // as has been said
		return
	}
	if c.expanded += len(stmt.Stages); c.expanded > maxExpanded {
		c.fault(s.Name.Span, "C313", fmt.Sprintf("the pipes of the script bring more than %d stages", maxExpanded), "")
		r.rows.ok = false
		return
	}
	if len(s.Clauses) > 0 {
		k := s.Clauses[0]
		c.fault(k.Span, "C303", fmt.Sprintf("the call of the pipe `%s` takes no clauses", d.name), "the stages of the pipe have theirs")
	}
	params, ok := c.pipeParams(d, stmt)
	if !ok {
		r.rows.ok = false
		return
	}
	fr := &frame{file: d.file, up: c.frame, call: s, pipe: d, consts: maps.Clone(d.file.consts)}
	c.arguments(fr, s, params, r.rows)
	was := r.pipes
	r.pipes += d.name + "."
	c.within(fr, func() { c.stages(r, stmt.Stages) })
	r.pipes = was
	if r.ended != nil {
		r.ended = s // whoever looks for the end sees the call
	}
}

// pipeParams gives the parameters of a pipe.
func (c *checker) pipeParams(d *decl, s *syntax.Pipe) (params []types.Field, ok bool) {
	c.at(d.file, func() { params, ok = c.parameters(s.Params) })
	d.params = params
	return params, ok
}

// arguments binds the arguments of a call: constants once and for all, other expressions to be typed where they are used.
func (c *checker) arguments(fr *frame, s *syntax.Stage, params []types.Field, in flow) {
	name := fr.pipe.name
	for _, p := range params {
		delete(fr.consts, p.Name)
	}
	given := map[string]bool{}
	for i, item := range s.Items {
		k := i
		if item.Name != nil {
			k = types.Schema{Fields: params}.Index(item.Name.Name)
			if k < 0 {
				c.fault(item.Name.Span, "C314", fmt.Sprintf("the pipe `%s` has no parameter `%s`%s", name, item.Name.Name,
					didYouMean(item.Name.Name, types.Schema{Fields: params}.Names())), signature(name, params))
				continue
			}
		}
		if k >= len(params) {
			c.fault(item.Span, "C314", fmt.Sprintf("the pipe `%s` takes %s", name, plural(len(params), "argument")), signature(name, params))
			break
		}
		p := params[k]
		if given[p.Name] {
			c.fault(item.Span, "C314", fmt.Sprintf("the parameter `%s` is given twice", p.Name), signature(name, params))
			continue
		}
		given[p.Name] = true
		c.argument(fr, item.Expr, p, in)
	}
	for _, p := range params {
		if given[p.Name] {
			continue
		}
		c.fault(s.Name.Span, "C314", fmt.Sprintf("the pipe `%s` needs the argument `%s`", name, p.Name), signature(name, params))
		fr.args = append(fr.args, argument{name: p.Name, pipe: fr.pipe})
	}
}

// argument binds one argument, checked over the rows in front of the call.
func (c *checker) argument(fr *frame, e *syntax.Expr, p types.Field, in flow) {
	what := "the argument `" + p.Name + "` of `" + fr.pipe.name + "`"
	arg := argument{name: p.Name, pipe: fr.pipe, expr: e, typ: p.Type, frame: c.frame}
	var x *types.Expr
	if !c.sound(c.frame.file, e) {
		in.ok = false
	}
	if in.ok {
		if sc, ok := c.substitute(e, in, c.scope(&in.rows)); ok {
			x = c.exprAs(e, sc, p.Type, what)
		}
		if x != nil && x.Fixed() {
			x = c.constAs(e, p.Type, what, c.scope(nil))
		}
	} else {
		// Whether a name means a column is not known: be silent about it.
		c.quietly(func() { x = c.constAs(e, p.Type, what, c.scope(nil)) })
	}
	switch {
	case x == nil:
		fr.args = append(fr.args, arg)
	case x.Op == types.OpConst:
		fr.consts[p.Name] = x
	default:
		arg.ok = true
		fr.args = append(fr.args, arg)
	}
}

func signature(name string, params []types.Field) string {
	s := ""
	for i, p := range params {
		if i > 0 {
			s += ", "
		}
		s += p.Name + ": " + p.Type.String()
	}
	return "it is declared `pipe " + name + "(" + s + ")`"
}

func plural(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unusedPipe checks as much of a pipe as can be known without rows: its stages and their clauses. Pipes that are called are
// checked at their calls, so nothing is said twice.
func (c *checker) unusedPipe(d *decl, s *syntax.Pipe) {
	params, ok := c.pipeParams(d, s)
	if !ok {
		return
	}
	fr := &frame{file: d.file, pipe: d, consts: maps.Clone(d.file.consts)}
	for _, p := range params {
		delete(fr.consts, p.Name)
		fr.args = append(fr.args, argument{name: p.Name, pipe: d})
	}
	r := &pipeline{stream: &Stream{Name: d.name}, ids: stageNames{}}
	c.within(fr, func() { c.stages(r, s.Stages) })
}
