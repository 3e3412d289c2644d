// Package view shows rows to people and programs: as a table that scrolls, as one that is kept up to date, as changes, as
// JSON or CSV. Previews, taps and looks into checkpoints use it.
package view

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Mode is how rows are shown.
type Mode string

// The modes. Those of people fit the terminal and leave rows out where there are too many; those of programs are whole.
const (
	Append  Mode = "append"  // rows scroll
	Table   Mode = "table"   // the rows as they are after all changes, sorted; on a terminal kept up to date in place
	Changes Mode = "changes" // rows scroll, with the kind of each change before it
	JSON    Mode = "json"    // one array of objects
	JSONL   Mode = "jsonl"   // an object a line
	CSV     Mode = "csv"
)

// Modes are all of them, those of people first.
var Modes = []Mode{Append, Table, Changes, JSON, JSONL, CSV}

// ParseMode returns the mode of a name.
func ParseMode(name string) (Mode, error) {
	var names []string
	for _, m := range Modes {
		if string(m) == name {
			return m, nil
		}
		names = append(names, string(m))
	}
	hint := ""
	if m := syntax.Suggest(name, names); m != "" {
		hint = fmt.Sprintf(" Did you mean %s?", m)
	}
	return "", fmt.Errorf("%q is no mode.%s The modes are %s", name, hint, strings.Join(names, ", "))
}

// People reports whether the mode is for people and not for programs.
func (m Mode) People() bool { return m == Append || m == Table || m == Changes }

// Options say how rows are shown. The zero Options are a scrolling table that is not fitted to anything.
type Options struct {
	Mode          Mode // "": Append
	Width, Height int  // of the terminal in cells; 0: there is none
	Color         bool // the terminal shows colours
	Updating      bool // rows may be changes of earlier ones
	Whole         int  // columns at the beginning that say what a row is about: others are cut or left out first
	// Pager opens what shows a long result screen by screen; its Write fails when whoever looks wants no more. nil: there
	// is none. It may return nil, too.
	Pager func() (io.WriteCloser, error)
}

// ErrEnough is returned by a View when whoever looks wants no more rows.
var ErrEnough = errors.New("enough rows")

// A View shows the rows of one schema. It belongs to one goroutine.
type View interface {
	// Add takes the rows of a batch, which may be used again when Add returns. They may be drawn later.
	Add(b *vec.Batch) error
	// Show draws what has been taken. It is called when no rows are at hand, and now and then while they come. On a
	// terminal the status stands in the last line; "": there is none.
	Show(status string) error
	// End draws the rest and takes the status away. It is called once, also after an error of Add or Show.
	End() error
	// Counts returns how many rows were taken, and how many of them are not shown because there were too many.
	Counts() (rows, leftOut int64)
}

// New returns a view that writes to w.
func New(w io.Writer, o Options, s types.Schema) (View, error) {
	switch o.Mode {
	case Table:
		if o.Updating {
			return newKeyed(w, o, s), nil
		}
		return newScroll(w, o, s), nil
	case "", Append, Changes:
		return newScroll(w, o, s), nil
	case JSON:
		return newArray(w, o, s), nil
	case JSONL, CSV:
		return newLines(w, o, s)
	}
	_, err := ParseMode(string(o.Mode))
	return nil, err
}

// Print shows batches that are all there is.
func Print(w io.Writer, o Options, s types.Schema, batches ...*vec.Batch) error {
	v, err := New(w, o, s)
	if err != nil {
		return err
	}
	for _, b := range batches {
		if err = v.Add(b); err != nil {
			break
		}
	}
	if err == ErrEnough {
		err = nil
	}
	return errors.Join(err, v.End())
}

// counter counts rows.
type counter struct{ rows, leftOut int64 }

func (c *counter) Counts() (rows, leftOut int64) { return c.rows, c.leftOut }

// A Resizer is a View that follows the size of the terminal.
type Resizer interface {
	// Resize says how large the terminal is now, in cells. What is drawn from now on is fitted to that.
	Resize(width, height int)
}
