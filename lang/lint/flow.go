package lint

import (
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// flow knows what of a script lies before what, and where in the text it stands.
type flow struct {
	script  *Script
	place   map[*check.Stage]position
	inputs  map[types.Place]*syntax.Input
	targets map[types.Place]*syntax.Target
	direct  map[*check.Stage][]end // of nearest
	slow    map[*check.Stage]*check.Source
	lasting map[*check.Stage][]*check.Source // of endless
}

// position is the place of a stage in its stream.
type position struct {
	stream *check.Stream
	at     int
}

// end is where rows come from: a stage, or a source.
type end struct {
	stage  *check.Stage
	source *check.Source
}

// flow returns what is known of the script's streams.
func (s *Script) flow() *flow {
	if s.ways != nil {
		return s.ways
	}
	f := &flow{script: s, place: map[*check.Stage]position{}, inputs: map[types.Place]*syntax.Input{}, targets: map[types.Place]*syntax.Target{},
		direct: map[*check.Stage][]end{}, slow: map[*check.Stage]*check.Source{}, lasting: map[*check.Stage][]*check.Source{}}
	for _, st := range s.Checked.Streams {
		for i, stage := range st.Stages {
			f.place[stage] = position{st, i}
		}
	}
	in := func(i *syntax.Input) { f.inputs[s.placeOf(i.Call.Name.Span)] = i }
	to := func(t *syntax.Target) { f.targets[s.placeOf(t.Span)] = t }
	for _, st := range s.Tree.Stmts {
		syntax.Ends(st, in, to)
	}
	s.ways = f
	return f
}

func (s *Script) placeOf(at syntax.Span) types.Place {
	return types.Place{File: s.Tree.Source.Name, Line: at.Start.Line, Column: at.Start.Column}
}

// before returns where the rows come from that flow into a stage. Rows that failed are not among them: they are others.
func (f *flow) before(s *check.Stage) []end {
	p, known := f.place[s]
	if !known {
		return nil
	}
	var out []end
	if p.at > 0 {
		out = append(out, end{stage: p.stream.Stages[p.at-1]})
	} else {
		out = f.head(p.stream)
	}
	for _, n := range s.More {
		out = append(out, f.last(n)...)
	}
	return out
}

// last returns where the rows of a node come from.
func (f *flow) last(n check.Node) []end {
	switch {
	case n.Source != nil:
		return []end{{source: n.Source}}
	case n.Stream == nil:
		return nil
	case len(n.Stream.Stages) > 0:
		return []end{{stage: n.Stream.Stages[len(n.Stream.Stages)-1]}}
	}
	return f.head(n.Stream)
}

// head returns where the rows of a stream's first stage come from.
func (f *flow) head(s *check.Stream) []end {
	if len(s.Feeds) == 0 {
		return f.last(s.From)
	}
	var out []end
	for _, feed := range s.Feeds {
		switch {
		case feed.Kind == "error":
		case feed.Stage != nil: // what flows into it goes sideways
			out = append(out, f.before(feed.Stage)...)
		case feed.Stream != nil:
			out = append(out, f.last(check.Node{Stream: feed.Stream})...)
		}
	}
	return out
}

// nearest returns the sources whose rows reach a stage as they are, and the nearest stages before it that make rows of their own.
func (f *flow) nearest(s *check.Stage) []end {
	if out, known := f.direct[s]; known {
		return out
	}
	f.direct[s] = nil // for a circle, which is an error
	var out []end
	for _, e := range f.before(s) {
		more := []end{e}
		if e.stage != nil && f.script.Facts.Passes(e.stage) {
			more = f.nearest(e.stage)
		}
		for _, m := range more {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	f.direct[s] = out
	return out
}

// slowest returns, of the sources before a stage that never end, the one that waits longest for rows; nil if there is none.
func (f *flow) slowest(s *check.Stage) *check.Source {
	if out, known := f.slow[s]; known {
		return out
	}
	f.slow[s] = nil
	var out *check.Source
	for _, e := range f.before(s) {
		src := e.source
		if e.stage != nil {
			src = f.slowest(e.stage)
		}
		if src != nil && src.Time != nil && !src.Info.Bounded && (out == nil || src.Lag > out.Lag) {
			out = src
		}
	}
	f.slow[s] = out
	return out
}

// endless returns the sources before a stage that have an event time and never end.
func (f *flow) endless(s *check.Stage) []*check.Source {
	if out, known := f.lasting[s]; known {
		return out
	}
	f.lasting[s] = nil
	var out []*check.Source
	for _, e := range f.before(s) {
		var list []*check.Source
		if src := e.source; src != nil && src.Time != nil && !src.Info.Bounded {
			list = []*check.Source{src}
		} else if e.stage != nil {
			list = f.endless(e.stage)
		}
		if out == nil {
			out = slices.Clip(list) // those of a long chain share one list
			continue
		}
		for _, src := range list {
			if !slices.Contains(out, src) {
				out = append(out, src)
			}
		}
	}
	f.lasting[s] = out
	return out
}

// up calls visit for all that lies before a stage, the nearest first. What lies before a stage for which visit is false is left
// out.
func (f *flow) up(s *check.Stage, visit func(end) bool) {
	seen := map[end]bool{}
	var walk func([]end)
	walk = func(list []end) {
		for _, e := range list {
			if seen[e] {
				continue
			}
			seen[e] = true
			if visit(e) && e.stage != nil {
				walk(f.before(e.stage))
			}
		}
	}
	walk(f.before(s))
}

// leads returns the stages and sources that run: those that outputs need.
func (f *flow) leads() map[end]bool {
	seen := map[end]bool{}
	streams := map[*check.Stream]bool{}
	var node func(check.Node)
	stage := func(s *check.Stage) {
		if !seen[end{stage: s}] {
			seen[end{stage: s}] = true
			for _, n := range s.More {
				node(n)
			}
		}
	}
	node = func(n check.Node) {
		switch {
		case n.Source != nil:
			seen[end{source: n.Source}] = true
		case n.Stream != nil && !streams[n.Stream]:
			streams[n.Stream] = true
			for _, s := range n.Stream.Stages {
				stage(s)
			}
			for _, feed := range n.Stream.Feeds {
				if feed.Stage != nil {
					stage(feed.Stage)
					feed.Stream = f.place[feed.Stage].stream
				}
				node(check.Node{Source: feed.Source, Stream: feed.Stream})
			}
			node(n.Stream.From)
		}
	}
	for _, w := range f.script.Checked.Writes {
		node(w.From)
	}
	return seen
}

// keepsCheckpoints reports whether a run of the script takes checkpoints, so that rows are read again after a restart: it writes
// something, nothing turns them off, and what it reads can be read again.
func (s *Script) keepsCheckpoints() bool {
	if s.Checked.Set["checkpoint.mode"] == "none" || !s.writes() {
		return false
	}
	if dir, _ := s.Checked.Set["checkpoint.dir"].(string); dir != "" {
		return true
	}
	for _, src := range s.Checked.Sources {
		if s.Facts != nil && !s.Facts.Reads(src).Rewinds {
			return false
		}
	}
	return true
}

// writes reports whether the script is a job: it has an output that is not only printed.
func (s *Script) writes() bool {
	return slices.ContainsFunc(s.Checked.Writes, func(w *check.Write) bool { return w.Conn != nil })
}

// asksForCheckpoints reports whether the script says anything about checkpoints.
func (s *Script) asksForCheckpoints() bool {
	for k := range s.Checked.Set {
		if strings.HasPrefix(k, "checkpoint.") {
			return true
		}
	}
	return false
}

// clause returns the clause of a stage with a label, nil if there is none.
func clause(s *syntax.Stage, label string) *syntax.Clause {
	for _, c := range s.Clauses {
		if c.Label == label {
			return c
		}
	}
	return nil
}

// argument returns the argument of a call with a name, nil if there is none.
func argument(c *syntax.Call, name string) *syntax.Item {
	for _, a := range c.Args {
		if a.Name != nil && a.Name.Name == name {
			return a
		}
	}
	return nil
}

// insert is a fix that puts a text behind a span.
func insert(behind syntax.Span, text string, a Applicability, what string) *Fix {
	return replace(syntax.Span{Start: behind.End, End: behind.End}, text, a, what)
}

// oneClause is a fix that adds a clause to a stage, in front of its block if it has one.
func oneClause(s *syntax.Stage, text string, a Applicability) *Fix {
	behind := s.Span
	if len(s.Cases) > 0 || len(s.Steps) > 0 {
		behind = s.Name.Span
		for _, c := range s.Clauses {
			behind = c.Span
		}
	}
	return insert(behind, " "+text, a, "add `"+text+"`")
}

// inside is a fix that adds an argument to a call.
func inside(c *syntax.Call, arg string, a Applicability, src *syntax.Source) *Fix {
	at := c.Span
	at.End = src.Pos(c.Span.End.Offset - len(")"))
	if len(c.Args) > 0 {
		at.End, arg = c.Args[len(c.Args)-1].End, ", "+arg
	}
	return insert(at, arg, a, "add `"+trimComma(arg)+"`")
}

func trimComma(s string) string {
	if len(s) > 2 && s[:2] == ", " {
		return s[2:]
	}
	return s
}
