package syntax

import (
	"strings"
	"unicode/utf8"
)

// measure finds where a line must break, and how wide a statement is where it does not.
func (f *formatter) measure(u unit, kids []*group) {
	for i := u.from; i < u.to; i++ {
		f.mustBreak[i] = i > u.from && f.gaps[i].breaks()
	}
	for _, g := range kids {
		f.wishes(g)
	}
	next := u.to
	f.nextMust[u.to] = next
	for i := u.to - 1; i >= u.from; i-- {
		if f.mustBreak[i] {
			next = i
		}
		f.nextMust[i] = next
	}
	at := 0
	for i := u.from; i < u.to; i++ {
		inline := f.gaps[i].inline()
		if i == u.from {
			inline = nil
		}
		if len(inline) > 0 && (f.tokens[i-1].Kind != KindOpen || f.padded[i-1]) {
			f.blank[i] = true
		}
		if i > u.from && f.blank[i] {
			at++
		}
		f.start[i] = at
		for _, c := range inline {
			at += textWidth(c.Text) + 1
		}
		at += textWidth(f.tokens[i].Text)
		f.end[i] = at
	}
}

// wishes finds the groups that are broken as they are written, and the widest tokens of all.
func (f *formatter) wishes(g *group) {
	wish := g.kind == groupBlock
	for k, p := range g.points {
		last := g.kind == groupList && k == len(g.points)-1
		operator := g.kind == groupOps || g.kind == groupElse
		wish = wish || f.gaps[p].breaks() || f.tokens[p].Lead != LeadNone && !last || operator && f.tokens[p+1].Lead != LeadNone
	}
	if wish {
		for _, p := range g.points {
			f.mustBreak[p] = true
		}
	}
	i := g.from
	for _, k := range g.kids {
		f.wishes(k)
		for ; i < k.from; i++ {
			g.widest = max(g.widest, textWidth(f.tokens[i].Text))
		}
		g.widest = max(g.widest, k.widest)
		i = k.to
	}
	for ; i < g.to; i++ {
		g.widest = max(g.widest, textWidth(f.tokens[i].Text))
	}
}

// textWidth is the number of columns of a text, of its longest line if there are several.
func textWidth(s string) int {
	if strings.IndexByte(s, '\n') < 0 {
		return utf8.RuneCountInString(s)
	}
	most := 0
	for line := range strings.SplitSeq(s, "\n") {
		most = max(most, utf8.RuneCountInString(line))
	}
	return most
}

// print writes the tokens from..to-1 with the groups among them. The gap in front is already written. Lines are indented by
// ind; what is written in this line ends at the token limit. With flat, what fits or not has been decided: it stands in one line.
func (f *formatter) print(from, to int, kids []*group, ind, limit int, flat bool) {
	for i := from; i < to; {
		if i > from {
			f.gap(i, ind)
		}
		if len(kids) == 0 || kids[0].from != i {
			f.token(i)
			i++
			continue
		}
		end := limit
		for _, next := range kids[1:] {
			if p := next.firstPoint(); p >= 0 {
				end = min(end, p)
				break
			}
		}
		f.group(kids[0], ind, end, flat)
		i = kids[0].to
		kids = kids[1:]
	}
}

// firstPoint is where a group can be broken first, -1 if nowhere.
func (g *group) firstPoint() int {
	if !g.soft {
		return g.points[0]
	}
	for _, k := range g.kids {
		if p := k.firstPoint(); p >= 0 {
			return p
		}
	}
	return -1
}

// broken reports whether a group that starts at the current column is broken.
func (f *formatter) broken(g *group, ind, limit int, flat bool) bool {
	switch {
	case g.soft || g.kind == groupBlock:
		return f.mustBreak[g.points[0]]
	case f.nextMust[g.from+1] < g.upto:
		return true
	case flat:
		return false
	case g.kind == groupList && g.widest > width-ind-step:
		return false // a long string is no shorter on a line of its own
	}
	end := min(limit, f.nextMust[g.upto])
	most := width
	if g.row {
		most = rowWidth
	}
	return f.col+f.end[end-1]-f.start[g.from] > most
}

// group writes a group. Its limit is as in print.
func (f *formatter) group(g *group, ind, limit int, flat bool) {
	if !f.broken(g, ind, limit, flat) {
		f.print(g.from, g.to, g.kids, ind, limit, flat || !g.soft)
		return
	}
	line, first := ind+step, ind // how far points and what stands in front of them are indented
	within := line               // what breaks inside of their lines counts from here
	switch g.kind {
	case groupLines:
		line = ind + g.indent
		within = line
	case groupItems:
		line, first, within = f.col, f.col, f.col
		f.alignItems(g)
	case groupOps, groupNext:
		if f.col <= farthest {
			line, first, within = f.col, f.col, f.col
		}
	case groupElse:
		if f.col <= farthest {
			line, first, within = max(f.col-len(": "), 1), f.col, f.col
		}
		f.alignChoices(g)
	}
	kids := g.kids
	part := func(from, to, ind, limit int) {
		n := 0
		for n < len(kids) && kids[n].from < to {
			n++
		}
		f.print(from, to, kids[:n], ind, limit, false)
		kids = kids[n:]
	}
	brackets := g.kind == groupList || g.kind == groupBlock
	part(g.from, g.points[0], first, g.points[0])
	for k, p := range g.points {
		end, last := g.to, k == len(g.points)-1
		if !last {
			end = g.points[k+1]
			limit := end
			f.breakLine(p, line, line, g.spaced() && !(brackets && k == 0))
			part(p, end, within, limit)
			continue
		}
		if brackets {
			f.breakLine(p, ind, line, false)
			part(p, end, ind, limit)
			continue
		}
		f.breakLine(p, line, line, g.spaced())
		part(p, end, within, limit)
	}
}

// farthest is the column behind which what is broken is not put under its beginning.
const farthest = 60

// spaced reports whether a blank line in front of a point stays.
func (g *group) spaced() bool { return g.kind != groupOps && g.kind != groupElse }

// gap writes what stands in front of a token that no group is broken at.
func (f *formatter) gap(i, ind int) {
	if f.gaps[i].breaks() {
		f.breakLine(i, ind+step, ind+step, false)
		return
	}
	if f.blank[i] {
		f.spaces(1 + int(f.pad[i]))
	}
}

// breakLine ends the line in front of a token, writes the comments between, and indents.
func (f *formatter) breakLine(i, ind, comments int, spaced bool) {
	g := &f.gaps[i]
	prev := f.tokens[i-1].Span.End.Line
	if trail := g.trailing(); len(trail) > 0 {
		f.trail(trail)
		prev = trail[len(trail)-1].Span.End.Line
	}
	f.newline()
	own := g.own()
	closes := ind < comments // a closing bracket
	prev = f.own(own, prev, comments, spaced || closes && f.tokens[i-1].Kind != KindOpen)
	at := f.tokens[i].Span.Start.Line
	if inline := g.inline(); len(inline) > 0 {
		at = inline[0].Span.Start.Line
	}
	if (spaced || len(own) > 0 && !closes) && at > prev+1 {
		f.newline()
	}
	f.indent = ind
	f.spaces(ind)
}

// own writes comments that stand on lines of their own. It returns the line of the text where the last ends.
// spaced says whether a blank line may stand in front of the first.
func (f *formatter) own(own []Token, prev, indent int, spaced bool) int {
	for k, c := range own {
		at := c.Span.Start
		if k > 0 && at.Line == prev {
			f.out, f.line = f.out[:len(f.out)-1], f.line-1
			f.write(" ")
		} else {
			if (spaced || k > 0) && at.Line > prev+1 && len(f.out) > 0 {
				f.newline()
			}
			f.spaces(indent)
		}
		f.write(commentText(c))
		f.newline()
		prev = c.Span.End.Line
	}
	return prev
}

// trail writes comments behind the last token of a line.
func (f *formatter) trail(comments []Token) {
	f.notes = append(f.notes, note{at: len(f.out), line: f.line, col: f.col, stmt: f.first, margin: f.indent == 0})
	for _, c := range comments {
		f.write(" ")
		f.write(commentText(c))
	}
}

// inline writes the comments in front of a token.
func (f *formatter) inline(i int) {
	for _, c := range f.gaps[i].inline() {
		f.write(c.Text)
		if t := f.tokens[i]; t.Kind != KindComma && t.Text != ";" && (t.Kind != KindClose || f.padded[i]) {
			f.write(" ")
		}
	}
}

func (f *formatter) token(i int) {
	if i > f.first {
		f.inline(i)
	}
	f.write(f.tokens[i].Text)
}

func (f *formatter) write(s string) {
	f.out = append(f.out, s...)
	if n := strings.Count(s, "\n"); n > 0 {
		f.line += n
		f.col = 0
		s = s[strings.LastIndexByte(s, '\n')+1:]
	}
	f.col += utf8.RuneCountInString(s)
}

func (f *formatter) newline() { f.write("\n") }

func (f *formatter) spaces(n int) {
	for range n {
		f.out = append(f.out, ' ')
	}
	f.col += n
}
