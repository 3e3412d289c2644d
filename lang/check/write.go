package check

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// sinkStmt checks `sink NAME = …`, as far as that can be done without rows.
func (c *checker) sinkStmt(d *decl, s *syntax.SinkStmt) {
	a := c.connector(s.Call, false, nil)
	if s.Schema == nil {
		d.flow.ok = a != nil
		return
	}
	schema, ok := c.schemaOf(s.Schema, true)
	if d.flow.ok = ok && a != nil; ok {
		d.sink = &schema
	}
}

// writeSink sends rows into a sink statement.
func (c *checker) writeSink(t *syntax.Target, d *decl, rows flow, feed Feed, label string, s *sides) string {
	if good := c.resolve(d, c.frame.file.src, t.Span); !good.ok || !rows.ok {
		return ""
	}
	stmt := d.stmt.(*syntax.SinkStmt)
	w := &Write{Name: d.name, Sink: d.name, In: rows.rows, Pos: c.place(t.Span)}
	if stmt.Schema == nil && d.sink == nil {
		schema := rows.rows.Schema
		d.sink = &schema
	}
	if !c.fit(w, *d.sink, t.Span, "the sink `"+d.name+"`", stmt.Schema != nil) {
		return ""
	}
	written := rows.rows
	written.Schema = w.Schema
	c.at(d.file, func() { w.Conn = c.connector(stmt.Call, false, &written) })
	return c.wrote(w, t, rows, feed, label, s)
}

// write sends rows into a connector.
func (c *checker) write(t *syntax.Target, rows flow, feed Feed, label string, s *sides) string {
	w := &Write{Name: t.Call.Name.Name, In: rows.rows, Pos: c.place(t.Span)}
	if t.Schema != nil {
		schema, ok := c.schemaOf(t.Schema, true)
		if !rows.ok {
			c.connector(t.Call, false, nil)
			return ""
		}
		if !ok || !c.fit(w, schema, t.Schema.Span, "the schema", true) {
			return ""
		}
	} else {
		w.Schema = rows.rows.Schema
	}
	if !rows.ok {
		c.connector(t.Call, false, nil)
		return ""
	}
	written := rows.rows
	written.Schema = w.Schema
	w.Conn = c.connector(t.Call, false, &written)
	return c.wrote(w, t, rows, feed, label, s)
}

// wrote finishes a write whose columns and connector are known.
func (c *checker) wrote(w *Write, t *syntax.Target, rows flow, feed Feed, label string, s *sides) string {
	if w.Conn == nil {
		return ""
	}
	if w.In.Updating && !c.env.Updating(w.Conn) {
		help := "an updating stream takes back rows that it gave out; `emit final` gives out each row once"
		if sig := c.env.Conn(w.Conn.Name); sig != nil {
			for _, p := range sig.Params {
				if p.Name == "changes" {
					help = fmt.Sprintf("`%s(…, changes: true)` writes every change with a column `_change`; `emit final` gives out each row once", sig.Name)
				}
			}
		}
		c.fault(t.Span, "W408", fmt.Sprintf("`%s` cannot take the rows of an updating stream", w.Name), help)
		return ""
	}
	if !c.changeName(w, t.Span) || !c.claim(w, t) {
		return ""
	}
	w.From = rows.node
	if rows.node == (Node{}) {
		side := &Stream{Name: c.unique(label), Feeds: []Feed{feed}, Out: rows.rows, Pos: w.Pos}
		s.streams = append(s.streams, side)
		w.From = Node{Stream: side}
	}
	s.writes = append(s.writes, w)
	if w.From.Stream != nil {
		return w.From.Stream.Name
	}
	return ""
}

// changeName reports an error if the column that says what a row does meets one of the rows' own of that name.
func (c *checker) changeName(w *Write, at syntax.Span) bool {
	written := w.In.Updating
	if w.Conn != nil && w.Conn.Args["changes"] == true {
		written = true
	}
	if !written || w.Schema.Index("_change") < 0 {
		return true
	}
	c.fault(at, "N105", "an updating stream is written with a column `_change` of its own, and the rows have one, too", "give theirs another name: `|> rename change = _change`")
	return false
}

// claim notes where a write puts its rows, and reports an error if another output of the script lies there.
func (c *checker) claim(w *Write, t *syntax.Target) bool {
	sig := c.env.Conn(w.Conn.Name)
	if sig == nil {
		return true
	}
	for _, p := range sig.Params {
		at, ok := w.Conn.Args[p.Name].(string)
		if list, many := w.Conn.Args[p.Name].([]any); many && len(list) == 1 {
			at, ok = list[0].(string)
		}
		if !p.Place || !ok {
			continue
		}
		at = filepath.Clean(at)
		place := at
		if types.StandardOutput(at) {
			place = "-"
		}
		was := c.places[place]
		if was == nil {
			c.places[place] = w
			continue
		}
		if was.Sink == "" || was.Sink != w.Sink {
			c.fault(t.Span, "O904", fmt.Sprintf("two outputs write to %q; the other is at %s", at, was.Pos),
				fmt.Sprintf("declare it once, `sink out = %s(…)`, and send both streams `into out`", w.Conn.Name))
			return false
		}
	}
	return true
}

// fit makes a write give out the columns of a schema, from those of its rows, which must have the same names. declared says
// that the script writes the schema, so that ints may become floats and the order may differ. at is where errors point.
func (c *checker) fit(w *Write, want types.Schema, at syntax.Span, what string, declared bool) bool {
	have := w.In.Schema
	w.Schema = want
	ok, same := true, true
	var items []types.Item
	var missing, extra []string
	for i, f := range want.Fields {
		k := have.Index(f.Name)
		if k < 0 {
			missing = append(missing, f.Name)
			continue
		}
		from := have.Fields[k].Type
		switch {
		case types.Assignable(from, f.Type):
		case types.Assignable(from.NotNull(), f.Type):
			help := fmt.Sprintf("give a value for null, for example `derive %s = %s ?? …`, or filter with `where %s != nil`", types.QuoteName(f.Name), types.QuoteName(f.Name), types.QuoteName(f.Name))
			if !declared {
				help = "give the sink a `schema {…}`"
			}
			c.fault(at, "T202", fmt.Sprintf("the column `%s` may be null, but %s wants %s", f.Name, what, f.Type), help)
			ok = false
		default:
			c.fault(at, "T205", fmt.Sprintf("the column `%s` is %s, but %s wants %s", f.Name, from, what, f.Type), "")
			ok = false
		}
		x := types.ColRef(have, k)
		if !from.Equal(f.Type) {
			x = &types.Expr{Op: types.OpCast, Type: plainType(f.Type), Args: []*types.Expr{x}, Pos: w.Pos}
		}
		same = same && i == k && x.Op == types.OpCol
		items = append(items, types.Item{Name: f.Name, Expr: x})
	}
	if !same {
		w.Items = items
	}
	for _, f := range have.Fields {
		if want.Index(f.Name) < 0 {
			extra = append(extra, types.QuoteName(f.Name))
		}
	}
	if len(missing) > 0 {
		guess := ""
		if len(missing) == 1 {
			guess = didYouMean(missing[0], have.Names())
		}
		c.fault(at, "T205", fmt.Sprintf("the rows have no column `%s`, which %s wants%s", strings.Join(missing, "`, `"), what, guess), columnsHelp(have))
	}
	if len(extra) > 0 {
		c.fault(at, "T205", fmt.Sprintf("%s has no column `%s`, which the rows have", what, strings.Join(extra, "`, `")),
			fmt.Sprintf("take it away: `|> drop %s`", strings.Join(extra, ", ")))
	}
	return ok && len(missing)+len(extra) == 0
}
