package repl

import (
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// What a line means that was typed.

// operators are the words that stand between two values, or before one.
var operatorWords = []string{"and", "or", "not", "in", "matches", "contains", "startsWith", "endsWith"}

// Incomplete reports whether what was typed goes on in the next line: a bracket, a raw string or a comment is open, or it
// ends in `|>`, a comma or an operator.
func Incomplete(text string) bool {
	if IsCommand(text) {
		return false
	}
	var l layout
	for line := range strings.SplitSeq(text, "\n") {
		l.scan(line)
	}
	if l.in != 0 {
		return true
	}
	tokens, _ := syntax.Lex(syntax.NewSource("", text))
	tokens = slices.DeleteFunc(tokens, func(t syntax.Token) bool { return t.Trivia() || t.Kind == syntax.KindEOF })
	if len(tokens) == 0 {
		return false
	}
	var open []string
	for _, t := range tokens {
		switch t.Kind {
		case syntax.KindOpen:
			open = append(open, t.Text)
		case syntax.KindClose:
			if n := len(open); n == 0 || strings.Index("([{", open[n-1]) != strings.Index(")]}", t.Text) {
				return false // what is wrong does not get right by more
			}
			open = open[:len(open)-1]
		}
	}
	switch last := tokens[len(tokens)-1]; last.Kind {
	case syntax.KindPipe, syntax.KindComma, syntax.KindAssign, syntax.KindArrow:
		return true
	case syntax.KindOp:
		// `int?` is a type.
		n := len(tokens)
		return last.Text != "?" || n > 1 && tokens[n-2].Span.End.Offset < last.Span.Start.Offset || len(open) > 0
	case syntax.KindIdent:
		return len(open) > 0 || len(tokens) > 1 && slices.Contains(operatorWords, last.Text)
	}
	return len(open) > 0
}

// Join puts a line behind an incomplete statement. It is indented, so that the layout takes it for a part of that.
func Join(text, line string) string {
	var l layout
	for above := range strings.SplitSeq(text, "\n") {
		l.scan(above)
	}
	open := l.in != 0
	if first := l.scan(line); !open && first != 0 && l.margin && strings.IndexByte("|)]}", first) < 0 {
		line = "  " + line
	}
	return text + "\n" + line
}

// mend writes `|>` for each `|` that was meant to be one, and reports whether there was any.
func mend(text string) (string, bool) {
	if !strings.Contains(text, "|") || IsCommand(text) {
		return text, false
	}
	if strings.HasPrefix(text, "|") && !strings.HasPrefix(text, "|>") { // it goes on with the statement before it
		text, _ = mend("|>" + text[1:])
		return text, true
	}
	tree, diags := syntax.Parse("", text)
	src, mended := tree.Source.Text, false
	for _, d := range slices.Backward(diags) {
		if at := d.Span.Start.Offset; d.Code == string(syntax.P001) && strings.HasPrefix(src[at:], "|") {
			src, mended = src[:at]+"|>"+src[at+1:], true
		}
	}
	if !mended {
		return text, false
	}
	return src, true
}
