// Package plot draws numbers in the cells of a terminal: a line over time or over another number, bars by key. It knows
// nothing of streams.
package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Axis is what stands below a line.
type Axis uint8

// The axes.
const (
	Number Axis = iota
	Time        // nanoseconds since 1970 UTC
	Rows        // the number of the row
)

// Options say how large a drawing is. The zero Options are 80 × 15 cells.
type Options struct {
	Width, Height int
	Axis          Axis
}

func (o Options) size() (width, height int) {
	width, height = o.Width, o.Height
	if width <= 0 {
		width = 80
	}
	if height <= 0 {
		height = 15
	}
	return max(width, 20), max(height, 3)
}

// short writes a number in a few characters, as exact as neighbours that lie step apart need.
func short(v, step float64) string {
	unit, size := "", 1.0
	switch a := math.Abs(v); {
	case a >= 1e12:
		unit, size = "T", 1e12
	case a >= 1e9:
		unit, size = "G", 1e9
	case a >= 1e6:
		unit, size = "M", 1e6
	case a >= 1e4:
		unit, size = "k", 1e3
	}
	if a := math.Abs(v); a >= 1e15 || a > 0 && a < 1e-4 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	digits := 0
	if s := math.Abs(step) / size; s > 0 && s < 1 {
		digits = min(int(math.Ceil(-math.Log10(s)))+1, 6)
	}
	text := strconv.FormatFloat(v/size, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		text = "0"
	}
	return text + unit
}

// moment writes a time as exact as a span of so many nanoseconds needs.
func moment(ns float64, span float64) string {
	t := time.Unix(0, int64(ns)).UTC()
	switch {
	case span < float64(10*time.Second):
		return t.Format("15:04:05.000")
	case span < float64(20*time.Hour):
		return t.Format("15:04:05")
	case span < float64(4*24*time.Hour):
		return t.Format("01-02 15:04")
	}
	return t.Format("2006-01-02")
}

func (a Axis) text(x, span, step float64) string {
	switch a {
	case Time:
		return moment(x, span)
	case Rows:
		return fmt.Sprintf("row %.0f", x)
	}
	return short(x, step)
}

// fine is the step in which a lone number is written: none if it is whole.
func fine(v float64) float64 {
	if v == math.Trunc(v) && math.Abs(v) < 1e4 {
		return 0
	}
	return v / 100
}
