package syntax

import "strings"

// gap is what stands in front of a token: comments behind the token before it, comments on lines of their own, and comments
// in front of the token on its own line.
type gap struct {
	comments   []Token
	trail, mid int // comments[:trail], comments[trail:mid] and comments[mid:] are the three kinds
}

func (g *gap) trailing() []Token { return g.comments[:g.trail] }
func (g *gap) own() []Token      { return g.comments[g.trail:g.mid] }
func (g *gap) inline() []Token   { return g.comments[g.mid:] }

// breaks reports whether a line break must follow a comment of the gap.
func (g *gap) breaks() bool { return g.mid > 0 }

// findGaps deals the comments to the tokens behind them.
func (f *formatter) findGaps() {
	n := len(f.tokens)
	f.gaps = make([]gap, n+1)
	rest := f.comments()
	for i := range f.gaps {
		k := len(rest)
		if i < n {
			for k = 0; k < len(rest) && rest[k].Span.Start.Offset < f.tokens[i].Span.Start.Offset; k++ {
			}
		}
		f.gaps[i].comments, rest = rest[:k:k], rest[k:]
		f.sortGap(i)
	}
}

// sortGap finds the kinds of the comments of a gap by the lines they stand on.
func (f *formatter) sortGap(i int) {
	g := &f.gaps[i]
	n := len(g.comments)
	g.mid = n
	if i < len(f.tokens) {
		for next := f.tokens[i].Span.Start.Line; g.mid > 0 && g.comments[g.mid-1].Span.End.Line == next; g.mid-- {
			next = g.comments[g.mid-1].Span.Start.Line
		}
	}
	if i > 0 {
		for prev := f.tokens[i-1].Span.End.Line; g.trail < g.mid && g.comments[g.trail].Span.Start.Line == prev; g.trail++ {
			prev = g.comments[g.trail].Span.End.Line
		}
	}
}

// commentText is a comment as it is written: without the blanks at the end of its line.
func commentText(c Token) string {
	if strings.HasPrefix(c.Text, "//") {
		return strings.TrimRight(c.Text, " \t\r")
	}
	return c.Text
}
