package repl

import (
	"sync"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// feedName is the connector that leads to the screen. It is in no catalog that a script sees.
const feedName = "screen"

// feed is an output that hands its rows to whoever shows them. A slow reader holds the run back.
type feed struct {
	rows chan *vec.Batch
	gone chan struct{} // closed: nobody wants rows any more
	once sync.Once
}

// feedBatches is how many batches wait for the reader.
const feedBatches = 4

func newFeed() *feed {
	return &feed{rows: make(chan *vec.Batch, feedBatches), gone: make(chan struct{})}
}

// leave says that no more rows are wanted.
func (f *feed) leave() { f.once.Do(func() { close(f.gone) }) }

// conn is the feed as a connector.
func (f *feed) conn() *spec.Conn {
	return &spec.Conn{
		Doc:      spec.Doc{Name: feedName},
		ConnSig:  types.ConnSig{Name: feedName, Sink: true},
		Updating: func(*types.ConnArgs) bool { return true },
		Sink:     func(*spec.Write) (exec.Sink, error) { return f, nil },
	}
}

// Write hands rows over.
func (f *feed) Write(b *vec.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	select {
	case f.rows <- b:
		return nil
	case <-f.gone:
		return exec.ErrReaderGone
	}
}

// Finish does nothing: the end of the run is the end of the rows.
func (f *feed) Finish() error { return nil }

// Close does nothing.
func (f *feed) Close() error { return nil }
