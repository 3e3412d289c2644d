package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lex returns all tokens of a text, blanks and comments included, and an EOF token at the end. The texts of the tokens
// together are the text. What is malformed is a Bad or Unknown token and has a diagnostic.
func Lex(src *Source) ([]Token, []Diagnostic) {
	s := newScanner(src)
	tokens := make([]Token, 0, len(src.Text)/3+1)
	for {
		t := s.next()
		tokens = append(tokens, t)
		if t.Kind == KindEOF {
			return tokens, s.diags.list
		}
	}
}

// scanner reads one token after the other. Columns count runes, so it keeps how many bytes of the current line were
// continuation bytes; everything takes linear time.
type scanner struct {
	src       *Source
	text      string
	off       int
	line      int
	lineStart int
	extra     int // bytes of this line that are no runes of their own

	start     Pos  // of the current token
	lineBegun bool // a line break was seen since the last significant token
	leadCol   int  // column of the first comment or token of the line, 0 while there is none
	noRaw     bool // no backtick follows any more: do not look again, it would take quadratic time
	diags     diagList
}

func newScanner(src *Source) *scanner {
	s := &scanner{src: src, text: src.Text, line: 1, lineBegun: true, leadCol: 0}
	s.checkEncoding()
	return s
}

func (s *scanner) pos() Pos {
	return Pos{Offset: s.off, Line: s.line, Column: s.off - s.lineStart - s.extra + 1}
}

// at is the byte i places ahead, 0 at the end.
func (s *scanner) at(i int) byte {
	if s.off+i < len(s.text) {
		return s.text[s.off+i]
	}
	return 0
}

func (s *scanner) more() bool { return s.off < len(s.text) }

// rune decodes the next rune without taking it.
func (s *scanner) rune() (rune, int) {
	if s.off >= len(s.text) {
		return -1, 0
	}
	if c := s.text[s.off]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s.text[s.off:])
}

// take goes past the next rune.
func (s *scanner) take() {
	r, n := s.rune()
	s.off += n
	if r == '\n' {
		s.line++
		s.lineStart, s.extra = s.off, 0
	} else if n > 1 {
		s.extra += n - 1
	}
}

// skip goes past n bytes that are ASCII and no line breaks.
func (s *scanner) skip(n int) { s.off += n }

func (s *scanner) span() Span { return Span{Start: s.start, End: s.pos()} }

func (s *scanner) word() string { return s.text[s.start.Offset:s.off] }

// next returns the next token.
func (s *scanner) next() Token {
	s.start = s.pos()
	kind := s.scan()
	t := Token{Kind: kind, Text: s.word(), Span: s.span()}
	if kind == KindSpace {
		return t
	}
	if s.lineBegun && s.leadCol == 0 {
		s.leadCol = s.start.Column
	}
	if kind == KindComment || kind == KindUnknown {
		return t
	}
	if s.lineBegun {
		t.Lead = LeadIndent
		if s.leadCol == 1 {
			t.Lead = LeadMargin
		}
		s.lineBegun = false
	}
	return t
}

func (s *scanner) scan() Kind {
	r, n := s.rune()
	switch {
	case n == 0:
		return KindEOF
	case isSpace(r):
		return s.spaces()
	case r == '/' && s.at(1) == '/':
		return s.lineComment()
	case r == '/' && s.at(1) == '*':
		return s.blockComment()
	case r == '"' || r == '\'':
		return s.str(KindString)
	case (r == 'b' || r == 'B') && (s.at(1) == '"' || s.at(1) == '\''):
		s.skip(1)
		return s.str(KindString)
	case r == '`':
		return s.raw()
	case isDigit(r) || r == '.' && isDigit(rune(s.at(1))):
		return s.number()
	case r == '@':
		return s.atSign()
	case isNameStart(r):
		s.name()
		return KindIdent
	}
	return s.operator()
}

func (s *scanner) name() {
	for s.off < len(s.text) && isNameByte(s.text[s.off]) {
		s.off++
	}
	for {
		r, n := s.rune()
		if n == 0 || !isNameRune(r) {
			return
		}
		s.take()
	}
}

func (s *scanner) spaces() Kind {
	for {
		for s.at(0) == ' ' {
			s.off++
		}
		r, n := s.rune()
		if n == 0 || !isSpace(r) {
			return KindSpace
		}
		if r == '\n' {
			s.lineBegun, s.leadCol = true, 0
		}
		s.take()
	}
}

func (s *scanner) lineComment() Kind {
	for {
		r, n := s.rune()
		if n == 0 || r == '\n' {
			return KindComment
		}
		s.take()
	}
}

func (s *scanner) blockComment() Kind {
	begin := s.start
	s.skip(2)
	for s.more() {
		if s.at(0) == '*' && s.at(1) == '/' {
			s.skip(2)
			return KindComment
		}
		s.take()
	}
	s.diags.add(P006, Span{begin, Pos{begin.Offset + 2, begin.Line, begin.Column + 2}},
		"the comment is never closed", "end it with `*/`")
	return KindComment
}

// operators lists what is longer than one character, longest first where one is the beginning of another.
var operators = []string{"|>", "||", "|", "=>", "==", "=", "!=", "<=", ">=", "**", "&&", "&", "??", "?.", "?", "::", ":", "..", "."}

func (s *scanner) operator() Kind {
	switch c := s.at(0); c {
	case '(', '[', '{':
		s.skip(1)
		return KindOpen
	case ')', ']', '}':
		s.skip(1)
		return KindClose
	case ',':
		s.skip(1)
		return KindComma
	case '+', '-', '%', '^', ';', '#', '/':
		s.skip(1)
		return KindOp
	}
	rest := s.text[s.off:]
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			s.skip(len(op))
			switch op {
			case "|>":
				return KindPipe
			case "=":
				return KindAssign
			case "=>":
				return KindArrow
			}
			return KindOp
		}
	}
	if c := s.at(0); c == '!' || c == '<' || c == '>' || c == '*' {
		s.skip(1)
		return KindOp
	}
	return s.unknown()
}

// unknown takes a run of characters that no token starts with. Bytes that are no text have had their diagnostic.
func (s *scanner) unknown() Kind {
	first, _ := s.rune()
	silent := true
	for {
		r, n := s.rune()
		if n == 0 || r != first && !(isBadByte(r, n) && silent) {
			break
		}
		if !isBadByte(r, n) {
			silent = false
		}
		s.take()
	}
	if silent {
		return KindUnknown
	}
	help := ""
	switch {
	case strings.ContainsRune("“”„‘’«»", first):
		help = "write strings with straight quotes, \"…\" or '…'"
	case strings.ContainsRune("–—−", first):
		help = "the minus sign is `-`"
	case first == '~':
		help = "a regular expression is tested with `matches`: `name matches \"^a\"`"
	case first == '\\':
		help = "lines need no `\\` at their end: an indented line continues the one before"
	}
	s.diags.add(P013, s.span(), "the character "+showRune(first)+" means nothing here", help)
	return KindUnknown
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r > ' ' && unicode.IsSpace(r) || r == '\v' || r == '\f'
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isNameByte reports whether an ASCII character goes on with a name.
func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || '0' <= c && c <= '9' || c == '$'
}

func isNameStart(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '$'
	}
	return unicode.IsLetter(r) && r != utf8.RuneError
}

func isNameRune(r rune) bool {
	return isNameStart(r) || isDigit(r) || r >= utf8.RuneSelf && unicode.IsDigit(r)
}

func isBadByte(r rune, size int) bool { return r == 0 || r == utf8.RuneError && size <= 1 }
