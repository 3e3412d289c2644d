package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// W: windows, and the event time that they wait for.
var _ = define(
	Rule{
		Code: "W401", Name: "window-without-time", Severity: syntax.SevError, Fix: Unsafe,
		Text: "A window in event time stands over rows that have none.",
		Why: "A window needs to know when each row happened. The `time` clause of the source says it; the fix takes the only column of type time. " +
			"`clock: \"processing\"` takes the machine's clock instead: then results differ from run to run. An `aggregate` without a window gives out rows without event time.",
		Bad:  "csv(\"orders.csv\") |> aggregate n = count() by customer window tumbling(1m) late drop\n",
		Good: "csv(\"orders.csv\") time at lag 10s |> aggregate n = count() by customer window tumbling(1m) late drop\n",
		Mend: giveTime,
	},
	Rule{
		Code: "W402", Name: "lag-as-long-as-window", Severity: syntax.SevWarn,
		Text: "A source waits for rows at least as long as a window is.",
		Why: "A window closes when the watermark passes its end, and the watermark stays behind the newest row by the `lag` of the source. With a lag as long as the window " +
			"each result comes a whole window late, and several windows are open at once. Make the lag shorter and send late rows elsewhere with `late into`, or make the window longer. " +
			"An input that ends makes nobody wait.",
		Bad:   "nexmark(\"bid\") |> aggregate n = count() window tumbling(500ms) late drop |> into jsonl(\"n.jsonl\")\n",
		Good:  "nexmark(\"bid\") |> aggregate n = count() window tumbling(10s) late drop |> into jsonl(\"n.jsonl\")\n",
		Check: longLag,
	},
	Rule{
		Code: "W403", Name: "no-idle", Severity: syntax.SevWarn, Fix: Unsafe,
		Text: "A source that never ends may fall silent, or a part of it, and others whose rows meet its own would wait for it.",
		Why: "Event time is that of the part that is furthest behind: of the files of one source, and of the sources whose rows come together, as in a `union`. One file that gets no more rows " +
			"stops the windows of all, without a word. `idle 1m` lets what has been silent for a minute hold nothing back; its rows that come later may be late.",
		Bad: "source logs = jsonl([\"logs.jsonl\", \"more.jsonl\"], follow: true)\n    schema { ts: time, service: string }\n    time ts lag 5s\n" +
			"logs |> aggregate n = count() by service window tumbling(1m) late drop |> into csv(\"n.csv\")\n",
		Good: "source logs = jsonl([\"logs.jsonl\", \"more.jsonl\"], follow: true)\n    schema { ts: time, service: string }\n    time ts lag 5s idle 1m\n" +
			"logs |> aggregate n = count() by service window tumbling(1m) late drop |> into csv(\"n.csv\")\n",
		Check: silentParts,
	},
	Rule{
		Code: "W404", Name: "window-gaps", Severity: syntax.SevWarn,
		Text: "A hopping window moves on by more than it is long.",
		Why:  "Rows between two windows are in none, and are lost without a word. Make `every` at most as long as the window; if you mean a sample, filter in front of the window.",
		Bad:  "csv(\"orders.csv\") time at |> aggregate n = count() window hopping(1m, every: 5m) late drop\n",
		Good: "csv(\"orders.csv\") time at |> aggregate n = count() window hopping(5m, every: 1m) late drop\n",
		Check: func(p *Pass) {
			for _, s := range p.Stages {
				w := s.Checked.Args.Window
				if w == nil || w.Kind != types.Hopping || w.Step <= w.Size {
					continue
				}
				at := clause(s.Tree, "window").Span
				if every := argument(clause(s.Tree, "window").Call, "every"); every != nil {
					at = every.Span
				}
				p.Report(at, fmt.Sprintf("of each %s the window sees only %s: rows between two windows are in none", duration(w.Step), duration(w.Size)),
					fmt.Sprintf("make `every` at most %s", duration(w.Size)), nil)
			}
		},
	},
	Rule{
		Code: "W406", Name: "late-rows-unsaid", Severity: syntax.SevInfo, Fix: Safe,
		Text: "A window says nothing of late rows, so they are dropped.",
		Why: "A row that comes after its window has closed is counted and dropped. `late into NAME` keeps it, `late allow 1m` revises the result, " +
			"and `late drop` says that dropping is meant.",
		Bad:   "csv(\"orders.csv\") time at |> aggregate n = count() by customer window tumbling(1m)\n",
		Good:  "csv(\"orders.csv\") time at |> aggregate n = count() by customer window tumbling(1m) late drop\n",
		Check: lateUnsaid,
	},
	Rule{
		Code: "W407", Name: "window-longer-than-retain", Severity: syntax.SevWarn,
		Text: "Rows of a window come less often than `retain` keeps a key.",
		Why: "`retain` drops a key once event time has passed its last row by so much. If its rows come from a window that moves on by more, each row of the key finds nothing of the one before: " +
			"nothing is ever added up. Keep keys longer than the window moves on.",
		Bad: "csv(\"orders.csv\") time at\n    |> aggregate n = count() by customer window tumbling(1d) late drop\n" +
			"    |> aggregate most = max(n) by customer emit final retain 1h\n",
		Good: "csv(\"orders.csv\") time at\n    |> aggregate n = count() by customer window tumbling(1d) late drop\n" +
			"    |> aggregate most = max(n) by customer emit final retain 7d\n",
		Check: shortRetain,
	},
	Rule{
		Code: "W408", Name: "updating-into-append-only", Severity: syntax.SevError, Fix: Unsafe,
		Text: "An updating stream goes into a sink that only takes rows that stay.",
		Why: "An updating stream takes back rows that it gave out. A file cannot do that: `changes: true` writes each change with a column `_change`, " +
			"and `emit final` with a window, or with `retain`, gives out each row once.",
		Bad:  "nexmark(\"bid\") |> aggregate n = count() by auction retain 1h |> into jsonl(\"n.jsonl\")\n",
		Good: "nexmark(\"bid\") |> aggregate n = count() by auction retain 1h |> into jsonl(\"n.jsonl\", changes: true)\n",
		Mend: takeChanges,
	},
	Rule{
		Code: "W409", Name: "windows-do-not-align", Severity: syntax.SevError,
		Text: "Windows over the rows of other windows cut through them.",
		Why: "The row of a window has the time of the window's end. If an outer window ends inside of an inner one, what that one has counted goes as a whole to the next: the result is wrong. " +
			"The size of the outer windows must be a multiple of that of the inner ones, and so must its step, and they must start together.",
		Bad: "csv(\"orders.csv\") time at\n    |> aggregate n = count() by customer window tumbling(10s) late drop\n" +
			"    |> aggregate most = max(n) window tumbling(15s)\n",
		Good: "csv(\"orders.csv\") time at\n    |> aggregate n = count() by customer window tumbling(10s) late drop\n" +
			"    |> aggregate most = max(n) window tumbling(30s)\n",
		Check: misaligned,
	},
)

func duration(ns int64) string { return types.FormatDuration(ns) }

// longLag: W402.
func longLag(p *Pass) {
	f := p.flow()
	for _, s := range p.Stages {
		w := s.Checked.Args.Window
		if w == nil || w.Processing || w.Kind == types.Session || w.Kind == types.CountWindow {
			continue
		}
		slow := f.slowest(s.Checked)
		if slow != nil && slow.Lag >= w.Size {
			p.Report(clause(s.Tree, "window").Span, fmt.Sprintf("the window is %s long, but `%s` waits %s for rows: each result comes a whole window late", duration(w.Size), slow.Name, duration(slow.Lag)),
				"make the lag shorter than the window, and send late rows elsewhere with `late into`", nil)
		}
	}
}

// silentParts: W403.
func silentParts(p *Pass) {
	if p.Facts == nil {
		return
	}
	f := p.flow()
	waits := map[end]bool{} // what somebody waits behind for event time
	var wait func(*check.Stage)
	wait = func(s *check.Stage) {
		for _, e := range f.before(s) {
			if !waits[e] {
				waits[e] = true
				if e.stage != nil {
					wait(e.stage)
				}
			}
		}
	}
	meets := map[[2]*check.Source]bool{} // sources whose event time is waited for together
	type list struct {
		first **check.Source
		n     int
	}
	done := map[list]bool{} // the stages of a chain share one
	for s := range f.place {
		if p.Facts.Marks(s) {
			wait(s)
			all := f.endless(s)
			if len(all) < 2 || done[list{&all[0], len(all)}] {
				continue
			}
			done[list{&all[0], len(all)}] = true
			for _, a := range all {
				for _, b := range all {
					meets[[2]*check.Source{a, b}] = true
				}
			}
		}
	}
	for _, s := range p.Checked.Sources {
		in := f.inputs[s.Pos]
		if in == nil || !waits[end{source: s}] || s.Time == nil || s.Info.Bounded || s.Idle > 0 {
			continue
		}
		reads, message, help := p.Facts.Reads(s), "", "say when a part is idle, for example `idle 1m`"
		other := slices.IndexFunc(p.Checked.Sources, func(o *check.Source) bool { return o != s && meets[[2]*check.Source{s, o}] })
		switch {
		case reads.Splits:
			message = fmt.Sprintf("`%s` may have several parts, and one that falls silent stops event time for all", s.Name)
		case reads.Outside && other >= 0:
			message = fmt.Sprintf("if `%s` falls silent, event time stops for `%s`, too: their rows meet", s.Name, p.Checked.Sources[other].Name)
			help = "say when it is idle, for example `idle 1m`"
		default:
			continue
		}
		at, fix := in.Call.Name.Span, (*Fix)(nil)
		if in.Time != nil {
			at, fix = in.Time.Span, insert(in.Time.Span, " idle 1m", Unsafe, "add `idle 1m`")
		}
		p.Report(at, message, help, fix)
	}
}

// lateUnsaid: W406.
func lateUnsaid(p *Pass) {
	if p.Facts == nil {
		return
	}
	f := p.flow()
	for _, s := range p.Stages {
		a := s.Checked.Args
		if a.Window == nil || a.Window.Processing || a.Late.Set || !slices.Contains(s.Checked.Sig.Clauses, "late") || !p.Facts.Marks(s.Checked) {
			continue
		}
		late := slices.ContainsFunc(f.nearest(s.Checked), func(e end) bool { return e.source != nil && e.source.Time != nil }) // rows that a stage makes never are
		if late {
			p.Report(clause(s.Tree, "window").Span, "late rows are dropped, and the script does not say so", "write `late into NAME` to keep them, or `late drop`",
				oneClause(s.Tree, "late drop", Safe))
		}
	}
}

// windowed calls visit with each stage with a window in event time whose rows reach s as they are.
func (p *Pass) windowed(f *flow, s *check.Stage, visit func(*check.Stage)) {
	for _, e := range f.nearest(s) {
		if e.stage != nil && e.stage.Args.Window != nil && !e.stage.Args.Window.Processing {
			visit(e.stage)
		}
	}
}

// same reports whether a stage gives out the columns that it is given: a window then only says what it waits for.
func same(s *check.Stage) bool { return len(s.In) > 0 && s.Out.Schema.Equal(s.In[0].Schema) }

// shortRetain: W407.
func shortRetain(p *Pass) {
	if p.Facts == nil {
		return
	}
	f := p.flow()
	for _, s := range p.Stages {
		a := s.Checked.Args
		if a.Retain.For == 0 || slices.ContainsFunc(a.By, func(k types.Item) bool { return readsWindow(k.Expr, s.Checked.In[0].Schema) }) {
			continue
		}
		p.windowed(f, s.Checked, func(inner *check.Stage) {
			w := inner.Args.Window
			step := w.Size
			switch w.Kind {
			case types.Hopping, types.Cumulate:
				step = w.Step
			case types.CountWindow:
				return
			}
			if step > a.Retain.For {
				p.Report(clause(s.Tree, "retain").Span, fmt.Sprintf("a key is dropped after %s, but its rows come every %s, from `window %s`: each finds nothing of the one before", duration(a.Retain.For), duration(step), w),
					fmt.Sprintf("retain keys longer than %s", duration(step)), nil)
			}
		})
	}
}

// readsWindow reports whether an expression reads the column `window`.
func readsWindow(e *types.Expr, in types.Schema) bool {
	at := in.Index("window")
	return e.Any(func(x *types.Expr) bool { return x.Op == types.OpCol && x.Col == at })
}

// misaligned: W409.
func misaligned(p *Pass) {
	if p.Facts == nil {
		return
	}
	f := p.flow()
	for _, s := range p.Stages {
		outer := s.Checked.Args.Window
		if outer == nil || outer.Processing || outer.Kind == types.Session || outer.Kind == types.CountWindow || same(s.Checked) {
			continue
		}
		p.windowed(f, s.Checked, func(st *check.Stage) {
			inner := st.Args.Window
			unit := inner.Size
			switch inner.Kind {
			case types.Hopping:
				unit = inner.Step
			case types.Session, types.CountWindow:
				return
			}
			what := ""
			switch {
			case outer.Size%unit != 0:
				what = fmt.Sprintf("%s is no multiple of %s", duration(outer.Size), duration(unit))
			case outer.Step%unit != 0:
				what = fmt.Sprintf("the step of %s is no multiple of %s", duration(outer.Step), duration(unit))
			case inner.Kind != types.Hopping && (outer.Offset-inner.Offset)%unit != 0:
				what = "their offsets are apart"
			default:
				return
			}
			p.Report(clause(s.Tree, "window").Span, fmt.Sprintf("the windows cut through those of the rows, `%s`: %s", inner, what),
				fmt.Sprintf("make the size and the step of the outer windows multiples of %s, and let both start together", duration(unit)), nil)
		})
	}
}

// giveTime mends W401: the source gets the time clause that it lacks.
func giveTime(s *Script, d check.Diagnostic) *Fix {
	f := s.flow()
	in := s.headOf(d.Span)
	if in == nil || in.Time != nil {
		return nil
	}
	for _, src := range s.Checked.Sources {
		if f.inputs[src.Pos] != in {
			continue
		}
		var times []string
		for _, c := range src.Schema.Fields {
			if c.Type.Kind == types.Time {
				times = append(times, c.Name)
			}
		}
		if len(times) != 1 {
			return nil
		}
		behind := in.Call.Span
		if in.Schema != nil {
			behind = in.Schema.Span
		}
		text := "time " + types.QuoteName(times[0])
		return insert(behind, " "+text, Unsafe, "add `"+text+"` to the source")
	}
	return nil
}

// headOf returns the input that the pipeline around a place begins with, directly or through other streams of this text; nil if
// there is none, or a stage between makes rows of its own.
func (s *Script) headOf(at syntax.Span) *syntax.Input {
	known := map[*syntax.Stage]*check.Stage{}
	for _, st := range s.Stages {
		known[st.Tree] = st.Checked
	}
	named := map[string]syntax.Stmt{}
	var in *syntax.Pipeline
	for _, st := range s.Tree.Stmts {
		switch st := st.(type) {
		case *syntax.SourceStmt:
			named[st.Name.Name] = st
		case *syntax.Stream:
			named[st.Name.Name] = st
			if holds(st.Span, at) {
				in = st.Pipeline
			}
		case *syntax.PipelineStmt:
			if holds(st.Span, at) {
				in = st.Pipeline
			}
		}
	}
	for range named { // no circle is longer
		if in == nil {
			return nil
		}
		for _, st := range in.Stages {
			if c := known[st]; c != nil && c.Sig.Items == types.Aggregates || st.Call {
				return nil
			}
			if st.Start.Offset >= at.Start.Offset {
				break
			}
		}
		if in.Input != nil {
			return in.Input
		}
		switch from := named[in.From.Name].(type) {
		case *syntax.SourceStmt:
			return &from.Input
		case *syntax.Stream:
			in = from.Pipeline
		default:
			return nil
		}
	}
	if in != nil {
		return in.Input
	}
	return nil
}

func holds(outer, inner syntax.Span) bool {
	return outer.Start.Offset <= inner.Start.Offset && inner.End.Offset <= outer.End.Offset
}

// takeChanges mends W408 where the sink has the option for it.
func takeChanges(s *Script, d check.Diagnostic) *Fix {
	if !strings.Contains(d.Help, "changes: true") {
		return nil
	}
	for _, t := range s.flow().targets {
		if t.Span != d.Span {
			continue
		}
		call := t.Call
		for _, st := range s.Tree.Stmts {
			if sink, ok := st.(*syntax.SinkStmt); ok && t.Name != nil && sink.Name.Name == t.Name.Name {
				call = sink.Call
			}
		}
		if call == nil {
			return nil
		}
		if a := argument(call, "changes"); a != nil {
			return replace(a.Span, "changes: true", Unsafe, "write `changes: true`")
		}
		return inside(call, "changes: true", Unsafe, s.Tree.Source)
	}
	return nil
}
