package repl

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
)

// description is what is known of a stream or source.
type description struct {
	what   string
	out    types.Stream
	source *check.Source // where it is one itself, else nil
	stream *check.Stream // where it is one, else nil
}

// describe looks at a stream or source by its name; `_` is the last result.
func (s *Session) describe(name string) (*description, error) {
	others := s.script.definitions()
	what := name
	if name == "_" {
		if s.last == "" {
			return nil, fmt.Errorf("there is no result yet: type a pipeline first")
		}
	} else if x := s.script.named(name); x != nil {
		what = x.what
	}
	probe := types.QuoteName(name) + "\n"
	c, err := s.compile(probe, s.withLast(probe, others), planner.Options{Parallelism: 1, Set: s.opts.Plan.Set, Only: printedOnly})
	if err != nil {
		return nil, err
	}
	if name == "_" {
		what = "the last result"
	}
	return describeWrite(what, c.Script.Writes[0]), nil
}

// describeWrite describes what a pipeline prints that is only a name.
func describeWrite(what string, w *check.Write) *description {
	d := &description{what: what, out: w.In, source: w.From.Source, stream: w.From.Stream}
	// It is made into a stream without stages.
	for d.stream != nil && len(d.stream.Stages) == 0 && len(d.stream.Feeds) == 0 {
		d.source, d.stream = d.stream.From.Source, d.stream.From.Stream
	}
	return d
}

func printedOnly(w *check.Write) bool { return w.Conn == nil }

// line is the description in a line: "4 columns, updating, event time".
func (d *description) line() string {
	out := []string{counted(len(d.out.Schema.Fields), "column")}
	if d.out.Updating {
		out = append(out, "updating")
	}
	if d.source != nil && len(d.source.Key) > 0 {
		out = append(out, "a table by "+strings.Join(d.keys(), ", "))
	}
	if d.out.Time {
		out = append(out, "with event time")
	}
	if d.out.Windowed {
		out = append(out, "windowed")
	}
	if !d.out.Bounded {
		out = append(out, "without end")
	}
	return strings.Join(out, ", ")
}

func (d *description) keys() []string {
	var out []string
	for _, k := range d.source.Key {
		out = append(out, d.source.Schema.Fields[k].Name)
	}
	return out
}

// looks is one line about each statement: "4 columns, updating"; "" where there is nothing to say.
func (s *Session) looks(list []statement) []string {
	out := make([]string, len(list))
	probe := ""
	at := map[int]int{} // line of the probe → statement
	for i, x := range list {
		if x.flows() {
			probe += types.QuoteName(x.name) + "\n"
			at[strings.Count(probe, "\n")] = i
		}
	}
	if probe == "" {
		return out
	}
	if c, err := s.compile(probe, s.script.definitions(), planner.Options{Parallelism: 1, Set: s.opts.Plan.Set, Only: printedOnly}); err == nil {
		for _, w := range c.Script.Writes {
			if i, ok := at[w.Pos.Line]; ok {
				out[i] = describeWrite(list[i].what, w).line()
			}
		}
		return out
	}
	for _, i := range at { // one of them cannot be read: each by itself
		if d, err := s.describe(list[i].name); err == nil {
			out[i] = d.line()
		}
	}
	return out
}
