package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// K: keys, by which rows are spread over the cores.
var _ = define(
	Rule{
		Code: "K702", Name: "skewed-key", Severity: syntax.SevWarn,
		Text: "A key, or what rows are sorted by, is a constant, or all rows of a stage that must see each of them lie under two or three keys.",
		Why: "Rows of one key go to one task. A constant as key is hardly meant. A key that is true or false keeps two tasks busy however many cores there are, and where a column may be null " +
			"all rows without a value are one key, often the largest. Where rows are aggregated before they are sent the number of rows of a key does not matter: of that nothing is said. " +
			"Add another key, or give rows without a value a way of their own with `split`.",
		Bad:   "nexmark(\"bid\")\n    |> aggregate n = count() by cheap = price < 100 window session(1m, max: 1h) late drop\n    |> into jsonl(\"n.jsonl\")\n",
		Good:  "nexmark(\"bid\")\n    |> aggregate n = count() by cheap = price < 100, auction window session(1m, max: 1h) late drop\n    |> into jsonl(\"n.jsonl\")\n",
		Check: skewed,
	},
	Rule{
		Code: "K703", Name: "inexact-key", Severity: syntax.SevWarn,
		Text: "A float or a whole record is a key.",
		Why: "Floats that print alike may differ in their last bit, so what should be one group is many. Round them first, or take an int. Of a record every field counts: " +
			"a field that is added later makes other groups. Name the fields that are meant.",
		Bad:   "csv(\"orders.csv\") |> aggregate n = count() by amount\n",
		Good:  "csv(\"orders.csv\") |> aggregate n = count() by euros = round(amount)\n",
		Check: inexact,
	},
	Rule{
		Code: "K704", Name: "shuffled-twice", Severity: syntax.SevInfo,
		Text: "Two stages spread the same rows by the same keys for the same windows.",
		Why:  "Each sends all rows to the tasks of their keys. One `aggregate` with the columns of both does it once.",
		Bad: "source orders = csv(\"orders.csv\")\norders |> aggregate n = count() by customer |> into csv(\"n.csv\")\n" +
			"orders |> aggregate total = sum(amount) by customer |> into csv(\"total.csv\")\n",
		Good: "source orders = csv(\"orders.csv\")\norders |> aggregate n = count(), total = sum(amount) by customer |> into csv(\"n.csv\")\n",
		Check: func(p *Pass) {
			if p.Facts == nil {
				return
			}
			if !p.alike() { // a plan costs more than the rest of this rule
				return
			}
			tree := map[*check.Stage]*syntax.Stage{}
			for _, s := range p.Stages {
				tree[s.Checked] = s.Tree
			}
			first := map[string]*check.Stage{}
			all := slices.Clone(p.Facts.Shuffles())
			slices.SortStableFunc(all, func(x, y Shuffle) int {
				a, b := x.Stage.Args.Pos, y.Stage.Args.Pos
				return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
			})
			for _, x := range all {
				if !groups(x.Stage) {
					continue
				}
				key := fmt.Sprintf("%d|%s", x.Rows, grouping(x.Stage))
				was := first[key]
				if was == nil {
					first[key] = x.Stage
					continue
				}
				if t := tree[x.Stage]; t != nil && clause(t, "by") != nil {
					p.Report(clause(t, "by").Span, fmt.Sprintf("`%s` at %s spreads the same rows by the same keys", was.Sig.Name, was.Args.Pos), "write one stage with the columns of both", nil)
				}
			}
		},
	},
)

// groups reports whether a stage aggregates by keys.
func groups(s *check.Stage) bool { return len(s.Args.By) > 0 && s.Sig.Items == types.Aggregates }

// grouping is how a stage puts rows into groups, and when it gives them out.
func grouping(s *check.Stage) string {
	a := s.Args
	parts := make([]string, len(a.By))
	for i, k := range a.By {
		parts[i] = k.Expr.String()
	}
	return fmt.Sprintf("%s|%v|%v|%v|%v", strings.Join(parts, ", "), a.Window, a.Emit, a.Late, a.Retain)
}

// alike reports whether two stages might group the same rows in the same way.
func (p *Pass) alike() bool {
	f := p.flow()
	type group struct {
		how  string
		rows end
	}
	seen := map[group]bool{}
	for _, st := range p.Checked.Streams {
		for _, s := range st.Stages {
			if !groups(s) {
				continue
			}
			g := group{how: grouping(s)}
			if from := f.nearest(s); len(from) == 1 { // else from wherever
				g.rows = from[0]
			}
			if seen[g] {
				return true
			}
			seen[g] = true
		}
	}
	return false
}

// key is a key of a stage as it is written.
type key struct {
	at   syntax.Span
	item types.Item
}

// keysOf returns the keys of a stage.
func keysOf(s Stage) []key {
	items, label := s.Checked.Args.By, "by"
	if s.Checked.Sig.Sorts != "" {
		items, label = s.Checked.Args.Per, "per"
	}
	c := clause(s.Tree, label)
	if c == nil || len(c.Items) != len(items) {
		return nil
	}
	out := make([]key, len(items))
	for i, it := range items {
		out[i] = key{c.Items[i].Span, it}
	}
	return out
}

// skewed: K702.
func skewed(p *Pass) {
	f := p.flow()
	alone := sync.OnceValue(func() map[*check.Stage]bool { // those that see each row: to know takes a plan
		all := map[*check.Stage]bool{}
		if p.Facts != nil {
			for _, x := range p.Facts.Shuffles() {
				if !x.Sums {
					all[x.Stage] = true
				}
			}
		}
		return all
	})
	for _, s := range p.Stages {
		keys := keysOf(s)
		few := len(keys) > 0
		for _, k := range keys {
			if k.item.Expr.Op == types.OpConst {
				p.Report(k.at, "the key is the same for every row", "leave it out, or name a column", nil)
			}
			few = few && (k.item.Expr.Op == types.OpConst || k.item.Expr.Type.Kind == types.Bool)
		}
		if c := clause(s.Tree, "by"); s.Checked.Sig.Sorts != "" && c != nil {
			for i, it := range s.Checked.Args.By {
				if it.Expr.Op == types.OpConst && i < len(c.Items) {
					p.Report(c.Items[i].Span, "this is the same for every row, and puts none before another", "leave it out, or name a column", nil)
				}
			}
		}
		for _, k := range keys {
			switch {
			case k.item.Expr.Op == types.OpConst:
			case !few && (len(keys) > 1 || !k.item.Expr.Type.Nullable), !alone()[s.Checked]:
			case few:
				p.Report(k.at, fmt.Sprintf("`%s` is true or false: all rows go to two tasks", k.item.Name), "add another key, if there is one", nil)
			case p.mayLack(f, s.Checked, k.item.Expr):
				p.Report(k.at, fmt.Sprintf("`%s` may be null, and all rows without it go to one task", k.item.Name),
					fmt.Sprintf("take them out with `where %s != nil`, or give them a way of their own with `split`", p.Tree.Source.Slice(k.at)), nil)
			}
		}
	}
}

// mayLack reports whether a script says that a value may be missing: it is a column that a schema declares nullable, and no
// filter before the stage asks for it. A schema that was guessed from the data says nothing.
func (p *Pass) mayLack(f *flow, s *check.Stage, x *types.Expr) bool {
	lacks := false
	p.origins(f, s, x, func(e end, x *types.Expr, asked bool) {
		if e.source != nil && x.Op == types.OpCol && !asked && !e.source.Info.Inferred && e.source.Schema.Fields[x.Col].Type.Nullable {
			lacks = true
		}
	})
	return lacks
}

// inexact: K703.
func inexact(p *Pass) {
	f := p.flow()
	for _, s := range p.Stages {
		for _, k := range keysOf(s) {
			switch t := k.item.Expr.Type; t.Kind {
			case types.Float:
				exact := true
				p.origins(f, s.Checked, k.item.Expr, func(_ end, x *types.Expr, _ bool) { exact = exact && whole(x) })
				if !exact {
					p.Report(k.at, fmt.Sprintf("`%s` is a float: values that look alike may be different keys", k.item.Name), "round it, or take an int", nil)
				}
			case types.Record:
				if !t.NotNull().Equal(types.WindowType) {
					p.Report(k.at, fmt.Sprintf("`%s` is a record: every field of it counts", k.item.Name), "name the fields that are meant", nil)
				}
			}
		}
	}
}

// whole reports whether a float is a whole number, or a few decimals of one, by the way it is made.
func whole(x *types.Expr) bool {
	switch {
	case x.Op == types.OpCast:
		return x.Args[0].Type.Kind == types.Int || whole(x.Args[0])
	case x.Op == types.OpConst:
		return true
	case x.Op == types.OpCall && (x.Name == "round" || x.Name == "floor" || x.Name == "ceil"):
		return true
	case x.Op == types.OpCall && (x.Name == "*" || x.Name == "/" || x.Name == "+" || x.Name == "-" || x.Name == "neg"):
		for _, a := range x.Args {
			if !whole(a) {
				return false
			}
		}
		return true
	case x.Op == types.OpIf:
		return whole(x.Args[1]) && whole(x.Args[2])
	case x.Op == types.OpCoalesce:
		return whole(x.Args[0]) && whole(x.Args[1])
	}
	return false
}

// farthest is how many stages an expression is followed through: scripts that are longer are made to be slow.
const farthest = 100

// origins follows an expression over the input of a stage to where its value is made: to the expression of a stage before it, or
// to the column of a source. asked tells that a filter on the way reads it. What comes from elsewhere (an aggregate) is given
// as it stands in front of that.
func (p *Pass) origins(f *flow, s *check.Stage, x *types.Expr, found func(e end, x *types.Expr, asked bool)) {
	type mark struct {
		e     end
		name  string
		asked bool
	}
	seen := map[mark]bool{}
	var follow func(s *check.Stage, x *types.Expr, asked bool)
	follow = func(s *check.Stage, x *types.Expr, asked bool) {
		if x.Op != types.OpCol || len(s.In) == 0 || x.Col >= len(s.In[0].Schema.Fields) {
			found(end{stage: s}, x, asked)
			return
		}
		name := s.In[0].Schema.Fields[x.Col].Name
		before := f.before(s)
		if len(before) == 0 {
			found(end{stage: s}, x, asked)
		}
		for _, e := range before {
			if m := (mark{e, name, asked}); seen[m] || len(seen) > farthest {
				continue
			} else {
				seen[m] = true
			}
			if e.source != nil {
				if k := e.source.Schema.Index(name); k >= 0 {
					found(e, types.ColRef(e.source.Schema, k), asked)
				}
				continue
			}
			y, filtered := madeBy(e.stage, name)
			if y == nil {
				found(end{stage: s}, x, asked || filtered)
				continue
			}
			follow(e.stage, y, asked || filtered)
		}
	}
	follow(s, x, false)
}

// madeBy returns the expression over a stage's input that becomes its column of a name, nil if it is none, and whether the stage
// is a filter that reads it.
func madeBy(s *check.Stage, name string) (x *types.Expr, filtered bool) {
	if len(s.In) == 0 {
		return nil, false
	}
	in := s.In[0].Schema
	items := s.Args.Items
	switch s.Sig.Items {
	case types.Assign:
		for i := len(items) - 1; i >= 0; i-- {
			for items[i].Name == name {
				x := items[i].Expr
				if k := x.Col - len(in.Fields); x.Op == types.OpCol && k >= 0 && k < i {
					i = k // it is an item before
					name = items[k].Name
					continue
				}
				return x, false
			}
		}
	case types.Project, types.Renames:
		for _, it := range items {
			if it.Name == name && it.Expr != nil {
				return it.Expr, false
			}
		}
	case types.Condition:
		if len(items) > 0 && items[0].Expr != nil {
			filtered = items[0].Expr.Any(func(x *types.Expr) bool { return x.Op == types.OpCol && x.Name == name })
		}
	case types.Aggregates:
		for _, k := range s.Args.By {
			if k.Name == name {
				return k.Expr, false
			}
		}
		return nil, false
	}
	if k := in.Index(name); k >= 0 && s.Sig.Items != types.Project {
		return types.ColRef(in, k), filtered
	}
	return nil, filtered
}
