package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// D: what a run does that goes on from a checkpoint. Its sources are read again from there.
var _ = define(
	Rule{
		Code: "D801", Name: "not-replayable", Severity: syntax.SevWarn, Fix: Unsafe,
		Text: "A job takes the time of the machine, so its results cannot be made again.",
		Why: "After a crash a job goes on from its last checkpoint and reads rows again that it had read. `now()` is another time then, and a window by the machine's clock holds other rows. " +
			"The time of the row, `event_time()`, is always the same; the fix takes it where rows have one.",
		Bad:   "nexmark(\"bid\") |> derive age = now() - date_time |> into jsonl(\"bids.jsonl\")\n",
		Good:  "nexmark(\"bid\") |> derive age = event_time() - date_time |> into jsonl(\"bids.jsonl\")\n",
		Check: notReplayable,
	},
	Rule{
		Code: "D802", Name: "output-may-repeat", Severity: syntax.SevWarn,
		Text: "A job takes checkpoints, and one of its outputs may get rows twice.",
		Why: "Files take part in checkpoints: after a crash they are cut back to where the job goes on. What was printed or sent away stays, and comes again. " +
			"Of standard output nothing is said unless the script sets something of `checkpoint`. Write a file, or let whoever reads the output drop rows that come twice.",
		Bad:   "set checkpoint.interval = 5s\nnexmark(\"bid\") |> into csv(\"-\")\n",
		Good:  "set checkpoint.interval = 5s\nnexmark(\"bid\") |> into csv(\"bids.csv\")\n",
		Check: mayRepeat,
	},
	Rule{
		Code: "D803", Name: "source-not-replayable", Severity: syntax.SevWarn,
		Text: "A script asks for checkpoints, but one of its sources cannot be read again.",
		Why: "Standard input and named pipes give each row once. Without `checkpoint.dir` the job takes no checkpoints at all, whatever else is set; with it, rows that came after the last checkpoint are lost after a crash. " +
			"Let the rows go into a file first, and follow that: `csv(\"in.csv\", follow: true)`.",
		Bad:   "set checkpoint.dir = \"state\"\nlines(\"-\") |> into csv(\"copy.csv\")\n",
		Good:  "set checkpoint.dir = \"state\"\nlines(\"in.log\", follow: true) |> into csv(\"copy.csv\")\n",
		Check: notReadAgain,
	},
	Rule{
		Code: "D804", Name: "checkpoint-does-not-fit", Severity: syntax.SevError,
		Text: "The script has no place for what a checkpoint keeps.",
		Why: "`ebb lint --against CHECKPOINT` compares the script with a checkpoint, before the job is stopped. A run that goes on from it would be refused. " +
			"Take the change back, start anew with `--fresh`, or give up what does not fit with `--allow-dropped STAGE`.",
		Check: doesNotFit,
	},
)

// notReplayable: D801.
func notReplayable(p *Pass) {
	if !p.keepsCheckpoints() {
		return
	}
	f := p.flow()
	leads := f.leads()
	for _, w := range p.Checked.Writes { // partition_by
		t := f.targets[w.Pos]
		if w.Conn == nil || t == nil || t.Call == nil {
			continue
		}
		for _, e := range p.within(t.Span) {
			p.volatile(e, nil)
		}
	}
	for _, src := range p.Checked.Sources {
		in := f.inputs[src.Pos]
		if in == nil || in.Time == nil || !leads[end{source: src}] {
			continue
		}
		for _, e := range p.within(in.Time.Span) {
			p.volatile(e, nil)
		}
	}
	for _, s := range p.Stages {
		if !leads[end{stage: s.Checked}] {
			continue
		}
		if w := s.Checked.Args.Window; w != nil && w.Processing {
			p.Report(clause(s.Tree, "window").Span, "a window by the machine's clock holds other rows when they are read again", "take a window in event time", nil)
		}
		for _, e := range s.exprs {
			p.volatile(e, s.Checked)
		}
	}
}

// volatile reports what of an expression is different each time. in is the stage that it is of, if any.
func (p *Pass) volatile(e *check.Seen, in *check.Stage) {
	for _, n := range deepest(e, (*types.Expr).Volatile) {
		var fix *Fix
		help := "the job takes checkpoints; what is computed again should be the same"
		if text := e.Written(n); strings.TrimSuffix(strings.ReplaceAll(text, " ", ""), "()") == "now" {
			if help = "give the source a `time`, and take `event_time()`"; in != nil && in.In[0].Time {
				help = "`event_time()` is the time of the row"
				fix = replace(e.Span(n), "event_time()", Unsafe, "take `event_time()`")
			}
		}
		p.Report(e.Span(n), fmt.Sprintf("`%s` is something else when rows are read again after a crash", e.Written(n)), help, fix)
	}
}

// deepest returns the nodes of an expression that are so, or are made of what is so, and have no node below them that is: the
// call of a function counts for its body.
func deepest(e *check.Seen, is func(*types.Expr) bool) (out []ast.Node) {
	if !e.Any(is) { // nearly all
		return nil
	}
	visit(e.Tree, func(n ast.Node) {
		if !e.Type(n).Any(is) {
			return
		}
		at := e.Span(n)
		if !slices.ContainsFunc(out, func(m ast.Node) bool { return holds(at, e.Span(m)) }) {
			out = append(out, n)
		}
	})
	return out
}

// mayRepeat: D802.
func mayRepeat(p *Pass) {
	if p.Facts == nil || !p.keepsCheckpoints() {
		return
	}
	f := p.flow()
	for _, w := range p.Checked.Writes {
		t := f.targets[w.Pos]
		if w.Conn == nil || t == nil {
			continue
		}
		how := p.Facts.Writes(w)
		switch {
		case how.ExactlyOnce, how.Shown && !p.asksForCheckpoints():
		case how.Shown:
			p.Report(t.Span, fmt.Sprintf("what `%s` prints cannot be taken back: after a crash rows come twice", w.Name), "write a file; its rows are taken back to the checkpoint", nil)
		default:
			p.Report(t.Span, fmt.Sprintf("`%s` does not take part in checkpoints: after a crash rows come twice", w.Name), "let whoever reads it drop what comes twice", nil)
		}
	}
}

// notReadAgain: D803.
func notReadAgain(p *Pass) {
	if p.Facts == nil || !p.asksForCheckpoints() || p.Checked.Set["checkpoint.mode"] == "none" || !p.writes() {
		return
	}
	f := p.flow()
	dir, _ := p.Checked.Set["checkpoint.dir"].(string)
	for _, src := range p.Checked.Sources {
		in := f.inputs[src.Pos]
		if in == nil || p.Facts.Reads(src).Rewinds {
			continue
		}
		message, help := fmt.Sprintf("`%s` cannot be read again: rows are lost after a crash", src.Name), "let the rows go into a file first, and follow that"
		if dir == "" {
			message = fmt.Sprintf("`%s` cannot be read again, so the job takes no checkpoints at all", src.Name)
			help += "; with `checkpoint.dir` they are taken nevertheless, and rows may be lost"
		}
		p.Report(in.Call.Span, message, help, nil)
	}
}

// doesNotFit: D804.
func doesNotFit(p *Pass) {
	if p.Facts == nil || slices.ContainsFunc(p.Errors, func(d check.Diagnostic) bool { return d.Severity == syntax.SevError }) {
		return // what is missing because of an error is not gone
	}
	for _, x := range p.Facts.Fits() {
		if x.Wrong != "" {
			p.Report(p.named(x.Name), fmt.Sprintf("the checkpoint keeps `%s`: %s", x.Name, x.Wrong), fmt.Sprintf("`--allow-dropped %s` gives it up, `--fresh` starts anew", x.Name), nil)
		}
	}
}

// Kept says in a line what of a checkpoint the script goes on with, what it does not, and what of the script begins empty; "" without a
// checkpoint.
func Kept(f Facts) string {
	var parts []string
	add := func(what string, is func(Fit) bool) {
		var names []string
		for _, x := range f.Fits() {
			if is(x) {
				names = append(names, x.Name)
			}
		}
		if len(names) > 0 {
			parts = append(parts, what+" "+strings.Join(names, ", "))
		}
	}
	add("fits", func(x Fit) bool { return x.Wrong == "" && !x.New })
	add("does not fit", func(x Fit) bool { return x.Wrong != "" })
	add("begins empty", func(x Fit) bool { return x.New })
	return strings.Join(parts, "; ")
}

// named returns where the script says something of a stable name: of the stage, its stream, or the source or sink; else where it
// begins.
func (s *Script) named(name string) syntax.Span {
	name, _, _ = strings.Cut(name, " > ") // an edge is at the stage that it comes from
	for _, st := range s.Stages {
		if st.Checked.Args.ID == name {
			return st.Tree.Name.Span
		}
	}
	stream, _, _ := strings.Cut(name, "/")
	for _, st := range s.Tree.Stmts {
		switch st := st.(type) {
		case *syntax.Stream:
			if st.Name.Name == stream {
				return st.Name.Span
			}
		case *syntax.SourceStmt:
			if st.Name.Name == stream {
				return st.Name.Span
			}
		case *syntax.SinkStmt:
			if st.Name.Name == stream {
				return st.Name.Span
			}
		}
	}
	if len(s.Tree.Stmts) == 0 {
		return syntax.Span{Start: s.Tree.Source.Pos(0), End: s.Tree.Source.Pos(0)}
	}
	at := s.Tree.Stmts[0].Range()
	if line := strings.IndexByte(s.Tree.Source.Slice(at), '\n'); line >= 0 {
		at.End = s.Tree.Source.Pos(at.Start.Offset + line)
	}
	return at
}
