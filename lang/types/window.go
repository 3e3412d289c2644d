package types

import "fmt"

// String prints the window as a script writes it.
func (w *Window) String() string {
	d := FormatDuration
	var s string
	switch w.Kind {
	case Tumbling:
		s = "tumbling(" + d(w.Size)
	case Hopping:
		s = "hopping(" + d(w.Size) + ", every: " + d(w.Step)
	case Cumulate:
		s = "cumulate(" + d(w.Size) + ", step: " + d(w.Step)
	case Session:
		s = "session(" + d(w.Size)
		if w.Max > 0 {
			s += ", max: " + d(w.Max)
		}
	case CountWindow:
		s = fmt.Sprintf("count(%d", w.Size)
	}
	if w.Offset != 0 {
		s += ", offset: " + d(w.Offset)
	}
	if w.Processing {
		s += `, clock: "processing"`
	}
	return s + ")"
}
