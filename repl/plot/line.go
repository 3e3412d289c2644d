package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/guptarohit/asciigraph"
)

// Line collects points and draws them as a line. The zero Line is empty.
type Line struct {
	points  []point
	every   int // so many points that came are one now
	waiting []point
	rows    int64
	nulls   int64
	outside int64 // points that are not finite
}

// point is a point, or some that were merged into their mean. y is NaN where there is no value.
type point struct{ x, y float64 }

// mostPoints bounds the memory of a line; beyond, neighbours are merged.
const mostPoints = 1 << 14

// Add adds a point. Without ok there is no value at x: the line has a gap there.
func (l *Line) Add(x, y float64, ok bool) {
	if l.every == 0 {
		l.every = 1
	}
	l.rows++
	switch {
	case !ok:
		l.nulls++
		y = math.NaN()
	case math.IsNaN(y) || math.IsInf(y, 0):
		l.outside++
		y = math.NaN()
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	l.waiting = append(l.waiting, point{x, y})
	if len(l.waiting) < l.every {
		return
	}
	l.points = append(l.points, mean(l.waiting))
	l.waiting = l.waiting[:0]
	if len(l.points) < mostPoints {
		return
	}
	for i := range len(l.points) / 2 {
		l.points[i] = mean(l.points[2*i : 2*i+2])
	}
	l.points = l.points[:len(l.points)/2]
	l.every *= 2
}

// widest is how many cells the numbers beside a line take at most, with the axis.
const widest = 12

// mean merges points; gaps count only if there is nothing else.
func mean(points []point) point {
	var x, y, n float64
	for _, p := range points {
		x += p.x / float64(len(points))
		if !math.IsNaN(p.y) {
			n++
			y += p.y/n - y/n // a difference could overflow
		}
	}
	if n == 0 {
		y = math.NaN()
	}
	return point{x, y}
}

// Empty reports whether there is nothing to draw.
func (l *Line) Empty() bool {
	return !slices.ContainsFunc(l.points, func(p point) bool { return !math.IsNaN(p.y) }) &&
		!slices.ContainsFunc(l.waiting, func(p point) bool { return !math.IsNaN(p.y) })
}

// Draw returns the drawing, its lines ended. It is "" if the line is empty.
func (l *Line) Draw(o Options) string {
	if l.Empty() {
		return ""
	}
	points := slices.Clone(l.points)
	if len(l.waiting) > 0 {
		points = append(points, mean(l.waiting))
	}
	slices.SortStableFunc(points, func(a, b point) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	width, height := o.size()
	from, to := points[0].x, points[len(points)-1].x
	tick := func(x float64) string { return o.Axis.text(x, to-from, (to-from)/8) }
	columns := resample(points, max(width-widest-len(tick(to))/2, 10))
	low, high := math.Inf(1), math.Inf(-1)
	for _, y := range columns {
		if !math.IsNaN(y) {
			low, high = min(low, y), max(high, y)
		}
	}
	// asciigraph counts in rows of the drawing: it gets the place of a value between lowest and highest, which no magnitude
	// can overflow, and asks what number stands there.
	rows := float64(height - 1)
	if low == high {
		rows = 1
	}
	place := func(y float64) float64 {
		if low == high {
			return 0
		}
		return (y/2 - low/2) / (high/2 - low/2) * rows
	}
	step := (high/2 - low/2) / rows * 2
	label := func(v float64) string { return short(low+(high/2-low/2)*2*v/rows, step) }
	if low == high {
		label = func(float64) string { return short(low, fine(low)) }
	}
	for i, y := range columns {
		if !math.IsNaN(y) {
			columns[i] = place(y)
		}
	}
	ticks := max(2, min(5, len(columns)/16))
	text := asciigraph.Plot(columns, asciigraph.Height(int(rows)), asciigraph.YAxisValueFormatter(label),
		asciigraph.XAxisRange(from, to), asciigraph.XAxisTickCount(ticks),
		asciigraph.XAxisValueFormatter(tick))
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	var notes []string
	if l.nulls > 0 {
		notes = append(notes, fmt.Sprintf("%d null", l.nulls))
	}
	if l.outside > 0 {
		notes = append(notes, fmt.Sprintf("%d not finite", l.outside))
	}
	if l.every > 1 {
		notes = append(notes, fmt.Sprintf("each point is the mean of %d rows", l.every))
	}
	if notes != nil {
		fmt.Fprintf(&out, "(%s)\n", strings.Join(notes, ", "))
	}
	return out.String()
}

// resample returns n values at equal distances. A column without a point lies on the line between its neighbours, unless
// they lie much farther apart than points do, or a null is between them.
func resample(points []point, n int) []float64 {
	from, to := points[0].x, points[len(points)-1].x
	if from == to { // one moment: a level line
		y := mean(points).y
		return []float64{y, y}
	}
	at := func(x float64) int { return int(math.Round((x/2 - from/2) / (to/2 - from/2) * float64(n-1))) }
	out, count := make([]float64, n), make([]float64, n)
	null := make([]bool, n)
	for _, p := range points {
		i := at(p.x)
		if math.IsNaN(p.y) {
			null[i] = true
			continue
		}
		count[i]++
		out[i] += p.y/count[i] - out[i]/count[i]
	}
	var apart []int
	last := -1
	for i := range out {
		if count[i] > 0 || null[i] {
			if last >= 0 {
				apart = append(apart, i-last)
			}
			last = i
		}
	}
	slices.Sort(apart)
	far := n
	if len(apart) >= 4 {
		far = max(5*apart[len(apart)/2], 3)
	}
	last = -1
	for i := range out {
		switch {
		case count[i] == 0 && null[i]:
			out[i], last = math.NaN(), -1
		case count[i] == 0:
			out[i] = math.NaN() // perhaps filled in by the next point
		default:
			if last >= 0 && i-last <= far {
				for k := last + 1; k < i; k++ {
					out[k] = out[last] + (out[i]-out[last])*float64(k-last)/float64(i-last)
				}
			}
			last = i
		}
	}
	return out
}
