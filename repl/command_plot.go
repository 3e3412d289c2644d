package repl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
)

var _ = command(Command{
	Name: "plot", Args: "COLUMN [over COLUMN | by KEY] [of STREAM]", Group: "look", Least: 1, Most: 1, Tail: true,
	Summary: "draw numbers: a line over time or another number, or bars by key",
	Text: "COLUMN may be any expression with a number. Without `of` it is the last result; STREAM may be a pipeline. " +
		"Without `over` and `by` it is a line over the time of the rows if they have one, else bars by the first column of texts. " +
		"What does not end is drawn again as rows come, until Ctrl-C.",
	Run: func(s *Session, a *Args) error {
		p, err := parsePlot(a.Arg(0))
		if err != nil {
			return a.Usage("%v", err)
		}
		if p.of == "" {
			if p.of = s.last; p.of == "" {
				return errors.New("there is no result yet: type a pipeline first, or say `of` which stream")
			}
		}
		return s.plot(p)
	},
	Complete: func(s *Session, args []string) []string {
		if n := len(args); n > 1 && args[n-2] == "of" {
			return s.script.streams()
		}
		return []string{"over", "by", "of"}
	},
})

// plotting is what is to be drawn.
type plotting struct{ column, over, by, of string }

// parsePlot takes the argument apart at the words over, by and of that stand outside of brackets and quotes.
func parsePlot(text string) (p plotting, err error) {
	target := &p.column
	begin, depth, quote := 0, 0, byte(0)
	take := func(end int) error {
		if *target = strings.TrimSpace(text[begin:end]); *target == "" {
			return fmt.Errorf("a column is missing in %q", text)
		}
		return nil
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == ' ' && depth == 0:
			word, _, _ := strings.Cut(text[i+1:], " ")
			next := map[string]*string{"over": &p.over, "by": &p.by, "of": &p.of}[word]
			if next == nil {
				continue
			}
			if err := take(i); err != nil {
				return p, err
			}
			if *next != "" {
				return p, fmt.Errorf("`%s` stands twice", word)
			}
			target, begin = next, i+1+len(word)
			if word == "of" { // a pipeline: its words are its own
				return p, take(len(text))
			}
		}
	}
	if err := take(len(text)); err != nil {
		return p, err
	}
	if p.over != "" && p.by != "" {
		return p, errors.New("`over` makes a line and `by` makes bars: give one of them")
	}
	return p, nil
}

// plot runs the pipeline and draws it.
func (s *Session) plot(p plotting) error {
	c, err := s.compileShown(p.of)
	if err != nil {
		return err
	}
	in := printed(c).In
	if p.over == "" && p.by == "" {
		p.over, p.by = axisOf(in.Schema, p.column)
	}
	x := p.over
	if p.by != "" {
		x = p.by
	}
	if i := in.Schema.Index(x); i >= 0 && in.Schema.Fields[i].Type.Kind == types.Record && p.over != "" {
		x += ".start" // a window
	}
	selected := "select y = (" + p.column + ")"
	if x != "" {
		selected = "select x = (" + x + "), y = (" + p.column + ")"
	}
	c, err = s.compileShown(p.of + "\n    |> " + selected)
	if err != nil {
		return err
	}
	out := printed(c)
	if y := out.Schema.Fields[len(out.Schema.Fields)-1].Type; !numeric(y.Kind) {
		return fmt.Errorf("%s is no number but %s; .plot draws int, float, bool and duration", p.column, y)
	}
	if p.over != "" {
		if k := out.Schema.Fields[0].Type; !numeric(k.Kind) && k.Kind != types.Time {
			return fmt.Errorf("a line cannot be drawn over %s, which is %s; `by %s` draws bars", p.over, k, p.over)
		}
	}
	v := newPlotView(s.Screen, p, out)
	_, stopped, err := s.watch(c, v)
	if err == nil && v.empty() {
		s.Screen.Note("there is nothing to draw: " + v.why(stopped))
	}
	return err
}

// compileShown compiles a pipeline whose rows are shown.
func (s *Session) compileShown(pipeline string) (*planner.Compiled, error) {
	o := s.opts.Plan
	o.Only, o.Print = printedOnly, &types.ConnArgs{Name: feedName}
	return s.compile(pipeline, s.withLast(pipeline, s.script.definitions()), o)
}

// printed is the output of a pipeline that is shown.
func printed(c *planner.Compiled) *check.Write {
	return c.Script.Writes[slices.IndexFunc(c.Script.Writes, printedOnly)]
}

func numeric(k types.Kind) bool {
	return k == types.Int || k == types.Float || k == types.Bool || k == types.Duration
}

// axisOf chooses what a column is drawn over or by: the window or the first time, else the first text; both "" is the
// number of the row.
func axisOf(s types.Schema, column string) (over, by string) {
	for _, f := range s.Fields {
		if f.Type.Kind == types.Time || f.Name == "window" && f.Type.Kind == types.Record {
			return types.QuoteName(f.Name), ""
		}
	}
	for _, f := range s.Fields {
		if f.Type.Kind == types.String && f.Name != column {
			return "", types.QuoteName(f.Name)
		}
	}
	return "", ""
}
