package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// windowForm says how a window is written.
type windowForm struct {
	kind    types.WindowKind
	size    string   // what its first argument is
	named   []string // the others
	needs   string   // the one of them that must be given
	example string
}

var windowForms = map[string]windowForm{
	"tumbling": {types.Tumbling, "size", []string{"offset", "clock"}, "", "tumbling(1m)"},
	"hopping":  {types.Hopping, "size", []string{"every", "offset", "clock"}, "every", "hopping(10m, every: 1m)"},
	"cumulate": {types.Cumulate, "size", []string{"step", "offset", "clock"}, "step", "cumulate(1d, step: 1h)"},
	"session":  {types.Session, "gap", []string{"max", "clock"}, "", "session(30s)"},
	"count":    {types.CountWindow, "number of rows", nil, "", "count(100)"},
}

var windowNames = []string{"count", "cumulate", "hopping", "session", "tumbling"}

// otherWindows are what other languages call our windows.
var otherWindows = map[string]string{"tumble": "tumbling", "fixed": "tumbling", "hop": "hopping", "slide": "hopping", "sliding": "hopping",
	"cumulative": "cumulate", "rows": "count", "global": "", "sessions": "session"}

// windowCalled says where a window stands that is called like a function; "" if the name is none of a window.
func windowCalled(name string) string {
	name = strings.ToLower(name)
	if other := otherWindows[name]; other != "" {
		name = other
	}
	if f, ok := windowForms[name]; ok && f.kind != types.CountWindow { // count is an aggregate
		return "a window stands in a clause of its own, behind the keys: `|> aggregate n = count() by customer window " + f.example + "`"
	}
	return ""
}

// maxOverlap bounds in how many windows a row may lie.
const maxOverlap = 100_000

// window checks the operand of a `window` clause.
func (c *checker) window(call *syntax.Call) (*types.Window, bool) {
	form, ok := windowForms[call.Name.Name]
	if !ok {
		guess, help := didYouMean(call.Name.Name, windowNames), ""
		if other := otherWindows[strings.ToLower(call.Name.Name)]; other != "" {
			guess = "; did you mean `" + other + "`?"
			help = "for example `window " + windowForms[other].example + "`"
		} else if guess == "" {
			help = "the windows are tumbling(1m), hopping(10m, every: 1m), cumulate(1d, step: 1h), session(30s) and count(100)"
		}
		c.fault(call.Name.Span, "W421", fmt.Sprintf("unknown window `%s`%s", call.Name.Name, guess), help)
		return nil, false
	}
	w := &types.Window{Kind: form.kind}
	given := map[string]*syntax.Item{}
	for i, item := range call.Args {
		name := "" // of the first
		if item.Name != nil && !(i == 0 && item.Name.Name == form.size) {
			name = item.Name.Name
		} else if i > 0 {
			help := "for example `window " + form.example + "`"
			if form.needs != "" && given[form.needs] == nil {
				help = fmt.Sprintf("write `%s: %s`", form.needs, clip(item.Expr.Text))
			}
			c.fault(item.Span, "W422", fmt.Sprintf("only the %s of `%s` stands without a name", form.size, call.Name.Name), help)
			ok = false
			continue
		}
		switch {
		case name != "" && !slices.Contains(form.named, name):
			help := "for example `window " + form.example + "`"
			if len(form.named) > 0 {
				help = "`" + call.Name.Name + "` takes " + strings.Join(form.named, ", ")
			}
			c.fault(item.Name.Span, "W422", fmt.Sprintf("`%s` has no option `%s`%s", call.Name.Name, name, didYouMean(name, form.named)), help)
			ok = false
			continue
		case given[name] != nil:
			c.fault(item.Span, "W422", fmt.Sprintf("`%s` is given twice", item.Name.Name), "")
			ok = false
			continue
		}
		given[name] = item
		ok = c.windowArgument(w, form, name, item.Expr) && ok
	}
	for _, need := range []string{"", form.needs} {
		if given[need] != nil || need == "" && form.needs != "" && given[""] != nil {
			continue
		}
		what := form.size
		if need != "" {
			what = "`" + need + "`"
		}
		c.fault(call.Span, "W422", fmt.Sprintf("`%s` needs its %s", call.Name.Name, what), "for example `window "+form.example+"`")
		return nil, false
	}
	if !ok {
		return nil, false
	}
	return w, c.windowFits(w, call, given)
}

// windowArgument evaluates an argument; name is "" for the first.
func (c *checker) windowArgument(w *types.Window, form windowForm, name string, e *syntax.Expr) (ok bool) {
	switch name {
	case "":
		if form.kind == types.CountWindow {
			w.Size, ok = c.number(e, "the number of rows of a window", 1)
			return ok
		}
		w.Size, ok = c.duration(e, "the "+form.size+" of a window", 1)
	case "every", "step":
		w.Step, ok = c.duration(e, "`"+name+"`", 1)
	case "max":
		w.Max, ok = c.duration(e, "`max`", 1)
	case "offset":
		x := c.constantOf(e, "`offset`", types.Duration)
		if x == nil {
			return false
		}
		w.Offset, ok = x.Value.(int64)
	case "clock":
		x := c.constantOf(e, "`clock`", types.String)
		if x == nil {
			return false
		}
		if x.Value != "processing" && x.Value != "event" {
			c.fault(e.Span, "W422", "`clock` is \"processing\" or \"event\"", "event time is the default")
			return false
		}
		w.Processing, ok = x.Value == "processing", true
	}
	return ok
}

// windowFits compares the arguments of a window with each other.
func (c *checker) windowFits(w *types.Window, call *syntax.Call, given map[string]*syntax.Item) bool {
	switch {
	case w.Kind == types.Cumulate && w.Step > w.Size:
		c.fault(given["step"].Span, "W423", "`step` is longer than the window", "")
		return false
	case w.Kind == types.Session && w.Max != 0 && w.Max < w.Size:
		c.fault(given["max"].Span, "W423", "`max` is shorter than the gap", "")
		return false
	case w.Step > 0 && w.Size/w.Step > maxOverlap:
		c.fault(call.Span, "W423", fmt.Sprintf("each row would lie in %d windows; %d is the most", w.Size/w.Step, maxOverlap), "make `every` or `step` longer")
		return false
	}
	return true
}
