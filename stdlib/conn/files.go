package conn

import (
	"errors"

	"github.com/ebb-lang/ebb/exec/vec"
)

// Reading text files. A source lists its files (files_path.go) and cuts the regular ones into chunks that its tasks
// read in turn (files_chunk.go); pipes, compressed files and dialects that must be read from the start go through a
// queue to one task (files_stream.go), and so do files that are followed (files_follow.go). Whatever way the text
// comes, a format turns it into parts, and files_emit.go gives their rows position, time and watermark and sends them.

// format is a kind of text file. A value belongs to one source and is shared by its tasks: it is not changed once made.
type format interface {
	// open looks at the first bytes of a file, behind a byte order mark, and returns how that file is read. final says
	// that head is all of it; otherwise errShort asks for a longer head.
	open(path string, head []byte, final bool) (layout, error)
}

// errShort says that a layout cannot be told from so little text.
var errShort = errors.New("the head of the file is too short")

// layout is how one file is read. It is shared by the tasks of the source.
type layout interface {
	// skip is how many bytes and lines come before the first record: a header.
	skip() (bytes, lines int)
	// chunks reports whether a record can be found from anywhere in the file, knowing at most the parity of the quotes
	// before. Otherwise one task reads the file from its start, with one decoder.
	chunks() bool
	// odd reports whether text holds an odd number of quotes. A format in which every newline ends a record: false.
	odd(text []byte) bool
	// next returns where the first record starts that starts behind text[0], which is where the newline ends that ends
	// the one before; -1 if there is none. odd says that an odd number of quotes stand before text.
	next(text []byte, odd bool) int
	// trim takes off the text of a record, which reaches to the next one, what only separates the two.
	trim(record []byte) []byte
	// decoder returns a decoder for one task.
	decoder() decoder
}

// slack is how many bytes behind a text given to a decoder may be read (not used).
const slack = 32

// A decoder turns records into columns. It belongs to one task and one file.
type decoder interface {
	// decode adds the records of text to out and returns how many bytes it has used. text begins where a record begins
	// and is never changed: columns may keep views of it. cap(text) is at least slack more than its length. Unless
	// final, a last record that is not ended is left alone; final says that the file ends here (or, in a chunk, that
	// all records are whole). An error ends the run; a record that is wrong goes to the failures of its part.
	decode(text []byte, final bool, out *parts) (used int, err error)
	// recycle takes back the memory of a part that nobody reads any more.
	recycle(p *part)
}

// parts is what a decoder makes of a text: batches of at most vec.MaxRows records in order.
type parts struct {
	list  []part
	guess bool // the text may not begin at a record: a decoder may give up with errGuess when very much is wrong
}

var errGuess = errors.New("the guess was wrong")

// add hands over the next part.
func (p *parts) add(x part) {
	if x.n > 0 {
		p.list = append(p.list, x)
	}
}

// part is a run of records as columns. A record that failed keeps its row in the columns, with any values; the
// framework takes it out of the selection. So row i of the first part is always record i of the text.
type part struct {
	n      int           // records
	cols   []*vec.Column // one for each of Scan.Columns, n rows each
	starts []int32       // where each record starts in the text
	change []vec.Change  // with `changes: true`; else nil
	failed []failure     // ascending rows, each at most once
}

// failure is a record that could not be decoded. The error says the column, the value, what is wrong and the remedy
// where there is one; stage, file, row, line and the record's text are added by the framework.
type failure struct {
	row int // of the part
	err error
}
