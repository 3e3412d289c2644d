package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// reason is an error without the path that the message names already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// values gives every param and let its value, in the order in which they depend on each other.
func (c *checker) values() {
	c.unknownSettings()
	for _, d := range c.decls {
		if d.kind == "fn" {
			c.declareFn(d)
		}
	}
	for _, d := range c.decls {
		if d.kind == "param" || d.kind == "let" {
			c.value(d, d.file.src, d.at)
		}
	}
}

// unknownSettings reports each `--set` that no param takes.
func (c *checker) unknownSettings() {
	var params []string
	for _, d := range c.decls {
		if d.kind == "param" {
			params = append(params, d.name)
		}
	}
	slices.Sort(params)
	var given []string
	for name := range c.opts.Set {
		given = append(given, name)
	}
	slices.Sort(given)
	for _, name := range given {
		d := c.names[name]
		if d != nil && (d.kind == "param" || d.kind == "broken") {
			continue
		}
		src := settingSource(name, c.opts.Set[name])
		help := "a param is declared with `param " + name + ": int = 1`"
		if len(params) > 0 {
			help = "the params are `" + strings.Join(params, "`, `") + "`"
		}
		c.report(src, syntax.Span{Start: src.Pos(0), End: src.Pos(len(name))}, "U510", fmt.Sprintf("no param is called `%s`%s", name, didYouMean(name, params)), help)
	}
}

// settingSource is the text that diagnostics about `--set NAME=VALUE` show.
func settingSource(name, value string) *syntax.Source {
	return syntax.NewSource("--set", name+"="+value)
}

// value evaluates a param or let, what it names first. src and at are where it is named, for cycles.
func (c *checker) value(d *decl, src *syntax.Source, at syntax.Span) {
	switch {
	case d.state == done:
		return
	case d.state == running:
		c.circle(d, src, at)
		return
	case len(c.stack) > maxChain:
		c.report(src, at, "N111", "too many constants are defined after those that need them", "define constants before their use")
		return
	}
	d.state = running
	c.stack = append(c.stack, d)
	c.at(d.file, func() {
		switch s := d.stmt.(type) {
		case *syntax.Let:
			c.needs(d.file, s.Expr)
			if c.sound(d.file, s.Expr) {
				c.bind(d, c.constExpr(s.Expr, c.scope(nil)))
			}
		case *syntax.Param:
			c.param(d, s)
		}
	})
	c.stack = c.stack[:len(c.stack)-1]
	d.state = done
}

// circle reports that a constant depends on itself.
func (c *checker) circle(d *decl, src *syntax.Source, at syntax.Span) {
	path := ""
	for _, x := range c.stack[slices.Index(c.stack, d):] {
		path += x.name + " → "
	}
	c.report(src, at, "N112", "constants depend on each other in a circle: "+path+d.name, "")
}

// bind makes a value known in every file that may name it; nil means that it has none, which has been reported.
func (c *checker) bind(d *decl, x *types.Expr) {
	if x == nil || x.Op != types.OpConst {
		return
	}
	for _, f := range c.order {
		if f.sees[d.file] {
			f.consts[d.name] = x
		}
	}
}

// needs evaluates the constants that an expression names, also by way of functions.
func (c *checker) needs(f *unit, e *syntax.Expr) {
	for d, at := range c.named(f, e) {
		switch s := d.stmt.(type) {
		case *syntax.Let, *syntax.Param:
			c.value(d, f.src, at)
		case *syntax.Fn:
			if !d.needed {
				d.needed = true
				c.needs(d.file, s.Body)
			}
		}
	}
}

// named gives the decls that the words of an expression may mean, in order.
func (c *checker) named(f *unit, e *syntax.Expr) func(yield func(*decl, syntax.Span) bool) {
	return func(yield func(*decl, syntax.Span) bool) {
		for i, t := range e.Tokens {
			if t.Kind != syntax.KindIdent && t.Kind != syntax.KindQuoted || i > 0 && (e.Tokens[i-1].Text == "." || e.Tokens[i-1].Text == "?.") {
				continue
			}
			if d := c.lookup(f, plainName(t)); d != nil && !yield(d, t.Span) {
				return
			}
		}
	}
}

// plainName is the name that a token stands for.
func plainName(t syntax.Token) string {
	if t.Kind == syntax.KindQuoted {
		return syntax.Unquote(strings.TrimPrefix(t.Text, "@"))
	}
	return t.Text
}

// sound reports whether all that an expression names is known: if not, that has been reported, and what would be said
// about the expression is no news.
func (c *checker) sound(f *unit, e *syntax.Expr) bool {
	for d := range c.named(f, e) {
		switch s := d.stmt.(type) {
		case nil:
			if d.kind == "broken" {
				return false
			}
		case *syntax.Let, *syntax.Param:
			if d.file.consts[d.name] == nil {
				return false
			}
		case *syntax.Fn:
			if !d.asked {
				d.asked, d.sound = true, true // of functions that call each other in a circle something else is said
				d.sound = d.fn != nil && c.sound(d.file, s.Body)
			}
			if !d.sound {
				return false
			}
		}
	}
	return true
}

// param gives a param its value: that of `--set`, or its default.
func (c *checker) param(d *decl, s *syntax.Param) {
	t, ok := c.typeOf(s.Type, false)
	if !ok {
		return
	}
	if s.Default != nil {
		c.needs(d.file, s.Default)
	}
	given, set := c.opts.Set[d.name]
	var x *types.Expr
	switch {
	case s.Default != nil && c.sound(d.file, s.Default):
		x = c.constAs(s.Default, t, "the default of `"+d.name+"`", c.scope(nil))
	case s.Default == nil && !set:
		c.fault(s.Name.Span, "U512", fmt.Sprintf("the param `%s` has no value", d.name),
			fmt.Sprintf("give one with `--set %s=…`, or a default: `param %s: %s = …`", d.name, d.name, t))
	}
	if set {
		x = c.setting(d, t, given)
	}
	c.bind(d, x)
}

// constAs evaluates a constant that must be of a type. what names it in messages.
func (c *checker) constAs(e *syntax.Expr, t types.Type, what string, sc *scope) *types.Expr {
	x := c.constExpr(e, sc)
	if x == nil {
		return nil
	}
	if v, ok := coerce(x.Type, x.Value, t); ok {
		return types.Const(t, v)
	}
	code, msg := "T201", fmt.Sprintf("%s is %s, not %s", what, x.Type, t)
	if x.Type.Nullable || x.Type.Kind == types.Null {
		code, msg = "T202", fmt.Sprintf("%s may be null, but %s is wanted", what, t)
	}
	c.fault(e.Span, code, msg, "")
	return nil
}

// coerce gives a constant as a value of type to: an int as a float, also inside of lists and records.
func coerce(from types.Type, v any, to types.Type) (any, bool) {
	switch {
	case v == nil:
		return nil, to.Nullable
	case to.Kind == types.Float && from.Kind == types.Int:
		n, ok := v.(int64)
		return float64(n), ok
	case to.Kind == types.Any:
		return v, true
	case from.Kind != to.Kind:
		return nil, false
	case to.Kind == types.List:
		list, ok := v.([]any)
		if !ok {
			return nil, false
		}
		out := make([]any, len(list))
		for i, x := range list {
			if out[i], ok = coerce(*from.Elem, x, *to.Elem); !ok {
				return nil, false
			}
		}
		return out, true
	case to.Kind == types.Record:
		m, ok := v.(map[string]any)
		if !ok || len(from.Fields) != len(to.Fields) {
			return nil, false
		}
		out := make(map[string]any, len(m))
		for _, f := range to.Fields {
			i := from.Field(f.Name)
			if i < 0 {
				return nil, false
			}
			if out[f.Name], ok = coerce(from.Fields[i].Type, m[f.Name], f.Type); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return v, true
}

// setting reads the value of `--set NAME=VALUE`.
func (c *checker) setting(d *decl, t types.Type, given string) *types.Expr {
	src := settingSource(d.name, given)
	at := syntax.Span{Start: src.Pos(len(d.name) + 1), End: src.Pos(len(src.Text))}
	bad := func(help string) *types.Expr {
		c.report(src, at, "U511", fmt.Sprintf("`%s` is no value of the param `%s`, which is %s", given, d.name, t), help)
		return nil
	}
	switch t.Kind {
	case types.String:
		return types.Const(t, given)
	case types.Bytes:
		return bad("")
	case types.Time:
		if v, err := syntax.ParseTime(strings.TrimSpace(given)); err == nil {
			return types.Const(t, v.UnixNano())
		}
		return bad("times are written like `2026-01-31` or `2026-01-31T10:00:00Z`")
	case types.Duration:
		text, minus := strings.CutPrefix(strings.TrimSpace(given), "-")
		v, err := syntax.ParseDuration(text)
		if err != nil {
			return bad("durations are written like `250ms`, `5s` or `1h30m`")
		}
		if minus {
			v = -v
		}
		return types.Const(t, int64(v))
	}
	tokens, found := syntax.Lex(src)
	if len(found) > 0 {
		return bad("")
	}
	e := &syntax.Expr{Span: at, Source: src, Text: src.Text[at.Start.Offset:]}
	for _, tok := range tokens {
		if !tok.Trivia() && tok.Kind != syntax.KindEOF && tok.Span.Start.Offset >= at.Start.Offset {
			e.Tokens = append(e.Tokens, tok)
		}
	}
	if len(e.Tokens) == 0 {
		return bad("")
	}
	var x *types.Expr
	c.quietly(func() { x = c.constExpr(e, nil) })
	if x == nil {
		return bad("")
	}
	v, ok := coerce(x.Type, x.Value, t)
	if !ok {
		return bad("")
	}
	return types.Const(t, v)
}

// declareFn gives a fn its parameters. Its body is checked later, when all constants are known.
func (c *checker) declareFn(d *decl) {
	s := d.stmt.(*syntax.Fn)
	f := &fn{name: d.name, body: s.Body, scope: &scope{consts: d.file.consts, fns: d.file.fns}}
	c.at(d.file, func() {
		params, ok := c.parameters(s.Params)
		if f.params = params; ok {
			d.fn = f
		}
	})
	if d.fn == nil {
		return
	}
	for _, g := range c.order {
		if g.sees[d.file] {
			g.fns[d.name] = f
		}
	}
}

// parameters gives the parameters of a fn or pipe.
func (c *checker) parameters(list []*syntax.FnParam) ([]types.Field, bool) {
	ok := true
	fields := make([]types.Field, len(list))
	seen := map[string]bool{}
	for i, p := range list {
		if seen[p.Name.Name] {
			c.fault(p.Name.Span, "N109", fmt.Sprintf("the parameter `%s` stands twice", p.Name.Name), "")
			ok = false
		}
		seen[p.Name.Name] = true
		t, good := c.typeOf(p.Type, false)
		ok = ok && good
		fields[i] = types.Field{Name: p.Name.Name, Type: t}
	}
	return fields, ok
}

// functions checks the bodies of the main file's functions; those of other files are checked where they are used.
func (c *checker) functions(main *unit) {
	for _, d := range c.decls {
		if d.kind == "fn" && d.file == main && d.fn != nil {
			if s := d.stmt.(*syntax.Fn); c.sound(main, s.Body) {
				c.at(main, func() { c.checkFn(d.fn) })
			}
		}
	}
}
