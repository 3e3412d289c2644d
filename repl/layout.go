package repl

import "strings"

// A Statement is what was read as one: a statement with the comments around it, or a command.
type Statement struct {
	Text string
	Line int // its first line, from 1
}

// layout cuts lines into statements as they come, by the rule of the language: a statement starts at the left margin, and
// what is indented or begins with `|>` or a closing bracket continues it. A command is a line of its own.
type layout struct {
	line  int      // how many lines there have been
	open  []string // the lines of the statement that may go on
	from  int      // number of the first of them
	after []string // blank lines and comments behind it: they belong to what comes next
	said  bool     // the open lines are more than comments

	in     byte // what is open at the end of a line: '`' a raw string, '*' a comment, 0 nothing
	begun  bool // the line, or the one in which the open comment begins, holds something
	margin bool // and that stands at the margin
	text   bool // and it holds more than comments
}

// add takes the next line, without its end, and returns the statements that are complete now.
func (l *layout) add(line string) []Statement {
	line = strings.TrimSuffix(line, "\r")
	l.line++
	if l.line == 1 {
		line = strings.TrimPrefix(line, "\uFEFF")
		if strings.HasPrefix(line, "#!") {
			return nil
		}
	}
	if l.in == 0 && IsCommand(line) {
		return append(l.end(), Statement{line, l.line})
	}
	first := l.scan(line)
	switch {
	case first == 0 && !l.text && l.said:
		l.after = append(l.after, line)
		return nil
	case first == 0 || !l.said || !l.margin || strings.IndexByte("|)]}", first) >= 0:
		l.push(line)
		l.said = l.said || l.text
		return nil
	}
	after := l.after
	l.after = nil
	out := l.end()
	l.open, l.from, l.said = append(after, line), l.line-len(after), true
	return out
}

// push adds a line to the statement that is open.
func (l *layout) push(line string) {
	if len(l.open) == 0 {
		l.from = l.line
	}
	l.open = append(append(l.open, l.after...), line)
	l.after = nil
}

// end returns what is open; nothing follows it.
func (l *layout) end() []Statement {
	var out []Statement
	if l.said {
		out = append(out, Statement{strings.Join(append(l.open, l.after...), "\n"), l.from})
	}
	l.open, l.after, l.said = nil, nil, false
	return out
}

// scan goes over a line and notes what is open at its end. It returns the first byte of what the line begins with, comments
// apart; 0 if it only goes on with a line before it or holds nothing. Quotes end at the latest with their line.
func (l *layout) scan(line string) (first byte) {
	if l.in == 0 {
		l.begun, l.text = false, false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c == ' ' || c == '\t' {
			continue
		}
		if !l.begun {
			l.begun, l.margin = true, i == 0
		}
		switch {
		case l.in == '*':
			if strings.HasPrefix(line[i:], "*/") {
				l.in = 0
				i++
			}
			continue
		case l.in == '`':
			if c == '`' {
				l.in = 0
			}
			continue
		case strings.HasPrefix(line[i:], "//"):
			return first
		case strings.HasPrefix(line[i:], "/*"):
			l.in = '*'
			i++
			continue
		}
		if !l.text {
			l.text, first = true, c
		}
		switch c {
		case '`':
			l.in = c
		case '"', '\'':
			for i++; i < len(line) && line[i] != c; i++ {
				if line[i] == '\\' {
					i++
				}
			}
		}
	}
	return first
}

// cutLines cuts a whole text.
func cutLines(text string) []Statement {
	var l layout
	var out []Statement
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, l.add(line)...)
	}
	return append(out, l.end()...)
}
