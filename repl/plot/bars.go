package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Bars collects a value for each key and draws them as bars. The zero Bars are empty.
type Bars struct {
	keys   []string
	values map[string]value
	again  int64 // rows whose key had one already
	lost   int64 // rows of keys beyond mostKeys
}

type value struct {
	y  float64
	ok bool
}

// mostKeys bounds the memory of bars.
const mostKeys = 1 << 16

// Set gives a key its value; without ok it has none. A later value replaces an earlier one.
func (b *Bars) Set(key string, y float64, ok bool) {
	if b.values == nil {
		b.values = map[string]value{}
	}
	if _, known := b.values[key]; known {
		b.again++
	} else if len(b.keys) == mostKeys {
		b.lost++
		return
	} else {
		b.keys = append(b.keys, key)
	}
	b.values[key] = value{y, ok && !math.IsNaN(y)}
}

// Remove takes a key away, as a change of a stream does.
func (b *Bars) Remove(key string) {
	if _, known := b.values[key]; known {
		delete(b.values, key)
		b.keys = slices.DeleteFunc(b.keys, func(k string) bool { return k == key })
	}
}

// Empty reports whether there is nothing to draw.
func (b *Bars) Empty() bool { return len(b.keys) == 0 }

// Draw returns the drawing, its lines ended: the largest values first, as many as there are lines for. Updating says that
// a key's later value replaces the earlier one by the nature of the stream.
func (b *Bars) Draw(o Options, updating bool) string {
	width, height := o.size()
	keys := slices.Clone(b.keys)
	slices.SortStableFunc(keys, func(p, q string) int {
		x, y := b.values[p], b.values[q]
		switch {
		case x.ok != y.ok:
			if x.ok {
				return -1
			}
			return 1
		case x.y > y.y:
			return -1
		case x.y < y.y:
			return 1
		}
		return 0
	})
	left := max(0, len(keys)-height)
	keys = keys[:len(keys)-left]
	low, high := 0.0, 0.0
	wide := 0
	for _, k := range keys {
		if v := b.values[k]; v.ok {
			low, high = min(low, v.y), max(high, v.y)
		}
		wide = max(wide, runewidth.StringWidth(k))
	}
	wide = min(wide, width/3)
	number := func(v value) string {
		if !v.ok {
			return "null"
		}
		return short(v.y, fine(v.y))
	}
	digits := 4
	for _, k := range keys {
		digits = max(digits, len(number(b.values[k])))
	}
	room := float64(max(width-wide-digits-3, 5))
	scale := max(high, -low) // of what is divided by it no difference overflows
	if scale == 0 {
		scale = 1
	}
	cell := (high/scale - low/scale) / room
	if cell == 0 {
		cell = 1
	}
	zero := math.Round(-low / scale / cell)
	var out strings.Builder
	for _, k := range keys {
		v := b.values[k]
		line := runewidth.FillRight(runewidth.Truncate(k, wide, "…"), wide) + " " + runewidth.FillLeft(number(v), digits) + " "
		if v.ok {
			line += bar(zero, v.y/scale/cell)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	var notes []string
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d more with smaller values", left))
	}
	if b.again > 0 && !updating {
		notes = append(notes, "of keys with several rows the last is shown")
	}
	if b.lost > 0 {
		notes = append(notes, fmt.Sprintf("%d rows of still other keys", b.lost))
	}
	if notes != nil {
		fmt.Fprintf(&out, "(%s)\n", strings.Join(notes, "; "))
	}
	return out.String()
}

// eighths are the parts of a cell.
var eighths = [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar draws a bar from the zero line to the right, or to the left of it. Lengths are in cells.
func bar(zero, length float64) string {
	if length < 0 {
		n := int(math.Round(-length))
		return strings.Repeat(" ", max(int(zero)-n, 0)) + strings.Repeat("█", max(n, 1))
	}
	parts := int(math.Round(length * 8))
	if parts == 0 && length > 0 {
		parts = 1
	}
	return strings.Repeat(" ", int(zero)) + strings.Repeat("█", parts/8) + eighths[parts%8]
}
