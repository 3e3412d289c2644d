package planner

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRandomPipelines runs random pipelines with every kind of window, `retain`, union, split, tee, errors and lists at several
// sizes, with sources that fall idle, and once without one of the planner's rules: rows, late rows and failed rows must be the same.
func TestRandomPipelines(t *testing.T) {
	n := *seeds / 4
	if testing.Short() {
		n /= 4
	}
	usual := slices.Clone(rules)
	defer func() { rules = usual }()
	for seed := 1; seed <= n; seed++ {
		if *onlySeed != 0 && *onlySeed != seed {
			continue
		}
		p, files := randomPipeline(seed)
		script := p.text.String()
		dir := t.TempDir()
		writeFiles(t, dir, files)
		want := runIn(t, dir, script, sizes{parallelism: 1}, nil)
		require.Empty(t, want.refused, "seed %d:\n%s", seed, script)
		same := func(z sizes, how string) {
			got := runIn(t, dir, script, z, nil)
			at := fmt.Sprintf("seed %d, %s %s:\n%s", seed, z, how, script)
			require.Equal(t, want.err == nil, got.err == nil, at)
			if want.err == nil {
				require.Equal(t, net(t, want), net(t, got), at)
				require.Equal(t, want.stats.Late.Load(), got.stats.Late.Load(), at)
				require.Equal(t, want.stats.Errors.Load(), got.stats.Errors.Load(), at)
			}
		}
		same(sizes{parallelism: 1, chunk: 200, rows: 1, channel: 1}, "")
		same(sizes{parallelism: 2, chunk: int64(1 + p.r.IntN(900)), rows: 1 + p.r.IntN(9), channel: 1 + p.r.IntN(9)}, "")
		same(sizes{parallelism: 3, chunk: 300}, "")
		same(sizes{parallelism: 5, chunk: int64(1 + p.r.IntN(400)), rows: 1 + p.r.IntN(5), channel: 1, sim: uint64(seed)}, "")
		same(sizes{parallelism: 1 + seed%5, chunk: int64(1 + p.r.IntN(400)), rows: 1 + p.r.IntN(5), channel: 1, sim: uint64(seed), drowsy: uint64(seed)}, "")
		same(sizes{parallelism: 1 + (seed/5+seed)%5, chunk: 300, drowsy: uint64(seed)}, "")
		k := seed % len(usual)
		rules = slices.Delete(slices.Clone(usual), k, k+1)
		same(sizes{parallelism: 1 + seed%3, chunk: 500}, "without the rule "+usual[k].name)
		rules = usual
	}
}

// net returns what was printed, changes set off against each other.
func net(t *testing.T, g ran) []string {
	var changes strings.Builder
	var lines []string
	for l := range strings.Lines(g.stdout) {
		if strings.Contains(l, `"_change"`) {
			changes.WriteString(l)
		} else {
			lines = append(lines, strings.TrimSuffix(l, "\n"))
		}
	}
	lines = append(lines, fold(t, changes.String())...)
	slices.Sort(lines)
	return lines
}

// pipeline is a script that is being drawn.
type pipeline struct {
	r       *rand.Rand
	text    strings.Builder
	streams int
	unique  bool // rows stand for themselves: no two are at the same place of the input
}

// stream defines a stream and returns its name.
func (p *pipeline) stream(format string, args ...any) string {
	p.streams++
	fmt.Fprintf(&p.text, "stream z%d = %s\n", p.streams, fmt.Sprintf(format, args...))
	return fmt.Sprintf("z%d", p.streams)
}

// randomPipeline is the pipeline of a seed, and the files that it reads.
func randomPipeline(seed int) (p *pipeline, files map[string]string) {
	p = &pipeline{r: rand.New(rand.NewPCG(uint64(seed), 99)), unique: true}
	files = p.source()
	p.stages()
	return p, files
}

// source draws one or two files of rows whose times are out of order.
func (p *pipeline) source() map[string]string {
	r := p.r
	files := map[string]string{}
	id, clock := 0, int64(1_700_000_000_000)
	for f := range 1 + r.IntN(2) {
		var b strings.Builder
		for range r.IntN(90) {
			clock += int64(r.IntN(3000))
			if r.IntN(25) == 0 {
				clock += 20_000
			}
			row, _ := json.Marshal(map[string]any{
				"id": id, "k": pick[any](r, "a", "b", "c", nil), "g": r.IntN(4), "v": pick[any](r, r.IntN(8)-2, 0, nil),
				"tags": pick[any](r, []string{"x"}, []string{"x", "y"}, []string{}, nil),
				"r":    map[string]any{"a": r.IntN(2), "b": pick[any](r, "p", nil)},
				"at":   time.UnixMilli(clock - int64(r.IntN(9000))).UTC(),
			})
			b.Write(append(row, '\n'))
			id++
		}
		files[fmt.Sprintf("e%d.jsonl", f)] = b.String()
	}
	fmt.Fprintf(&p.text, "source e = jsonl(\"e*.jsonl\") schema { id: int, k: string?, g: int, v: int?, tags: [string]?, r: {a: int, b: string?}, at: time } time at lag %dms\n", r.IntN(10)*1000)
	return files
}

// stages draws what follows.
func (p *pipeline) stages() {
	r := p.r
	at := p.rows(p.stream("e |> drop at"), r.IntN(3))
	for range r.IntN(3) {
		at = p.rows(p.shape(at), r.IntN(2))
	}
	by := ""
	if r.IntN(5) > 0 {
		by = " by " + pick(r, "k", "r", "tags", "g", "k, g", "odd = id % 2", "r, k", "tags, g")
	}
	switch r.IntN(8) {
	case 0:
		fmt.Fprintf(&p.text, "%s |> aggregate %s%s%s\n", at, p.aggregates(), by, pick(r, "", " emit changes", " emit final"))
	case 1:
		fmt.Fprintf(&p.text, "%s |> aggregate %s by k retain %dms%s\n", at, p.aggregates(), 500*(1+r.IntN(30)), pick(r, " emit changes", " emit final", " emit final"))
	case 2: // windows of windows
		x := p.stream("%s |> aggregate %s by k window %s", at, p.aggregates(), p.window())
		fmt.Fprintf(&p.text, "%s |> %saggregate m = sum(n), c = count(), d = distinct(k) %swindow %s\n", x,
			pick(r, "", "drop window |> "), pick(r, "", "by n ", "by k "), pick(r, "tumbling(5s)", "tumbling(8s)", "hopping(6s, every: 2s)", "session(4s)"))
	default:
		w := p.window()
		plain := !strings.HasPrefix(w, "count") && !strings.Contains(w, "max")
		late := pick(r, "", "", " late into late", " late drop")
		if plain && r.IntN(4) == 0 {
			late = fmt.Sprintf(" late allow %ds", 1+r.IntN(8))
		}
		emit := ""
		if plain && r.IntN(5) == 0 {
			emit = " emit changes"
		}
		fmt.Fprintf(&p.text, "%s |> aggregate %s%s window %s%s%s\n", at, p.aggregates(), by, w, late, emit)
		if strings.Contains(late, "into") {
			p.text.WriteString("late |> aggregate late = count(), ids = sum(id), ks = distinct(k)\n")
		}
	}
}

// rows draws stages that look at one row at a time.
func (p *pipeline) rows(from string, n int) string {
	r := p.r
	for range n {
		var stage string
		switch r.IntN(9) {
		case 0:
			stage = fmt.Sprintf("where v > %d", r.IntN(6)-3)
		case 1:
			stage = `where k != nil and (k == "a" or g > 1)`
		case 2:
			stage = fmt.Sprintf("derive v = v * 2 + %d", r.IntN(4))
		case 3:
			stage = "derive g = div(12, g) on_error drop"
		case 4:
			stage = fmt.Sprintf("derive w = v ?? %d |> where w < 9 |> derive v = w |> drop w", r.IntN(9))
		case 5:
			p.unique = false
			stage = fmt.Sprintf("derive q = [v, g, %d] |> unnest q as u |> where u != 3 |> derive v = u |> drop q, u", r.IntN(4))
		case 6:
			stage = `derive r = {a: g % 2, b: k}`
		case 7:
			stage = `where any(tags, # == "x") or len(tags) > 1`
		default:
			stage = `derive k = r.b ?? "z"`
		}
		from = p.stream("%s |> %s", from, stage)
	}
	return from
}

// shape draws streams that part and meet.
func (p *pipeline) shape(from string) string {
	r := p.r
	p.streams++
	n := p.streams
	switch r.IntN(5) {
	case 0:
		p.unique = false
		a, b := p.rows(from, r.IntN(2)), p.rows(from, 1+r.IntN(2))
		return p.stream("%s |> union %s, %s", a, b, pick(r, a, b, from))
	case 1:
		fmt.Fprintf(&p.text, "%s |> split {\n    when v > 1 => y%d\n    when g == 1 => n%d\n    else => m%d\n}\n", from, n, n, n)
		fmt.Fprintf(&p.text, "y%d |> derive g = g + 1 |> into t%d\nn%d |> where v != 0 |> into t%d\nm%d |> into t%d\n", n, n, n, n, n, n)
	case 2:
		p.unique = false
		fmt.Fprintf(&p.text, "%s |> tee t%d |> derive v = v * 3 - 1 |> into t%d\n", from, n, n)
	case 3:
		fmt.Fprintf(&p.text, "%s |> derive g = div(12, v) on_error into err%d |> into t%d\nerr%d |> aggregate bad = count(), ps = sum(position) by error\n", from, n, n, n)
	default:
		return from
	}
	return fmt.Sprintf("t%d", n)
}

func (p *pipeline) aggregates() string {
	list := []string{"c = count()", "s = sum(v)", "cv = count(v)", "dv = distinct(v)", "dk = distinct(k)", "mi = min(v)", "ma = max(k)", "ci = count_if(v > 1)",
		"f = first(id)", "l = last(id)", "ao = arg_max(id, id)", "md = median(v)", "dt = distinct(tags)", "dr = distinct(r)", "si = sum_if(v, g == 1)", "mx = max(id) - min(id)"}
	p.r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return strings.Join(append([]string{"n = count()"}, list[:p.r.IntN(4)]...), ", ")
}

// window draws a window. Those that go by the order of rows need rows that stand for themselves.
func (p *pipeline) window() string {
	r := p.r
	time := func(n int) string { return fmt.Sprintf("%dms", 500*(1+r.IntN(n))) }
	switch r.IntN(6) {
	case 0:
		return "hopping(" + time(20) + ", every: " + time(12) + ")"
	case 1:
		step := 500 * (1 + r.IntN(6))
		return fmt.Sprintf("cumulate(%dms, step: %dms)", step*(1+r.IntN(4)), step)
	case 2:
		return "session(" + time(8) + ")"
	case 3:
		if p.unique {
			return fmt.Sprintf("session(%s, max: %ds)", time(6), 4+r.IntN(10))
		}
	case 4:
		if p.unique {
			return fmt.Sprintf("count(%d)", 1+r.IntN(5))
		}
	}
	return "tumbling(" + time(20) + ")"
}
