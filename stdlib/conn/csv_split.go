package conn

import (
	"bytes"
	"fmt"
)

// csvSplitter splits any record, quotes and all, into its fields. The decoder's fast path knows only records without
// quotes. It belongs to one task.
type csvSplitter struct {
	csvDialect
	spans []csvSpan
	arena jsonText // room for fields with doubled quotes
}

// csvSpan is a field: its text without the outer quotes.
type csvSpan struct {
	from, to int
	quoted   bool
	doubled  bool // holds doubled quotes
}

// text returns field i of the record that was split last. It may be kept as long as the block.
func (s *csvSplitter) text(b []byte, i int) (text []byte, quoted bool) {
	f := &s.spans[i]
	text = b[f.from:f.to]
	if f.doubled {
		text = s.single(text)
	}
	return text, f.quoted
}

// single makes one quote of two.
func (s *csvSplitter) single(b []byte) []byte {
	to := s.arena.room(len(b))
	at := len(to)
	for {
		i := bytes.IndexByte(b, s.quote)
		if i < 0 {
			to = append(to, b...)
			s.arena.arena = to
			return to[at:len(to):len(to)]
		}
		to = append(to, b[:i+1]...)
		b = b[i+1:]
		if len(b) > 0 && b[0] == s.quote {
			b = b[1:]
		}
	}
}

// blank skips a comment or an empty line at p. whole is false if the text ends before one can tell.
func (s *csvSplitter) blank(b []byte, p int) (next int, skipped, whole bool) {
	if p >= len(b) {
		return p, false, false
	}
	comment := s.comment != 0 && b[p] == s.comment
	if !comment && b[p] != '\n' && b[p] != '\r' {
		return p, false, true
	}
	i := bytes.IndexByte(b[p:], '\n')
	switch {
	case i < 0:
		if comment || p+1 == len(b) {
			return len(b), true, false
		}
		return p, false, true
	case comment || i == 0 || i == 1 && b[p] == '\r':
		return p + i + 1, true, true
	}
	return p, false, true
}

// split finds the fields of the record at p and what follows it. whole is false if the record does not end and the text
// is not final. why is what is wrong with the record, "" if nothing is.
func (s *csvSplitter) split(b []byte, p int, final bool) (next int, whole bool, why string) {
	s.spans = s.spans[:0]
	if s.lazy {
		return s.splitLazy(b, p, final)
	}
	n := s.csvDialect.next(b[p:], false)
	if n < 0 && !final {
		return p, false, ""
	}
	next = len(b)
	if n >= 0 {
		next = p + n
	}
	return next, true, s.fields(b, p, lineEnd(b, p, next))
}

// lineEnd takes a line end off the record from p to end.
func lineEnd(b []byte, p, end int) int {
	if end > p && b[end-1] == '\n' {
		end--
	}
	if end > p && b[end-1] == '\r' {
		end--
	}
	return end
}

// fields finds the fields between p and end.
func (s *csvSplitter) fields(b []byte, p, end int) string {
	for {
		if p < end && s.quote != 0 && b[p] == s.quote {
			f := csvSpan{from: p + 1, quoted: true}
			for p++; ; p += 2 {
				i := bytes.IndexByte(b[p:end], s.quote)
				if i < 0 {
					return fmt.Sprintf("the quote that opens field %d is never closed", len(s.spans)+1)
				}
				p += i
				if p+1 == end || b[p+1] != s.quote {
					break
				}
				f.doubled = true
			}
			f.to = p
			p++
			if p < end && b[p] != s.delim {
				return fmt.Sprintf("field %d goes on behind its closing quote: %q; double the quotes inside of a quoted field, or read with lazy_quotes: true",
					len(s.spans)+1, excerpt(b[f.from-1:min(p+10, end)]))
			}
			s.spans = append(s.spans, f)
		} else {
			i := bytes.IndexByte(b[p:end], s.delim)
			to := end
			if i >= 0 {
				to = p + i
			}
			// Quotes inside of an unquoted field are text, but if they pair across lines the record is not what was meant.
			if bytes.IndexByte(b[p:to], '\n') >= 0 {
				return fmt.Sprintf("the unquoted field %d has a quote inside and goes on in the next line: %q; put the field in quotes and double those inside, or read with lazy_quotes: true",
					len(s.spans)+1, excerpt(b[p:to]))
			}
			s.spans = append(s.spans, csvSpan{from: p, to: to})
			p = to
		}
		if p >= end {
			return ""
		}
		p++ // the delimiter
	}
}

// splitLazy is split for lazy quotes: a quote closes a field only before a delimiter or a line end.
func (s *csvSplitter) splitLazy(b []byte, p int, final bool) (int, bool, string) {
	for {
		if p < len(b) && s.quote != 0 && b[p] == s.quote {
			f := csvSpan{from: p + 1, quoted: true}
			for p++; ; {
				i := bytes.IndexByte(b[p:], s.quote)
				if i < 0 || p+i+1 == len(b) && !final {
					if !final {
						return p, false, ""
					}
					return len(b), true, fmt.Sprintf("the quote that opens field %d is never closed", len(s.spans)+1)
				}
				p += i + 1
				if p == len(b) || b[p] == s.delim || b[p] == '\n' || b[p] == '\r' && p+1 < len(b) && b[p+1] == '\n' {
					f.to = p - 1
					break
				}
				if b[p] == '\r' && p+1 == len(b) {
					if !final {
						return p, false, ""
					}
					f.to = p - 1
					break
				}
				if b[p] == s.quote {
					f.doubled = true
					p++
				}
			}
			s.spans = append(s.spans, f)
		} else {
			i := bytes.IndexByte(b[p:], '\n')
			end := len(b)
			if i >= 0 {
				end = p + i
			} else if !final {
				return p, false, ""
			}
			if d := bytes.IndexByte(b[p:end], s.delim); d >= 0 {
				end = p + d
			}
			f := csvSpan{from: p, to: end}
			if end == len(b) || b[end] == '\n' {
				f.to = lineEnd(b, p, end)
			}
			s.spans = append(s.spans, f)
			p = end
		}
		switch {
		case p < len(b) && b[p] == s.delim:
			p++
			continue
		case p < len(b) && b[p] == '\r':
			p++
		}
		if p < len(b) && b[p] == '\n' {
			p++
		}
		return p, true, ""
	}
}
