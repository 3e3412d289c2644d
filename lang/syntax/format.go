package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Format gives a script its layout. It changes blanks and line breaks only: the result has the same tokens and the same
// comments in the same order, and means the same. Format of the result changes nothing.
//
// Statements with errors stay as they are; the diagnostics say what is wrong with them. A text that is not UTF-8, or holds
// NUL bytes, is returned as it is.
func Format(name, text string) (string, []Diagnostic) {
	script, diags := Parse(name, text)
	if !isText(script.Source.Text) {
		return text, diags
	}
	return FormatScript(script), diags
}

// FormatScript is Format of a script that is parsed already. The result differs from the text of its source only in layout.
func FormatScript(script *Script) string {
	if !isText(script.Source.Text) {
		return script.Source.Text
	}
	out, _ := format(script)
	return out
}

func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// format returns the text, and how many statements are right and stay as they are all the same.
func format(script *Script) (string, int) {
	f := &formatter{parser: &parser{src: script.Source, script: script, tokens: script.tokens, lost: script.lost}}
	f.cutUnits(script.Stmts)
	f.findGaps()
	f.findDirt()
	f.tables()
	f.all()
	return f.aligned(), f.refused
}

const (
	width    = 100 // columns that a formatted line keeps to if it can
	rowWidth = 150 // the same of a line that is a row of a table
	step     = 4   // how far one thing is indented in another
)

// formatter holds one text on its way to its layout. Like the parser it speaks of tokens by their index.
type formatter struct {
	*parser
	units []unit
	gaps  []gap  // in front of each token, and one at the end
	dirty []bool // of gaps: they stay as they are

	// Of tokens, filled in by statements (format_space.go, format_groups.go).
	blank      []bool // a blank stands in front of it, unless a line break does
	level      []uint8
	match      []int   // of a bracket: its other half
	padded     []bool  // of a brace: a blank stands inside
	pad        []uint8 // more blanks in front, to align it
	mustBreak  []bool
	nextMust   []int
	start, end []int // columns in a line without breaks

	first   int     // token of the statement at hand
	again   []Token // memory for those of a statement that is read again
	spare   []group // memory for the next groups
	refused int     // statements that are right and stay as they are all the same
	out     []byte
	col     int
	line    int
	indent  int // of the line
	notes   []note
}

// unit is one statement: its tokens, and what they mean; nil if it stays as it is.
type unit struct {
	from, to int
	stmt     Stmt
}

// cutUnits cuts the text into statements, and finds what each means.
func (f *formatter) cutUnits(stmts []Stmt) {
	if len(f.tokens) == 0 {
		return
	}
	f.diags = diagList{}
	f.statements(func(from, to int) {
		u := unit{from: from, to: to}
		at := f.tokens[from].Span.Start.Offset
		for len(stmts) > 0 && stmts[0].Range().Start.Offset < at {
			stmts = stmts[1:]
		}
		if len(stmts) > 0 && stmts[0].Range().Start.Offset == at {
			u.stmt = stmts[0]
		}
		f.units = append(f.units, u)
	})
	// A statement that is indented is right by itself; that it is indented is the mistake.
	indented := map[int]bool{}
	for _, d := range f.diags.list {
		indented[d.Span.Start.Offset] = true
	}
	for i := range f.units {
		if indented[f.tokens[f.units[i].from].Span.Start.Offset] {
			f.units[i].stmt = nil
		}
	}
}

// findDirt finds gaps that hold more than blanks and comments, or no line break where there must be one. What stands beside them stays as it is.
func (f *formatter) findDirt() {
	f.dirty = make([]bool, len(f.gaps))
	for _, i := range f.lost {
		f.dirty[i] = true
	}
	if n := len(f.comments()); n > 0 {
		last := f.comments()[n-1].Text
		if strings.HasPrefix(last, "/*") && (len(last) < 4 || !strings.HasSuffix(last, "*/")) {
			f.dirty[len(f.gaps)-1] = true
		}
	}
	for i, u := range f.units {
		if i > 0 && f.tokens[u.from].Lead == LeadNone { // a statement behind another one, in the same line
			f.dirty[u.from] = true
		}
	}
	for i := range f.units {
		u := &f.units[i]
		if f.dirty[u.from] || f.dirty[u.to] {
			u.stmt = nil
		}
	}
}

func (f *formatter) comments() []Token { return f.script.Comments }

func (f *formatter) tables() {
	n := len(f.tokens)
	f.blank, f.padded, f.mustBreak = make([]bool, n), make([]bool, n), make([]bool, n+1)
	f.level = make([]uint8, n)
	f.match, f.start, f.end, f.nextMust = make([]int, n), make([]int, n), make([]int, n), make([]int, n+1)
	f.pad = make([]uint8, n)
	f.out = make([]byte, 0, len(f.src.Text)+len(f.src.Text)/8)
}

// all writes all statements and what stands between them.
func (f *formatter) all() {
	if len(f.units) == 0 {
		if f.dirty[0] {
			f.write(f.src.Text)
			return
		}
		f.between(-1, 0)
		return
	}
	for k, u := range f.units {
		before := k - 1
		if !f.dirty[u.from] {
			f.between(before, k)
		} else if k > 0 {
			f.write(f.src.Text[f.rawEnd(before):f.rawStart(k)])
		} else {
			f.write(f.src.Text[:f.rawStart(0)])
		}
		if u.stmt == nil || !f.layout(u) {
			if u.stmt != nil {
				f.refused++
			}
			f.units[k].stmt = nil
			f.write(f.src.Text[f.rawStart(k):f.rawEnd(k)])
		}
	}
	last := len(f.units) - 1
	switch end := f.rawEnd(last); {
	case f.dirty[len(f.tokens)]:
		f.write(f.src.Text[end:])
	case f.units[last].stmt == nil && end == len(f.src.Text): // its last token may be one that nothing ends
	default:
		f.between(last, last+1)
	}
}

// layout writes a statement that is right. It reports false, and writes nothing, if the statement would not be the same.
func (f *formatter) layout(u unit) bool {
	if !f.findBrackets(u) {
		return false
	}
	out, col, line, notes := len(f.out), f.col, f.line, len(f.notes)
	f.first, f.indent = u.from, 0
	f.print(u.from, u.to, f.groups(u), 0, u.to, false)
	was := f.src.Slice(Span{f.tokens[u.from].Span.Start, f.tokens[u.to-1].Span.End})
	if string(f.out[out:]) == was || f.same(u, string(f.out[out:])) {
		return true
	}
	f.out, f.col, f.line, f.notes = f.out[:out], col, line, f.notes[:notes]
	return false
}

// same reports whether a text is the statement: the last guard against a layout that changes what is meant. There are such
// layouts, for example of what brackets hold, which is parsed later: a line that starts like a statement would be one.
func (f *formatter) same(u unit, text string) bool {
	p := &parser{src: &Source{Text: text}, tokens: f.again}
	p.script = &Script{Source: p.src}
	p.lex()
	f.again = p.tokens
	if len(p.tokens) != u.to-u.from {
		return false
	}
	lines := true // are as they were, so the parser would see what it has seen
	for i, t := range p.tokens {
		was := f.tokens[u.from+i]
		if t.Kind != was.Kind || t.Text != was.Text {
			return false
		}
		lines = lines && t.Lead == was.Lead
	}
	if !lines {
		p.statements(p.statement)
		p.done()
		if len(p.script.Stmts) != 1 {
			return false
		}
	}
	if len(p.diags.list) > 0 {
		return false
	}
	var inside []Token
	for i := u.from + 1; i < u.to; i++ {
		inside = append(inside, f.gaps[i].comments...)
	}
	return slices.EqualFunc(inside, p.script.Comments, func(a, b Token) bool { return commentText(a) == commentText(b) })
}

// rawStart is where a statement that stays as it is begins: with its line.
func (f *formatter) rawStart(k int) int {
	u := f.units[k]
	at := f.tokens[u.from].Span.Start.Offset
	if inline := f.gaps[u.from].inline(); len(inline) > 0 {
		at = inline[0].Span.Start.Offset
	}
	begin := 0
	if k > 0 {
		begin = f.tokens[u.from-1].Span.End.Offset
	}
	blanks := f.src.Text[begin:at]
	if f.dirty[u.from] {
		return at
	}
	return at - (len(blanks) - len(strings.TrimRight(blanks, " \t")))
}

// rawEnd is where it ends: with the comments behind its last token.
func (f *formatter) rawEnd(k int) int {
	u := f.units[k]
	if trail := f.gaps[u.to].trailing(); len(trail) > 0 && !f.dirty[u.to] {
		return trail[len(trail)-1].Span.End.Offset
	}
	return f.tokens[u.to-1].Span.End.Offset
}

// between writes what stands between two statements: comments, and a blank line where there were some.
func (f *formatter) between(before, after int) {
	i := len(f.tokens)
	if after < len(f.units) {
		i = f.units[after].from
	}
	g := &f.gaps[i]
	prev := 0
	if before >= 0 {
		prev = f.tokens[i-1].Span.End.Line
		if trail := g.trailing(); len(trail) > 0 {
			if f.units[before].stmt != nil {
				f.trail(trail)
			}
			prev = trail[len(trail)-1].Span.End.Line
		}
		f.newline()
	}
	own := g.own()
	if before >= 0 {
		// Comments that are indented behind a statement are about it: a stage that was taken out for now.
		n := 0
		for line := prev; n < len(own) && own[n].Span.Start.Column > 1 && own[n].Span.Start.Line <= line+1; n++ {
			line = own[n].Span.End.Line
		}
		prev = f.own(own[:n], prev, step, true)
		own = own[n:]
	}
	prev = f.own(own, prev, 0, true)
	if i == len(f.tokens) {
		return
	}
	first := f.tokens[i].Span.Start.Line
	if inline := g.inline(); len(inline) > 0 {
		first = inline[0].Span.Start.Line
	}
	if first > prev+1 && len(f.out) > 0 {
		f.newline()
	}
	if f.units[after].stmt != nil {
		f.inline(i)
	}
}
