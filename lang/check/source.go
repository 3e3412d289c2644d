package check

import (
	"fmt"
	"math"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// sourceStmt checks `source NAME = …`.
func (c *checker) sourceStmt(d *decl, s *syntax.SourceStmt) {
	d.source = c.input(&s.Input, d.name)
	if d.source != nil {
		d.flow = flow{node: Node{Source: d.source}, rows: d.source.Out, ok: true}
	}
}

// input checks a connector call with the clauses of a source. It gives nil after an error.
func (c *checker) input(in *syntax.Input, name string) *Source {
	s := &Source{Name: name, Pos: c.place(in.Call.Name.Span)}
	ok := true
	var declared *types.Schema
	if in.Schema != nil {
		schema, good := c.schemaOf(in.Schema, true)
		if ok = good; good && len(schema.Fields) == 0 {
			c.fault(in.Schema.Span, "C344", "the schema has no fields", "")
			ok = false
		}
		declared = &schema
	}
	s.Conn = c.connector(in.Call, true, nil)
	if s.Conn != nil && ok {
		info, err := c.env.Source(s.Conn, declared)
		if err != nil {
			c.sourceError(in, err)
			// What is declared is known, also where the input at hand is another one.
			_, mistake := err.(*types.StageError)
			ok = !mistake && declared != nil && len(info.Schema.Fields) > 0
		}
		s.Info = info
		if s.Schema = info.Schema; declared != nil && len(s.Schema.Fields) == 0 {
			s.Schema = *declared
		}
		if info.Note != "" {
			c.out.Notes = append(c.out.Notes, name+": "+info.Note)
		}
	}
	known := s.Conn != nil && ok
	s.Lag, s.Idle = s.Info.Lag, 0
	ok = c.timeClause(s, in.Time, known) && ok
	ok = c.keyClause(s, in.Key, known) && ok
	s.Out = types.Stream{Schema: unformatted(s.Schema), Time: s.Time != nil, Updating: s.Info.Updating, Bounded: s.Info.Bounded}
	if in.OnError != nil {
		errors := flow{rows: types.Stream{Schema: types.ErrorSchema, Bounded: s.Info.Bounded}, ok: true}
		s.OnError = c.onError(in.OnError, errors, Feed{Source: s, Kind: "error"}, name, &s.sides)
	}
	if !ok || !known {
		return nil
	}
	return s
}

// sourceError reports what a connector says about an input.
func (c *checker) sourceError(in *syntax.Input, err error) {
	if e, ok := err.(*types.StageError); ok {
		at, code := in.Call.Name.Span, e.Code
		if e.Clause == "schema" && in.Schema != nil {
			at = in.Schema.Span
		}
		for _, arg := range in.Call.Args {
			if arg.Name != nil && arg.Name.Name == e.Clause {
				at = arg.Span
			}
		}
		if code == "" {
			code = "C345"
		}
		c.fault(at, code, e.Message, e.Help)
		return
	}
	at := in.Call.Name.Span
	if len(in.Call.Args) > 0 {
		at = in.Call.Args[0].Span
	}
	c.fault(at, "I601", fmt.Sprintf("cannot read the input of `%s`: %s", in.Call.Name.Name, err), "")
}

// timeClause checks `time EXPR lag DUR idle DUR`; a connector may bring an event time of its own.
func (c *checker) timeClause(s *Source, t *syntax.TimeClause, known bool) bool {
	if t == nil {
		if known && s.Info.Time != "" {
			if i := s.Schema.Index(s.Info.Time); i >= 0 {
				s.Time = types.ColRef(s.Schema, i)
			}
		}
		return true
	}
	ok := true
	rows := types.Stream{Schema: s.Schema}
	x := c.expression(t.Expr, flow{rows: rows, ok: known}, c.scope(&rows))
	switch {
	case x == nil:
		ok = false
	case x.Type.Kind != types.Time:
		help := "convert it, for example `time time(text, \"2006-01-02 15:04:05\")`, or give the column the type `time` in the schema"
		if x.Type.Numeric() {
			help = "say how the numbers are meant in the schema: `time(s)`, `time(ms)`, `time(us)` or `time(ns)`"
		}
		c.fault(t.Expr.Span, "T201", fmt.Sprintf("the event time is %s, not time", x.Type), help)
		ok = false
	}
	s.Time = x
	s.Lag = 0
	if t.Lag != nil {
		v, good := c.duration(t.Lag, "the lag", 0)
		s.Lag, ok = v, ok && good
	}
	if t.Idle != nil {
		v, good := c.duration(t.Idle, "the idle time", 1)
		s.Idle, ok = v, ok && good
	}
	return ok
}

// duration evaluates a constant duration of at least some nanoseconds.
func (c *checker) duration(e *syntax.Expr, what string, least int64) (int64, bool) {
	x := c.constantOf(e, what, types.Duration)
	if x == nil {
		return 0, false
	}
	v, _ := x.Value.(int64)
	switch {
	case v < least && least == 0:
		c.fault(e.Span, "T231", what+" cannot be negative", "")
	case v < least && least == 1:
		c.fault(e.Span, "T231", what+" must be longer than 0s", "")
	default:
		return v, true
	}
	return 0, false
}

// number evaluates a constant int of at least some value.
func (c *checker) number(e *syntax.Expr, what string, least int64) (int64, bool) {
	x := c.constantOf(e, what, types.Int)
	if x == nil {
		return 0, false
	}
	v, _ := x.Value.(int64)
	if v < least {
		c.fault(e.Span, "T231", fmt.Sprintf("%s must be at least %d", what, least), "")
		return 0, false
	}
	return v, true
}

// fraction evaluates a constant number from 0 to 1.
func (c *checker) fraction(e *syntax.Expr, what string) (float64, bool) {
	x := c.constantOf(e, what, types.Float)
	if x == nil {
		return 0, false
	}
	v, _ := x.Value.(float64)
	if math.IsNaN(v) || v < 0 || v > 1 {
		c.fault(e.Span, "T231", what+" must be a number from 0 to 1", "a tenth of the rows is `0.1`")
		return 0, false
	}
	return v, true
}

// keyClause checks `key COLS`.
func (c *checker) keyClause(s *Source, key []*syntax.Ident, known bool) bool {
	ok := true
	for _, k := range key {
		i := s.Schema.Index(k.Name)
		switch {
		case !known:
		case i < 0:
			c.fault(k.Span, "N150", fmt.Sprintf("unknown column `%s`%s", k.Name, didYouMean(k.Name, s.Schema.Names())), columnsHelp(s.Schema))
			ok = false
		default:
			for _, was := range s.Key {
				if was == i {
					c.fault(k.Span, "N105", fmt.Sprintf("`%s` stands twice in the key", k.Name), "")
					ok = false
				}
			}
			s.Key = append(s.Key, i)
		}
	}
	return ok
}

// unformatted is a schema without the formats of its times: how a time is written in an input says nothing about outputs.
func unformatted(s types.Schema) types.Schema {
	out := types.Schema{Fields: make([]types.Field, len(s.Fields))}
	for i, f := range s.Fields {
		out.Fields[i] = types.Field{Name: f.Name, Type: plainType(f.Type)}
	}
	return out
}

func plainType(t types.Type) types.Type {
	t.Format = ""
	switch t.Kind {
	case types.List:
		elem := plainType(*t.Elem)
		t.Elem = &elem
	case types.Record:
		t.Fields = unformatted(types.Schema{Fields: t.Fields}).Fields
	}
	return t
}
