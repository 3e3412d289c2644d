package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// target is a place where rows go to, and the file that names it.
type target struct {
	file *unit
	name *syntax.Ident
}

// sides are the streams and writes that hang on a source or on the stages of a stream; they enter the script after it.
type sides struct {
	streams []*Stream
	writes  []*Write
}

func (c *checker) add(s *sides) {
	c.out.Streams = append(c.out.Streams, s.streams...)
	c.out.Writes = append(c.out.Writes, s.writes...)
	*s = sides{}
}

// findWriters finds the streams that are there because something writes to them, and who does.
func (c *checker) findWriters() {
	for _, d := range slices.Clone(c.decls) {
		if d.kind == "pipe" {
			continue // its targets are written by those who call it
		}
		for _, t := range c.targetsOf(d) {
			name := t.name.Name
			to := c.names[name]
			if to == nil {
				to = &decl{kind: "stream", name: name, at: t.name.Span, file: t.file}
				c.names[name] = to
				c.decls = append(c.decls, to)
			}
			if to.stmt == nil && to.kind == "stream" && t.file.sees[to.file] && !slices.Contains(to.writers, d) {
				to.writers = append(to.writers, d)
			}
		}
	}
}

// targetsOf lists the names that a statement writes to, in order.
func (c *checker) targetsOf(d *decl) []target {
	if list, known := c.targets[d]; known {
		return list
	}
	c.targets[d] = nil // of a pipe that calls itself
	var list []target
	add := func(t target) {
		for _, u := range list {
			if u.file == t.file && u.name.Name == t.name.Name {
				return
			}
		}
		list = append(list, t)
	}
	none := func(*syntax.Input) {}
	addTo := func(t *syntax.Target) {
		if t.Name != nil {
			add(target{d.file, t.Name})
		}
	}
	syntax.Head(d.stmt).Ends(none, addTo)
	for _, s := range syntax.Stages(d.stmt) {
		s.Ends(none, addTo)
		if p := c.lookup(d.file, s.Name.Name); s.Call && p != nil && p.kind == "pipe" {
			for _, t := range c.targetsOf(p) {
				add(t)
			}
		}
	}
	c.targets[d] = list
	return list
}

// implicit finishes a stream that other statements write, once all of them are checked.
func (c *checker) implicit(d *decl, src *syntax.Source, at syntax.Span) {
	for _, w := range d.writers {
		c.resolve(w, src, at)
		if w.source != nil {
			c.read(w.source)
		}
	}
	d.flow.ok = d.made != nil && !d.poison
	if d.flow.ok {
		d.made.Out = d.flow.rows
		c.out.Streams = append(c.out.Streams, d.made)
	}
}

// deliver sends rows to a target: those of rows.node, or else those of the feed. The name of the stream that takes them is
// returned, "" if there is none. label names what is made up for the purpose.
func (c *checker) deliver(t *syntax.Target, rows flow, feed Feed, label string, s *sides) string {
	if t.Call != nil {
		return c.write(t, rows, feed, label, s)
	}
	f, name := c.frame.file, t.Name.Name
	d := c.lookup(f, name)
	switch {
	case d == nil:
		c.fault(t.Name.Span, "N108", fmt.Sprintf("rows cannot go into `%s`", name), c.hidden(f, name))
	case d.kind == "sink":
		return c.writeSink(t, d, rows, feed, label, s)
	case d.kind == "broken":
	case d.kind == "stream" && d.stmt == nil:
		c.feed(t, d, rows, feed)
		return name
	default:
		help := "a name that nothing else defines makes a new stream"
		if d.kind == "stream" {
			help = "the stages of the statement alone say what is in it; " + help
		} else if d.kind == "source" {
			help = "sources are read; rows are written into a `sink`; " + help
		}
		c.fault(t.Name.Span, "N108", fmt.Sprintf("rows cannot go into `%s`: it is %s", name, d.what(f)), help)
	}
	return ""
}

// feed adds rows to a stream that several stages may write.
func (c *checker) feed(t *syntax.Target, d *decl, rows flow, feed Feed) {
	if !rows.ok {
		d.poison = true
		return
	}
	if d.made == nil {
		d.made = &Stream{Name: d.name, Pos: c.place(t.Name.Span)}
		d.flow = flow{node: Node{Stream: d.made}, rows: rows.rows, ok: true}
	} else {
		was := &d.flow.rows
		if diff := difference(was.Schema, rows.rows.Schema); diff != "" {
			c.fault(t.Name.Span, "T240", fmt.Sprintf("the rows do not have the columns of `%s`: %s", d.name, diff),
				fmt.Sprintf("`%s` is also written at %s, and all its rows must have the same columns: %s", d.name, d.made.Pos, was.Schema))
		}
		was.Time = was.Time && rows.rows.Time
		was.Updating = was.Updating || rows.rows.Updating
		was.Bounded = was.Bounded && rows.rows.Bounded
		was.Windowed = was.Windowed && rows.rows.Windowed
	}
	d.made.Feeds = append(d.made.Feeds, feed)
}

// difference says in words how a schema differs from the one that is wanted; "" if it does not.
func difference(want, have types.Schema) string {
	var parts []string
	for _, f := range want.Fields {
		i := have.Index(f.Name)
		switch {
		case i < 0:
			parts = append(parts, "`"+f.Name+"` is missing")
		case !have.Fields[i].Type.Equal(f.Type):
			parts = append(parts, fmt.Sprintf("`%s` is %s instead of %s", f.Name, have.Fields[i].Type, f.Type))
		}
	}
	for _, f := range have.Fields {
		if want.Index(f.Name) < 0 {
			parts = append(parts, "`"+f.Name+"` is too many")
		}
	}
	if len(parts) == 0 && !want.Equal(have) {
		parts = append(parts, "they stand in another order")
	}
	return strings.Join(parts, ", ")
}

// onError checks `on_error into TARGET | drop | fail`. errors are the error rows.
func (c *checker) onError(k *syntax.Clause, errors flow, feed Feed, label string, s *sides) types.OnError {
	on := types.OnError{Mode: k.Word}
	if k.Target != nil {
		on.Target = c.deliver(k.Target, errors, feed, label+"/error", s)
	}
	return on
}
