package syntax

import "fmt"

// MaxDepth is how deep brackets may be nested.
const MaxDepth = 200

// piece is a run of tokens of a statement: its head, or one stage.
type piece struct {
	pipe     int // index of the `|>` in front, -1 for the head
	from, to int
	broken   bool // its brackets do not match: it has had its diagnostic and is not parsed
}

// statements cuts the tokens at statement starts and calls f with each range. A statement starts at the left margin;
// a line there that starts with `|>` or a closing bracket continues. So does one that starts with `|`, which is a mistake
// of its own.
func (p *parser) statements(f func(from, to int)) {
	from, depth := 0, 0
	for i := 1; i <= len(p.tokens) && !p.diags.full; i++ {
		switch prev := p.tokens[i-1]; {
		case prev.Kind == KindOpen:
			depth++
		case prev.Kind == KindClose:
			depth = max(depth-1, 0)
		}
		if i == len(p.tokens) || p.tokens[i].Lead == LeadMargin && !p.continues(i) || p.indented(from, i) || depth == 0 && p.sameLine(from, i) {
			f(from, i)
			from, depth = i, 0
		}
	}
}

func (p *parser) continues(i int) bool {
	t := p.tokens[i]
	return t.Kind == KindPipe || t.Kind == KindClose || t.Text == "|"
}

// indented reports, and says, that an indented line starts a statement.
func (p *parser) indented(from, i int) bool {
	if p.tokens[i].Lead != LeadIndent || i == from || !p.defines(i) || p.binds(i) {
		return false
	}
	p.errorAt(i, P038, "indented lines continue the statement before them; move the line to the left margin",
		"`%s %s` starts a statement, but the line is indented", p.tokens[i].Text, shorten(p.tokens[i+1].Text))
	return true
}

// sameLine reports, and says, that a statement starts behind another one.
func (p *parser) sameLine(from, i int) bool {
	// What stands before it has an error of its own, or goes on.
	if p.tokens[i].Lead != LeadNone || i == from || !p.defines(i) || p.wantsMore(i-1) || p.tokens[i-1].Kind == KindUnknown {
		return false
	}
	p.errorAt(i, P003, "start it on a new line at the left margin", "the statement `%s …` must start on a new line", p.tokens[i].Text)
	return true
}

// wantsMore reports whether something must follow a token.
func (p *parser) wantsMore(i int) bool {
	switch p.tokens[i].Kind {
	case KindOp, KindAssign, KindPipe, KindComma:
		return true
	}
	return false
}

// binds reports whether a token may be the `let` of an expression: `let NAME = VALUE; …` stands wherever an expression may begin.
func (p *parser) binds(i int) bool {
	return p.tokens[i].Text == "let" && i > 0 && (p.wantsMore(i-1) || p.tokens[i-1].Kind == KindOpen)
}

// defines reports whether a statement starts at a token: a keyword, a name and what defines it never stand inside of one.
func (p *parser) defines(i int) bool {
	t := p.tokens[i]
	if t.Kind != KindIdent || !isStatement(t.Text) || i+2 >= len(p.tokens) {
		return false
	}
	name, next := p.tokens[i+1], p.tokens[i+2]
	switch {
	case name.Lead != LeadNone:
		return false
	case t.Text == "test" && (name.Kind == KindString || name.Kind == KindRaw):
		return next.Text == "{"
	case t.Text == "use" && (name.Kind == KindString || name.Kind == KindRaw):
		return next.Lead != LeadNone
	case t.Text == "set" || name.Kind != KindIdent && name.Kind != KindQuoted:
		return false
	case t.Text == "fn" || t.Text == "pipe":
		return next.Text == "("
	case next.Kind == KindAssign:
		return true
	}
	return next.Text == ":" && t.Text == "param"
}

// cut checks the brackets of a statement and cuts it at each `|>` outside of them. An expression never holds a `|>`, so one
// inside a bracket means that the bracket was forgotten; the cut is made all the same.
func (p *parser) cut(from, to int) []piece {
	pieces := []piece{{pipe: -1, from: from}}
	cur := &pieces[0]
	var open []int
	forgiven := 0 // brackets that were reported as unclosed; their other halves may come yet
	word := p.keyword(from, to)
	staged := word == "" || word == "stream" || word == "pipe"
	next := func(i, skip int) {
		cur.to = i
		pieces = append(pieces, piece{pipe: i, from: i + skip})
		cur = &pieces[len(pieces)-1]
	}
	for i := from; i < to; i++ {
		t := p.tokens[i]
		switch {
		case t.Kind == KindOpen:
			open = append(open, i)
			if len(open) > MaxDepth {
				p.errorAt(i, P023, "", "brackets are nested deeper than %d", MaxDepth)
				cur.to, cur.broken = to, true
				return pieces
			}
		case t.Kind == KindClose:
			if n := len(open); n > 0 && fits(p.tokens[open[n-1]].Text, t.Text) {
				p.noteList(open[n-1], i, from)
				open = open[:n-1]
				continue
			}
			if len(open) == 0 && forgiven > 0 {
				forgiven--
				cur.broken = true
				continue
			}
			open = p.mismatch(i, open, cur)
		case t.Kind == KindPipe:
			p.unclosed(open, cur, i)
			forgiven += len(open)
			open = open[:0]
			next(i, 1)
		case t.Text == "|" && len(open) == 0 && p.singlePipe(i, from, to, staged):
			next(i, 1)
		}
	}
	cur.to = to
	p.unclosed(open, cur, to)
	p.inBracket = len(open) > 0
	return pieces
}

// longList is the number of tokens from which on a list is skipped as a whole.
const longList = 64

// noteList remembers a long list of an expression. Types have brackets, too, but they stand behind a colon or in another type.
func (p *parser) noteList(open, end, from int) {
	if end-open < longList || p.tokens[open].Text != "[" || open == from {
		return
	}
	if prev := p.tokens[open-1].Text; prev == ":" || prev == "[" {
		return
	}
	if p.lists == nil {
		p.lists = map[int]int{}
	}
	p.lists[open] = end
}

func fits(open, end string) bool {
	return open == "(" && end == ")" || open == "[" && end == "]" || open == "{" && end == "}"
}

// mismatch reports a closing bracket that does not fit and returns the brackets that are open after it.
func (p *parser) mismatch(i int, open []int, cur *piece) []int {
	was := cur.broken
	cur.broken = true
	t := p.tokens[i]
	if len(open) == 0 {
		// After a statement with an unclosed bracket this is the rest of it.
		if !p.inBracket && !was {
			p.errorAt(i, P021, "", "`%s` closes nothing", t.Text)
		}
		return open
	}
	n := len(open) - 1
	opener := p.tokens[open[n]]
	if !was {
		at := opener.Span.Start
		p.errorAt(i, P022, "", "`%s` does not close the `%s` of line %d, column %d", t.Text, opener.Text, at.Line, at.Column)
	}
	for m := n; m >= 0; m-- {
		if fits(p.tokens[open[m]].Text, t.Text) {
			return open[:m]
		}
	}
	return open[:n]
}

// unclosed reports the innermost bracket that is open at the end of a piece.
func (p *parser) unclosed(open []int, cur *piece, end int) {
	if len(open) == 0 || cur.broken {
		return
	}
	cur.broken = true
	last := open[len(open)-1]
	msg := fmt.Sprintf("`%s` is never closed", p.tokens[last].Text)
	if n := len(open); n > 1 {
		msg += fmt.Sprintf(" (%d brackets are open here)", n)
	}
	help := ""
	if end < len(p.tokens) && p.tokens[end].Lead == LeadMargin && p.tokens[end].Kind != KindPipe && !(p.tokens[end].Kind == KindIdent && isStatement(p.tokens[end].Text)) {
		help = "a line at the left margin starts a new statement: indent what belongs into the brackets"
	}
	p.errorAt(last, P020, help, "%s", msg)
}

// singlePipe reports a `|` that was meant to separate stages: one before the name of a stage that no `(` follows, at the start
// of a line at the margin, or right after the head of a pipeline.
// In a statement without stages it is enough to say that.
func (p *parser) singlePipe(i, from, to int, staged bool) bool {
	if i+1 >= to {
		return false
	}
	name := p.tokens[i+1]
	if name.Kind != KindIdent {
		return false
	}
	stage := isStageWord(name.Text) || i+2 < to && p.tokens[i+2].Text == "join" && p.tokens[i+2].Kind == KindIdent
	called := i+2 < to && p.tokens[i+2].Text == "("
	margin := p.tokens[i].Lead == LeadMargin
	head := i == from+1 || i == from+4 && p.tokens[from].Text == "stream" && p.tokens[from+2].Kind == KindAssign
	if !(stage && !called || margin || head) {
		return false
	}
	if staged {
		p.errorAt(i, P001, fmt.Sprintf("write `|> %s`", shorten(name.Text)), "stages are separated by `|>`, not by `|`")
	}
	return true
}
