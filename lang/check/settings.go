package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// setting is what a key of `set` takes. Durations are nanoseconds.
type setting struct {
	kind  types.Kind
	least int64    // smallest number or duration
	most  int64    // largest; 0: any
	words []string // the texts that it takes; nil: any
}

var settings = map[string]setting{
	"parallelism":              {kind: types.Int, least: 1, most: 1024},
	"checkpoint.interval":      {kind: types.Duration, least: 1},
	"checkpoint.mode":          {kind: types.String, words: []string{"auto", "aligned", "unaligned", "none"}},
	"checkpoint.align_timeout": {kind: types.Duration},
	"checkpoint.timeout":       {kind: types.Duration, least: 1},
	"checkpoint.min_pause":     {kind: types.Duration},
	"checkpoint.tolerate":      {kind: types.Int},
	"checkpoint.keep":          {kind: types.Int, least: 1},
	"checkpoint.dir":           {kind: types.String},
}

// Settings returns the keys of `set`, sorted.
func Settings() []string { return slices.Sorted(maps.Keys(settings)) }

// set checks `set KEY = VALUE`.
func (c *checker) set(f *unit, s *syntax.Set) {
	key := s.Key.Name
	def, ok := settings[key]
	if !ok {
		keys := Settings()
		guess := didYouMean(key, keys)
		help := ""
		if guess == "" {
			if _, known := settings["checkpoint."+key]; known {
				guess = "; did you mean `checkpoint." + key + "`?"
			} else {
				help = "the settings are " + strings.Join(keys, ", ")
			}
		}
		c.report(f.src, s.Key.Span, "N130", fmt.Sprintf("unknown setting `%s`%s", key, guess), help)
		return
	}
	if _, twice := c.out.Set[key]; twice {
		c.report(f.src, s.Key.Span, "N131", fmt.Sprintf("`%s` is set already", key), "")
		return
	}
	c.out.Set[key] = nil
	c.at(f, func() {
		if len(def.words) > 0 && len(s.Value.Tokens) == 1 && slices.Contains(def.words, s.Value.Text) {
			c.fault(s.Value.Span, "T201", fmt.Sprintf("`%s` takes a text", key), fmt.Sprintf("write it in quotes: `set %s = \"%s\"`", key, s.Value.Text))
			return
		}
		x := c.constantOf(s.Value, "the value of `"+key+"`", def.kind)
		if x == nil {
			return
		}
		switch v := x.Value.(type) {
		case int64:
			switch {
			case def.most > 0 && v > def.most:
				c.fault(s.Value.Span, "T231", fmt.Sprintf("`%s` must be at most %d", key, def.most), "")
				return
			case v >= def.least:
			case def.kind == types.Duration && def.least == 1:
				c.fault(s.Value.Span, "T231", fmt.Sprintf("`%s` must be longer than 0s", key), "")
				return
			default:
				c.fault(s.Value.Span, "T231", fmt.Sprintf("`%s` must be at least %s", key, types.FormatConst(x.Type, def.least)), "")
				return
			}
		case string:
			if def.words != nil && !slices.Contains(def.words, v) {
				c.fault(s.Value.Span, "T231", fmt.Sprintf("`%s` has no mode %q%s", key, v, didYouMean(v, def.words)), "it takes "+strings.Join(def.words, ", "))
				return
			}
			if v == "" {
				c.fault(s.Value.Span, "T231", fmt.Sprintf("`%s` cannot be empty", key), "")
				return
			}
		}
		c.out.Set[key] = x.Value
	})
}

// constantOf evaluates a constant of one of some kinds that must not be null; what names it in messages. It gives nil after
// an error.
func (c *checker) constantOf(e *syntax.Expr, what string, want ...types.Kind) *types.Expr {
	x := c.constantIn(e, what, want...)
	if x != nil && x.Value == nil {
		c.fault(e.Span, "T202", what+" cannot be null", "")
		return nil
	}
	return x
}

// constantIn evaluates a constant of one of some kinds, none for any, in the current frame. It gives nil after an error.
func (c *checker) constantIn(e *syntax.Expr, what string, want ...types.Kind) *types.Expr {
	if !c.sound(c.frame.file, e) {
		return nil
	}
	for _, a := range c.frame.args {
		if mentions(e, a.name) {
			if a.ok {
				c.fault(e.Span, "T232", fmt.Sprintf("%s must be a constant, but `%s` depends on the row", what, a.name),
					fmt.Sprintf("call `%s` with a constant for `%s`", a.pipe.name, a.name))
			}
			return nil
		}
	}
	return c.constExpr(e, c.scope(nil), want...)
}
