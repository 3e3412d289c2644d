// Package grid draws rows as a table of aligned columns, line by line: the first rows decide how wide the columns are. It
// serves the connector console and the previews of a session.
package grid

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/mattn/go-runewidth"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// WidestCell is how many columns of a terminal a value takes at most; longer ones are cut.
const WidestCell = 80

const (
	cellEnd  = '\t' // is written as \t within cells
	nullCell = "\x00"
	ellipse  = "…"
)

// AppendCells appends a line of cells for a physical row: its values, tabs between them, a newline behind. It is what Grid
// takes. With changes the kind of change comes first.
func AppendCells(dst []byte, b *vec.Batch, row int, changes bool) []byte {
	if changes {
		change := vec.Insert
		if b.Change != nil {
			change = b.Change[row]
		}
		dst = append(append(dst, change.String()...), cellEnd)
	}
	var room [64]byte
	for k, c := range b.Cols {
		if k > 0 {
			dst = append(dst, cellEnd)
		}
		switch {
		case c.Null(row):
			dst = append(dst, nullCell...)
		case c.Type.Kind == types.String:
			s := c.Strs[row]
			dst = AppendCell(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
		default:
			dst = AppendCell(dst, appendValue(room[:0], c, row))
		}
	}
	return append(dst, '\n')
}

// appendValue appends a value that is neither null nor a string.
func appendValue(dst []byte, c *vec.Column, row int) []byte {
	switch c.Type.Kind {
	case types.Float:
		switch f := c.Floats[row]; {
		case math.IsNaN(f):
			return append(dst, "NaN"...)
		case math.IsInf(f, 1):
			return append(dst, "Inf"...)
		case math.IsInf(f, -1):
			return append(dst, "-Inf"...)
		default:
			return types.AppendFloat(dst, f)
		}
	case types.Bool:
		return strconv.AppendBool(dst, c.Bools[row])
	case types.Time:
		return types.AppendTime(dst, c.Ints[row], c.Type.Format)
	case types.Duration:
		return types.AppendDuration(dst, c.Ints[row])
	case types.Bytes:
		return base64.StdEncoding.AppendEncode(dst, []byte(c.Strs[row]))
	}
	return c.AppendJSON(dst, row)
}

// screen is how wide characters are on a terminal, whatever the locale.
var screen = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many columns of the terminal a text takes.
func Width(text string) int {
	if printable(unsafe.Slice(unsafe.StringData(text), len(text))) {
		return len(text)
	}
	return screen.StringWidth(text)
}

// Cut shortens a text to so many columns of a terminal; … stands where something is missing.
func Cut(text string, columns int) string { return screen.Truncate(text, columns, ellipse) }

// AppendCell writes a value so that it takes one line, does nothing to the terminal, and is not too wide.
func AppendCell(dst, value []byte) []byte {
	if len(value) <= WidestCell && printable(value) {
		return append(dst, value...)
	}
	start := len(dst)
	joiners := bytes.Contains(value, joiner)
	for n := 0; len(value) > 0 && n <= WidestCell; n++ {
		if size := 0; joiners {
			if size = joined(value); size > 0 {
				dst, value = append(dst, value[:size]...), value[size:]
				continue
			}
		}
		r, size := utf8.DecodeRune(value)
		switch {
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case !unicode.IsPrint(r) && r != utf8.RuneError || r == utf8.RuneError && size == 1: // controls, marks of direction
			dst = append(dst, escapeRune(r, value[0], size)...)
		default:
			dst = append(dst, value[:size]...)
		}
		value = value[size:]
	}
	if cell := string(dst[start:]); len(value) > 0 || Width(cell) > WidestCell {
		cut := screen.Truncate(cell, WidestCell-1, "")
		dst = append(append(dst[:start], cut...), ellipse...)
	}
	return dst
}

// joiner makes one sign of two, such as a family of four persons. Anywhere else it is not seen.
var joiner = []byte("\u200d")

// mostJoined is how many bytes a sign takes at most; a longer one is shown part by part.
const mostJoined = 48

// joined returns the length of the sign that a text begins with if joiners hold it together, else 0.
func joined(text []byte) int {
	it := graphemes.FromBytes(text[:min(len(text), mostJoined+utf8.UTFMax)])
	if !it.Next() {
		return 0
	}
	sign := it.Value()
	if len(sign) > mostJoined || !bytes.Contains(sign, joiner) || bytes.HasSuffix(sign, joiner) {
		return 0
	}
	for _, r := range string(sign) {
		if !unicode.IsPrint(r) && r != '\u200d' {
			return 0
		}
	}
	return len(sign)
}

func escapeRune(r rune, first byte, size int) string {
	if size == 1 {
		return fmt.Sprintf(`\x%02x`, first)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// printable reports whether text is plain ASCII.
func printable(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
