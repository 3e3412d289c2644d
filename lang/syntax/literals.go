package syntax

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// checkEncoding reports bytes that are no text, once for the whole text: a binary file would drown the rest.
func (s *scanner) checkEncoding() {
	if i := strings.IndexByte(s.text, 0); i >= 0 {
		p := s.src.Pos(i)
		s.diags.add(P004, Span{p, Pos{p.Offset + 1, p.Line, p.Column + 1}}, "NUL byte in the text"+more(strings.Count(s.text, "\x00")),
			"a script is plain UTF-8 text")
	}
	if utf8.ValidString(s.text) {
		return
	}
	first, count := -1, 0
	for i := 0; i < len(s.text); {
		r, n := utf8.DecodeRuneInString(s.text[i:])
		if r == utf8.RuneError && n == 1 {
			if first < 0 {
				first = i
			}
			count++
		}
		i += n
	}
	p := s.src.Pos(first)
	s.diags.add(P014, Span{p, Pos{p.Offset + 1, p.Line, p.Column + 1}},
		fmt.Sprintf("the byte 0x%02X is not UTF-8%s", s.text[first], more(count)), "save the script as UTF-8")
}

func more(count int) string {
	if count > 1 {
		return fmt.Sprintf(" (and %d more)", count-1)
	}
	return ""
}

// str takes a string in single or double quotes; it ends at the latest at the end of the line.
func (s *scanner) str(kind Kind) Kind {
	quote := rune(s.at(0))
	begin := s.pos()
	s.skip(1)
	for {
		r, n := s.rune()
		switch {
		case n == 0 || r == '\n':
			s.diags.add(P005, Span{begin, s.pos()}, "the string is never closed",
				fmt.Sprintf("end it with `%c`; a string that spans lines is written in backticks", quote))
			return KindBad
		case r == quote:
			s.take()
			return kind
		case r == '\\':
			if !s.escape(quote) {
				kind = KindBad
			}
		default:
			s.take()
		}
	}
}

// escape takes a backslash and what belongs to it, as expr does.
func (s *scanner) escape(quote rune) bool {
	begin := s.pos()
	s.take()
	r, n := s.rune()
	if n == 0 || r == '\n' {
		return true // the unclosed string is the error
	}
	s.take()
	digits, base, want := 0, 16, ""
	switch r {
	case 'a', 'b', 'f', 'n', 'r', 't', 'v', '\\', quote:
		return true
	case '0', '1', '2', '3', '4', '5', '6', '7':
		digits, base, want = 2, 8, "3 octal digits"
	case 'x':
		digits, want = 2, "2 hex digits"
	case 'u':
		digits, want = 4, "4 hex digits"
		if s.at(0) == '{' {
			n := 1
			for hexVal(s.at(n)) < 16 && n < 8 {
				n++
			}
			if s.at(n) == '}' && n >= 2 && n <= 7 {
				s.skip(n + 1)
				return true
			}
			want = "1 to 6 hex digits in its braces"
		}
	case 'U':
		digits, want = 8, "8 hex digits"
	default:
		help := "a backslash itself is `\\\\`; regular expressions are best written in backticks: `\\d+`"
		s.diags.add(P007, Span{begin, s.pos()}, fmt.Sprintf("unknown escape `\\%c` in a string", r), help)
		return false
	}
	for i := 0; i < digits; i++ {
		if hexVal(s.at(0)) >= base {
			s.diags.add(P007, Span{begin, s.pos()}, fmt.Sprintf("the escape `\\%c` needs %s", r, want), "")
			return false
		}
		s.skip(1)
	}
	return true
}

func hexVal(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return 99
}

// raw takes a string in backticks, which may span lines. One that is never closed ends with its line, so that what
// follows is read as usual.
func (s *scanner) raw() Kind {
	begin := s.pos()
	s.skip(1)
	closed := false
	if !s.noRaw {
		closed = strings.IndexByte(s.text[s.off:], '`') >= 0
		s.noRaw = !closed
	}
	for closed && s.more() {
		if s.at(0) != '`' {
			s.take()
			continue
		}
		s.skip(1)
		if s.at(0) != '`' {
			return KindRaw
		}
		s.skip(1) // a doubled backtick stands for one
	}
	for !closed && s.more() && s.at(0) != '\n' {
		s.take()
	}
	s.diags.add(P005, Span{begin, Pos{begin.Offset + 1, begin.Line, begin.Column + 1}}, "the raw string is never closed", "end it with a backtick")
	return KindBad
}

// number takes a number as expr writes it, or a duration.
func (s *scanner) number() Kind {
	digits := "0123456789_"
	if s.at(0) == '0' {
		switch s.at(1) {
		case 'x', 'X':
			digits = "0123456789abcdefABCDEF_"
		case 'o', 'O':
			digits = "01234567_"
		case 'b', 'B':
			digits = "01_"
		}
	}
	based := len(digits) != 11
	if based {
		s.skip(2)
	}
	whole := s.off
	s.digits(digits)
	if based && s.off == whole {
		return s.badNumber("")
	}
	if !based {
		if s.at(0) == '.' && s.at(1) != '.' {
			s.skip(1)
			s.digits(digits)
		}
		if c := s.at(0); c == 'e' || c == 'E' {
			n := 1
			if s.at(n) == '+' || s.at(n) == '-' {
				n++
			}
			if isDigit(rune(s.at(n))) {
				s.skip(n)
				s.digits(digits)
			}
		}
	}
	r, n := s.rune()
	if n == 0 || !isNameRune(r) {
		return KindNumber
	}
	if based {
		return s.badNumber("")
	}
	return s.duration()
}

func (s *scanner) digits(set string) {
	for s.more() && strings.IndexByte(set, s.at(0)) >= 0 {
		s.off++
	}
}

func (s *scanner) badNumber(help string) Kind {
	s.name()
	s.diags.add(P008, s.span(), "bad number `"+shorten(s.word())+"`", help)
	return KindBad
}

// duration goes on where a number is followed by letters.
func (s *scanner) duration() Kind {
	for {
		r, n := s.rune()
		if n == 0 || !isNameRune(r) && !(r == '.' && isDigit(rune(s.at(1)))) {
			break
		}
		s.take()
	}
	if _, err := ParseDuration(s.word()); err != nil {
		s.diags.add(P009, s.span(), fmt.Sprintf("bad duration `%s`: %s", shorten(s.word()), err),
			"durations are written like `250ms`, `5s`, `1h30m` or `7d`; the units are ns us ms s m h d w")
		return KindBad
	}
	return KindDuration
}

var units = []struct {
	name string
	size time.Duration
}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
	{"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond}}

var unitWords = map[string]string{"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m",
	"minutes": "m", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w", "S": "s",
	"M": "m", "H": "h", "D": "d", "W": "w", "msec": "ms", "millis": "ms", "millisecond": "ms", "milliseconds": "ms", "usec": "us", "µs": "us", "μs": "us"}

// unitOf is the unit of durations that a word means, "" if it means none.
func unitOf(word string) string {
	low := strings.ToLower(word)
	for _, u := range units {
		if u.name == low {
			return low
		}
	}
	return unitWords[low]
}

// ParseDuration reads a duration as the language writes it: numbers with units, larger units first, as in `1h30m`.
func ParseDuration(text string) (time.Duration, error) {
	var total float64
	var sum time.Duration
	last := -1
	for rest := text; rest != ""; {
		n := 0
		for n < len(rest) && (isDigit(rune(rest[n])) || rest[n] == '_' || rest[n] == '.') {
			n++
		}
		m := n
		for m < len(rest) && !isDigit(rune(rest[m])) && rest[m] != '.' && rest[m] != '_' {
			m++
		}
		num, unit := strings.ReplaceAll(rest[:n], "_", ""), rest[n:m]
		index := -1
		for i, u := range units {
			if u.name == unit {
				index = i
			}
		}
		switch {
		case unit == "":
			return 0, fmt.Errorf("`%s` has no unit", shorten(num))
		case num == "":
			return 0, fmt.Errorf("`%s` has no number", shorten(unit))
		case index < 0 && unitWords[unit] != "":
			return 0, fmt.Errorf("the unit is written `%s`, not `%s`", unitWords[unit], unit)
		case index < 0:
			return 0, fmt.Errorf("there is no unit `%s`", shorten(unit))
		case index == last:
			return 0, fmt.Errorf("the unit `%s` is given twice", unit)
		case index < last:
			return 0, fmt.Errorf("`%s` comes before `%s`", unit, units[last].name)
		}
		last = index
		size := units[index].size
		whole, frac, _ := strings.Cut(num, ".")
		count, err := strconv.ParseInt("0"+whole, 10, 64)
		part, err2 := strconv.ParseFloat("0."+frac+"0", 64)
		if err != nil || err2 != nil && frac != "" {
			return 0, errors.New("it is too large or no number")
		}
		total += float64(count)*float64(size) + part*float64(size)
		if total >= math.MaxInt64 {
			return 0, errors.New("it is longer than 292 years")
		}
		sum += time.Duration(count)*size + time.Duration(math.Round(part*float64(size)))
		rest = rest[m:]
	}
	if last < 0 {
		return 0, errors.New("it is empty")
	}
	return sum, nil
}

// atSign takes what starts with `@`: a time or a quoted name.
func (s *scanner) atSign() Kind {
	s.skip(1)
	switch c := s.at(0); {
	case c == '"' || c == '\'':
		if s.at(1) == c {
			s.skip(2)
			s.diags.add(P011, s.span(), "a quoted name cannot be empty", "")
			return KindBad
		}
		return s.str(KindQuoted)
	case isDigit(rune(c)):
		return s.time()
	case c == '`':
		s.raw()
		s.diags.add(P011, s.span(), "a quoted name is written in double quotes: @\"order id\"", "")
		return KindBad
	}
	s.name()
	if len(s.word()) > 1 {
		s.diags.add(P011, s.span(), fmt.Sprintf("`%s` is neither a time nor a quoted name", shorten(s.word())),
			"times are written `@2026-01-31` or `@2026-01-31T10:00:00Z`, quoted names `@\"order id\"`")
		return KindBad
	}
	s.diags.add(P011, s.span(), "`@` stands before a time or a quoted name",
		"times are written `@2026-01-31` or `@2026-01-31T10:00:00Z`, quoted names `@\"order id\"`")
	return KindBad
}

// time takes a time literal. It goes by the shape, so that `@2026-01-31-1d` is a subtraction.
func (s *scanner) time() Kind {
	for dashes := 0; ; {
		s.digits("0123456789")
		if s.at(0) != '-' || dashes == 2 || !isDigit(rune(s.at(1))) {
			break
		}
		dashes++
		s.skip(1)
	}
	if c := s.at(0); (c == 'T' || c == 't') && isDigit(rune(s.at(1))) {
		s.skip(1)
		for {
			s.digits("0123456789")
			if c := s.at(0); c != ':' && c != '.' || !isDigit(rune(s.at(1))) {
				break
			}
			s.skip(1)
		}
		if c := s.at(0); (c == '+' || c == '-') && isDigit(rune(s.at(1))) && isDigit(rune(s.at(2))) && s.at(3) == ':' {
			s.skip(4)
			s.digits("0123456789")
		}
	}
	s.name()
	if _, err := ParseTime(s.word()); err != nil {
		s.diags.add(P010, s.span(), fmt.Sprintf("bad time `%s`%s", shorten(s.word()), err),
			"times are written `@2026-01-31`, `@2026-01-31T10:00:00Z` or `@2026-01-31T10:00:00.250+02:00`")
		return KindBad
	}
	return KindTime
}

// ParseTime reads a time as the language writes it, with or without the leading `@`. Without a zone it is UTC.
// The message of an error starts with ": " or is empty, fit to follow the text.
func ParseTime(text string) (time.Time, error) {
	text = strings.TrimPrefix(text, "@")
	why := ""
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", time.RFC3339} {
		t, err := time.Parse(layout, text)
		if err == nil {
			if y := t.Year(); y < 1678 || y > 2261 {
				return t, errors.New(": years go from 1678 to 2261")
			}
			return t.UTC(), nil
		}
		if _, out, ok := strings.Cut(err.Error(), `": `); ok && strings.HasSuffix(out, "out of range") {
			why = ": the " + strings.Replace(out, " out", " is out", 1)
		}
	}
	return time.Time{}, errors.New(why)
}
