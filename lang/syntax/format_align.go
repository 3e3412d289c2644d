package syntax

import (
	"slices"
	"strings"
)

// most is the width from which on a name or a condition is not aligned with others.
const most = 40

// column is a token that may be moved to the right, to stand under others.
type column struct {
	token    int
	at, line int // its column, and that of the end of its line
}

// alignItems aligns the `=` of items that stand in lines of their own, one behind the other.
func (f *formatter) alignItems(g *group) {
	var run []column
	from := g.from
	for k := 0; k <= len(g.points); k++ {
		to := g.to
		if k < len(g.points) {
			to = g.points[k]
		}
		if k > 0 && f.apart(from) {
			run = f.align(run)
		}
		line := f.col + f.end[to-1] - f.start[from]
		if from+1 < to && f.tokens[from+1].Kind == KindAssign && line <= width && f.oneLine(from, to) {
			run = append(run, column{from + 1, f.col + f.end[from] - f.start[from], line})
		} else {
			run = f.align(run)
		}
		from = to
	}
	f.align(run)
}

// alignChoices aligns the `?` of a chain of choices.
func (f *formatter) alignChoices(g *group) {
	var run []column
	for _, kid := range g.kids {
		if kid.kind != groupOps || f.level[kid.points[0]] != levelChoice {
			continue
		}
		q := kid.points[0]
		line := f.col + f.end[kid.to-1] - f.start[kid.from]
		if len(kid.points) == 1 && line <= width && f.oneLine(kid.from, kid.to) {
			run = append(run, column{q, f.col + f.end[q-1] - f.start[kid.from], line})
		} else {
			run = f.align(run)
		}
	}
	f.align(run)
}

// oneLine reports whether a range of tokens stands in one line if it is let.
func (f *formatter) oneLine(from, to int) bool {
	if f.nextMust[from+1] < to {
		return false
	}
	for i := from; i < to; i++ {
		if strings.IndexByte(f.tokens[i].Text, '\n') >= 0 {
			return false
		}
		for _, c := range f.gaps[i].inline() {
			if strings.IndexByte(c.Text, '\n') >= 0 {
				return false
			}
		}
	}
	return true
}

// apart reports whether a blank line or a comment stands in front of an item.
func (f *formatter) apart(i int) bool {
	g := &f.gaps[i]
	prev := f.tokens[i-1].Span.End.Line
	if trail := g.trailing(); len(trail) > 0 {
		prev = trail[len(trail)-1].Span.End.Line
	}
	return len(g.own()) > 0 || f.tokens[i].Span.Start.Line > prev+1
}

// align moves the tokens of a run under the one that stands farthest to the right, if all lines still fit.
func (f *formatter) align(run []column) []column {
	run = slices.DeleteFunc(run, func(c column) bool { return c.at-f.col > most })
	far := 0
	for _, c := range run {
		far = max(far, c.at)
	}
	for _, c := range run {
		if c.line+far-c.at > width {
			return nil
		}
	}
	for _, c := range run {
		f.pad[c.token] = uint8(far - c.at)
	}
	return nil
}

// note is a comment behind the last token of a line.
type note struct {
	at, line, col int  // where it starts, with the blank in front of it
	stmt          int  // its statement
	margin        bool // its line starts at the margin
}

// under reports whether a comment may be aligned with the one in the line above: in one statement, or in a run of short ones.
func (n note) under(above note) bool {
	return n.line == above.line+1 && (n.stmt == above.stmt || n.margin && above.margin)
}

// aligned is the text with the comments behind consecutive lines one under the other.
func (f *formatter) aligned() string {
	const spread = 40 // a comment is not moved farther
	var b strings.Builder
	b.Grow(len(f.out) + len(f.out)/16)
	from := 0
	for i := 0; i < len(f.notes); {
		low, high := f.notes[i].col, f.notes[i].col
		end := i + 1
		for ; end < len(f.notes) && f.notes[end].under(f.notes[end-1]); end++ {
			l, h := min(low, f.notes[end].col), max(high, f.notes[end].col)
			if h-l > spread {
				break
			}
			low, high = l, h
		}
		for ; i < end; i++ {
			n := f.notes[i]
			b.Write(f.out[from:n.at])
			b.WriteString(strings.Repeat(" ", high-n.col))
			from = n.at
		}
	}
	b.Write(f.out[from:])
	return b.String()
}
