package conn

import (
	"bytes"
	"errors"
)

// jsonPieces cuts a text that is not lines into its values, by brackets and quotes alone, where a value is malformed or
// not there as a whole: it does not hide where the next one starts.
type jsonPieces struct {
	opened, closed bool // the list has been opened, closed
	some           bool // a value has been seen
	// How far the value at the start of the text has been looked at when its end was not in sight.
	done   int
	depth  int
	quoted bool
}

// several decodes a list, or objects over several lines.
func (d *jsonDecoder) several(text []byte, final bool, out *parts) (int, error) {
	z, list := &d.pieces, d.layout.style == jsonList
	p := 0
	for {
		p = d.scan.space(text, p)
		switch {
		case p == len(text):
			if final && list && z.opened && !z.closed {
				return p, errUnclosed
			}
			return p, nil
		case z.closed:
			return p, errors.New("something follows the end of the JSON list")
		case list && !z.opened: // the layout saw the [
			z.opened = true
			p++
			continue
		}
		if end := d.whole(text, p, out); end >= 0 {
			z.done, z.depth, z.quoted = 0, 0, false
			z.some, z.closed = true, list && text[end] == ']'
			p = end
			if list {
				p++
			}
			continue
		}
		end, found := z.end(text, p, list)
		if !found && !final {
			return p, nil
		}
		if !found && list {
			return p, errUnclosed
		}
		z.done, z.depth, z.quoted = 0, 0, false
		value := bytes.TrimRight(text[p:end], " \t\r\n")
		last := list && text[end] == ']'
		if len(value) > 0 || z.some || !last {
			d.piece(text[:p+len(value)], p, out)
		}
		z.some, z.closed = true, last
		p = end
		if list {
			p++
		}
	}
}

// whole decodes the value at p if it is right and followed by what may follow, and returns that place: what most values
// are. Else it leaves no trace and returns -1.
func (d *jsonDecoder) whole(text []byte, p int, out *parts) int {
	i := d.next(text, p, out)
	end := d.scan.row(text, p, i)
	if end >= 0 && d.layout.style == jsonList {
		if end = d.scan.space(text, end); end >= len(text) || text[end] != ',' && text[end] != ']' {
			end = -1
		}
	}
	if end < 0 {
		d.part.n--
		d.part.starts = d.part.starts[:i]
	}
	return end
}

var errUnclosed = errors.New("the JSON list has no end: the file seems to be cut off")

// piece decodes the value that reaches from p to the end of text.
func (d *jsonDecoder) piece(text []byte, p int, out *parts) {
	i := d.next(text, p, out)
	end := d.scan.row(text, p, i)
	if end >= 0 && end < len(text) {
		end = d.scan.fail(end, "something follows the object")
	}
	if end < 0 {
		d.failed(text, p, i)
	}
}

// end finds where the value at p ends: in a list at the comma or bracket behind it, else behind its last bracket or at
// the end of its line.
func (z *jsonPieces) end(text []byte, p int, list bool) (int, bool) {
	i := p + z.done
	for i < len(text) {
		if z.quoted {
			n := bytes.IndexByte(text[i:], '"')
			if e := bytes.IndexByte(text[i:i+max(n, 0)], '\\'); n >= 0 && e < 0 {
				i += n + 1
				z.quoted = false
				continue
			}
			for i < len(text) && text[i] != '"' {
				if text[i] == '\\' {
					if i+1 == len(text) {
						z.done = i - p
						return len(text), false
					}
					i++
				}
				i++
			}
			continue
		}
		switch text[i] {
		case '"':
			z.quoted = true
		case '{', '[':
			z.depth++
		case '}', ']':
			if z.depth == 0 && list && text[i] == ']' {
				return i, true
			}
			z.depth = max(z.depth-1, 0)
			if z.depth == 0 && !list {
				return i + 1, true
			}
		case ',':
			if z.depth == 0 && list {
				return i, true
			}
		case '\n':
			if z.depth == 0 && !list {
				return i, true
			}
		}
		i++
	}
	z.done = i - p
	return i, false
}
