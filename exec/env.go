package exec

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// Env is the seam through which time, disk and the standard streams enter the engine.
type Env struct {
	Now    func() int64 // nanoseconds since 1970 UTC
	FS     FS
	Stdin  io.Reader
	Pipes  *Pipes
	Stdout io.Writer
	Stderr io.Writer
	Splits *Splits
	Stats  *Stats
	Pauses *Pauses // nil: Build makes one
	// Chunk is how many bytes of a file a task reads at a time; 0: as many as the connector finds best. Tests make it small.
	Chunk int64
	// Inline is how many bytes of an output that become visible with a checkpoint are kept in the checkpoint; more are kept in a
	// hidden file. 0: 64 KiB. Tests make it small.
	Inline int
	// StepRows, if not nil, says how many rows a step takes instead of what a millisecond allows. Tests make it small.
	StepRows func() int
	// Together runs functions at the same time and returns when all have returned. The simulator runs them one after another.
	Together func(fs []func())
	// Watch, if not nil, is told what channels carry: for the simulator.
	Watch Watch
}

// File is an open file, FS the files of a job: the seam of package disk.
type (
	File = disk.File
	FS   = disk.FS
)

// OS returns the environment of the machine.
func OS() *Env {
	return &Env{Now: func() int64 { return time.Now().UnixNano() }, FS: disk.OS{}, Stdin: os.Stdin, Pipes: &Pipes{}, Stdout: os.Stdout, Stderr: os.Stderr,
		Splits: &Splits{}, Stats: &Stats{}, Together: disk.Together}
}

// ReadOnly returns an environment that looks at the files of e and changes none, also those that a run writes.
func (e *Env) ReadOnly() *Env {
	x := *e
	x.FS, x.Stdout = disk.ReadOnly{FS: e.FS}, io.Discard
	return &x
}

// Splits names the splits of a job's sources, so that a row's position can be shown to people.
type Splits struct {
	mu     sync.Mutex
	names  map[[2]int]string
	states []SplitState
}

// Name records that split (source, file) is called name, for example a path.
func (s *Splits) Name(source, file int, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = map[[2]int]string{}
	}
	s.names[[2]int{source & 0xff, file & 0xffff}] = name
}

// Where returns the name of the split and the data row (from 1) that a position of vec.Position stands for; 0 if it is none of a split.
func (s *Splits) Where(pos uint64) (name string, row int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.names[[2]int{int(pos >> 56), int(pos >> 40 & 0xffff)}]
	if !ok { // rows that a stage has put into an order of its own
		return "", 0
	}
	return name, int64(pos&(1<<40-1)) + 1
}

// A RowError is a row that could not be decoded or whose expression failed.
type RowError struct {
	Stage  string // source or stage, as the script calls it
	Source string // file or split, "" if not known
	Row    int64  // data row in Source from 1; 0 if not known
	Line   int64  // line of the file from 1; 0 if not known
	Raw    string // the offending text, or the row as JSON
	Err    error
}

func (e *RowError) Error() string {
	s := e.Stage + ": "
	if e.Source != "" {
		s += e.Source + ": "
	}
	if e.Row > 0 {
		s += fmt.Sprintf("row %d", e.Row)
		if e.Line > 0 {
			s += fmt.Sprintf(" (line %d)", e.Line)
		}
		s += ": "
	}
	s += e.Err.Error()
	if e.Raw != "" {
		s += "\n  " + clip(e.Raw, 300)
	}
	return s
}

func (e *RowError) Unwrap() error { return e.Err }

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + fmt.Sprintf("… (%d bytes)", len(s))
}

// wallClock is what people wait by who lead a run by hand: it decides how long is waited for rows, never which rows come.
func wallClock() time.Time { return time.Now() }
