package check

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Test is a checked `test` of the main file.
type Test struct {
	*syntax.Test
	Steps []*TestStep
}

// TestStep is a checked step of a test.
type TestStep struct {
	*syntax.TestStep
	Source   *Source         // of given: what the rows replace
	Conn     *types.ConnArgs // of given: where the rows come from; nil: they are Rows
	Content  string          // of given: what stands in the file that Conn reads, if the step says it
	Kind     string          // of expect: what its rows are those of, stream, source or sink
	To       types.Place     // of expect, of a sink: the call that its rows are written by
	Schema   types.Schema    // of the rows
	Updating bool            // they may take others back
	Rows     []TestRow
	Listed   bool   // the rows stand in the step itself, one by one
	Text     string // of `expect error`, or the name of a checkpoint; ""
	Number   int64  // of advance nanoseconds; of restore the parallelism, 0 if it stays; of rollback the checkpoint, 0 if Text or nothing says it
	Ends     bool   // of expect: the input ends before it
}

// Subject is what a step gives rows to or expects rows of, as messages name it.
func (x *TestStep) Subject() string {
	if x.File != nil {
		return fmt.Sprintf("%q", x.File.Name)
	}
	return "`" + x.Name.Name + "`"
}

// test checks a test: what its steps name, their rows against the columns, and that the steps go together.
func (c *checker) test(f *unit, s *syntax.Test) {
	t := &Test{Test: s}
	last := -1
	for i, step := range s.Steps {
		if step.Verb == "given" {
			last = i
		}
	}
	run := testRun{}
	c.at(f, func() {
		for i, step := range s.Steps {
			x := &TestStep{TestStep: step}
			c.testStep(f, x, &run)
			if step.Verb == "expect" && i > last && !run.ended {
				x.Ends, run.ended = true, true
			}
			t.Steps = append(t.Steps, x)
		}
	})
	c.out.Tests = append(c.out.Tests, t)
}

// testRun is how far the job of a test has come, as far as its steps say so.
type testRun struct {
	ended   bool // its input
	down    bool // after a crash
	taken   int  // checkpoints
	named   []string
	unknown bool // a checkpoint has a name that is wrong
}

func (c *checker) testStep(f *unit, x *TestStep, run *testRun) {
	if x.Verb != "given" && x.Verb != "expect" && run.ended {
		c.fault(x.Span, "C350", fmt.Sprintf("`%s` comes when the job has ended", x.Verb), "the first `expect` after the last `given` ends the input: move the step before it")
	}
	switch x.Verb {
	case "given":
		run.down = false
		c.given(f, x)
	case "expect":
		run.down = false
		c.expect(f, x)
	case "advance":
		run.down = false
		if x.Value != nil {
			x.Number, _ = c.duration(x.Value, "the time that passes", 1)
		}
	case "checkpoint":
		run.down = false
		run.taken++
		if x.Value == nil {
			return
		}
		var ok bool
		if x.Text, _, ok = c.checkpointName(x, false); !ok {
			run.unknown = true
			return
		}
		if slices.Contains(run.named, x.Text) {
			c.fault(x.Value.Span, "C350", fmt.Sprintf("two checkpoints of the test are called %q", x.Text), "")
		}
		run.named = append(run.named, x.Text)
	case "crash":
		run.down = true
	case "restore":
		c.restore(x, run)
		run.down = false
	case "rollback":
		run.down = false
		c.rollback(x, run)
	}
}

func (c *checker) restore(x *TestStep, run *testRun) {
	if run.taken == 0 && !run.down {
		c.fault(x.Span, "C350", "there is nothing to restore: no checkpoint was taken, and the job runs", "write `checkpoint` before it, or `crash` if the job shall start afresh")
	}
	if x.Value == nil {
		return
	}
	if x.Mode != "parallelism" {
		c.fault(x.Value.Span, "C351", "`restore` goes on from the newest checkpoint and takes none", "`rollback` goes back to an older one; `restore parallelism 4` goes on with more tasks")
		return
	}
	n, ok := c.number(x.Value, "the parallelism", 1)
	if most := settings["parallelism"].most; ok && n > most {
		c.fault(x.Value.Span, "T231", fmt.Sprintf("the parallelism must be at most %d", most), "")
		return
	}
	x.Number = n
}

func (c *checker) rollback(x *TestStep, run *testRun) {
	if run.taken == 0 {
		c.fault(x.Span, "C350", "there is no checkpoint to go back to", "take one earlier in the test: `checkpoint`")
		return
	}
	if x.Value == nil {
		return
	}
	var ok bool
	if x.Text, x.Number, ok = c.checkpointName(x, true); !ok || run.unknown {
		return
	}
	switch {
	case x.Text != "" && !slices.Contains(run.named, x.Text):
		c.fault(x.Value.Span, "C350", fmt.Sprintf("no checkpoint of the test is called %q%s", x.Text, didYouMean(x.Text, run.named)), "")
	case x.Text != "":
	case x.Number == 0, x.Number > int64(run.taken), x.Number <= -int64(run.taken):
		c.fault(x.Value.Span, "C350", fmt.Sprintf("the test has taken %d checkpoints by then, and this is none of them", run.taken),
			"they count from 1; -1 is the one before the newest")
	}
}

// checkpointName reads the name of a checkpoint, a word or a text, or its number.
func (c *checker) checkpointName(x *TestStep, numbers bool) (name string, number int64, ok bool) {
	if t := x.Value.Tokens; len(t) == 1 && (t[0].Kind == syntax.KindIdent || t[0].Kind == syntax.KindQuoted) {
		return plainName(t[0]), 0, true
	}
	kinds, what := []types.Kind{types.String}, "the name of the checkpoint"
	if numbers {
		kinds, what = append(kinds, types.Int), "the checkpoint"
	}
	v := c.constantOf(x.Value, what, kinds...)
	if v == nil {
		return "", 0, false
	}
	if n, is := v.Value.(int64); is {
		return "", n, true
	}
	name = v.Value.(string)
	if name == "" || strings.ContainsAny(name, "\n\r") {
		c.fault(x.Value.Span, "C351", "this is no name for a checkpoint", "write a word: `checkpoint before`")
		return "", 0, false
	}
	return name, 0, true
}

// given checks `given SOURCE = ROWS`, `given SOURCE = CONNECTOR(…)` and `given SOURCE = TEXT`.
func (c *checker) given(f *unit, x *TestStep) {
	if x.Name == nil {
		return
	}
	d := c.tested(f, x, "source")
	if d == nil {
		return
	}
	rows := c.resolve(d, f.src, x.Name.Span)
	if !rows.ok || d.source == nil {
		return
	}
	x.Source, x.Schema, x.Updating = d.source, unformatted(d.source.Schema), rows.rows.Updating
	if x.Value == nil {
		return
	}
	if x.Call != nil && c.env.Func(x.Call.Name.Name) == nil && f.fns[x.Call.Name.Name] == nil {
		if x.Conn = c.connector(x.Call, true, nil); x.Conn == nil {
			return
		}
		if _, err := c.env.Source(x.Conn, &d.source.Schema); err != nil {
			c.sourceError(&syntax.Input{Call: x.Call}, err)
		}
		return
	}
	c.testRows(x, true)
}

// content takes the text of a file that a source reads.
func (c *checker) content(x *TestStep, text string) {
	call := x.Source.Conn
	sig := c.env.Conn(call.Name)
	if sig == nil || !slices.ContainsFunc(sig.Params, func(p types.ConnParam) bool { return p.Place }) {
		c.fault(x.Value.Span, "C351", fmt.Sprintf("`%s` reads no files, so no text can stand in the place of one", call.Name), "give rows: `[{NAME: VALUE, …}, …]`")
		return
	}
	x.Content, x.Conn = undented(text), call
}

// undented is a text as it was meant: where it begins on a line of its own, what its lines are indented by is no part of it.
func undented(text string) string {
	rest, own := strings.CutPrefix(text, "\n")
	if !own {
		return text
	}
	lines := strings.Split(rest, "\n")
	margin := -1
	for _, l := range lines {
		if bare := strings.TrimLeft(l, " \t"); bare != "" && (margin < 0 || len(l)-len(bare) < margin) {
			margin = len(l) - len(bare)
		}
	}
	for i, l := range lines {
		lines[i] = l[min(max(margin, 0), len(l)-len(strings.TrimLeft(l, " \t"))):]
	}
	if last := len(lines) - 1; strings.TrimSpace(lines[last]) == "" {
		lines[last] = ""
	}
	return strings.Join(lines, "\n")
}

// expect checks `expect NAME = ROWS` and `expect error TEXT`.
func (c *checker) expect(f *unit, x *TestStep) {
	if x.Mode == "error" {
		if x.Value != nil {
			if v := c.constantOf(x.Value, "the text of the error", types.String); v != nil {
				x.Text = v.Value.(string)
			}
		}
		return
	}
	if x.File != nil {
		if c.written(x) && x.Value != nil {
			c.testRows(x, false)
		}
		return
	}
	if x.Name == nil {
		return
	}
	d := c.tested(f, x, "stream", "source", "sink")
	if d == nil {
		return
	}
	x.Kind = d.kind
	rows := c.resolve(d, f.src, x.Name.Span)
	switch {
	case !rows.ok:
		return
	case d.kind == "sink":
		if d.sink == nil {
			c.fault(x.Name.Span, "C350", fmt.Sprintf("nothing is written into the sink `%s`", d.name), "")
			return
		}
		c.sinkRows(x, func(w *Write) bool { return w.Sink == d.name })
	default:
		x.Schema, x.Updating = unformatted(rows.rows.Schema), rows.rows.Updating
	}
	if x.Value != nil {
		c.testRows(x, false)
	}
}

// sinkRows says what the rows of an output are like, which one or more writes make, and reports whether there are any.
func (c *checker) sinkRows(x *TestStep, of func(*Write) bool) (found bool) {
	for _, w := range c.out.Writes {
		if w.Conn != nil && of(w) {
			found = true
			x.Kind, x.To, x.Schema = "sink", w.Conn.Pos, unformatted(w.Schema)
			x.Updating = x.Updating || w.In.Updating
		}
	}
	return found
}

// written finds the output that lies in the file that a step names.
func (c *checker) written(x *TestStep) bool {
	at := filepath.Clean(x.File.Name)
	if w := c.places[at]; w != nil {
		return c.sinkRows(x, func(o *Write) bool { return o == w || w.Sink != "" && o.Sink == w.Sink })
	}
	if c.wrong {
		return false // which may have kept it from being known
	}
	var known []string
	for p := range c.places {
		known = append(known, p)
	}
	slices.Sort(known)
	help := "no output of the script has a path that is known; give the rows a name, `stream NAME = …`, and expect those"
	if len(known) > 0 {
		help = "the outputs are " + strings.Join(known, ", ")
	}
	guess := ""
	if s := syntax.Suggest(x.File.Name, known); s != "" {
		guess = fmt.Sprintf("; did you mean %q?", s)
	}
	c.fault(x.File.Span, "N100", fmt.Sprintf("no output lies at %q%s", x.File.Name, guess), help)
	return false
}

// tested finds what a step names, which must be of one of some kinds.
func (c *checker) tested(f *unit, x *TestStep, kinds ...string) *decl {
	d := c.lookup(f, x.Name.Name)
	what, takes := "source", "the name of a source"
	if len(kinds) > 1 {
		what, takes = "stream, source or sink", "the name of a stream, a source or a sink"
	}
	switch {
	case d == nil && !c.lost(f, x.Name.Name):
		c.fault(x.Name.Span, "N100", fmt.Sprintf("unknown %s `%s`%s", what, x.Name.Name, didYouMean(x.Name.Name, c.visible(f, kinds...))), c.hidden(f, x.Name.Name))
	case d == nil, d.kind == "broken":
	case !slices.Contains(kinds, d.kind):
		c.fault(x.Name.Span, "N108", fmt.Sprintf("`%s` takes %s; `%s` is %s", x.Verb, takes, d.name, d.what(f)), "")
	default:
		return d
	}
	return nil
}
