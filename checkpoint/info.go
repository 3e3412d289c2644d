package checkpoint

import (
	"fmt"
	"os"
	"strings"
)

// Info is a line of a list of checkpoints.
type Info struct {
	ID      ID
	Parent  ID // the one that it came after, also over restarts and rollbacks; of those that are still there; 0: there is none
	Branch  uint64
	Name    string
	Created int64 // nanoseconds since 1970 UTC
	Durable int64 // nanoseconds since 1970 UTC
	Mode    string
	Reason  string
	Width   int

	Head      bool // the one that the next run goes on from
	Abandoned bool // not on the way to the head: a rollback or a fresh start left it behind
	Committed bool // every sink has committed
	Finished  bool // the run was over with it
	Foreign   bool // of the job that this one was forked from, and so are its outputs; it goes when this one has published its first

	StateBytes, FlightBytes, FlightRows int64
}

// Recovery says what Open found.
type Recovery struct {
	Newest *Manifest // the head: where to go on; nil: start afresh
	Info   Info      // of Newest
	Fresh  bool      // there was no checkpoint at all, on any branch
	// LeftOut lists what lies at the end of the log and was never published, as far as something is known about it.
	LeftOut []LeftOut
	Damage  []Damage // what is damaged, if Open could go on nevertheless
}

// LeftOut is the end of a log that recovery did not use: most often the work of a process that was killed.
type LeftOut struct {
	ID     ID // 0: unknown
	File   string
	Offset int64
	Why    string
}

func (l LeftOut) String() string {
	what := "what follows the last checkpoint"
	if l.ID != 0 {
		what = fmt.Sprintf("checkpoint %d", l.ID)
	}
	return fmt.Sprintf("%s was left out, it had not been published: %s (%s at byte %d)", what, l.Why, l.File, l.Offset)
}

// Damage is bytes that were durable once and no longer are what was written.
type Damage struct {
	File        string
	Offset      int64
	Why         string
	Checkpoints []ID // known to need what is damaged
}

func (d Damage) String() string {
	s := fmt.Sprintf("%s is damaged at byte %d: %s", d.File, d.Offset, d.Why)
	if len(d.Checkpoints) > 0 {
		s += " (needed by checkpoint " + strings.Trim(strings.ReplaceAll(fmt.Sprint(d.Checkpoints), " ", ", "), "[]") + ")"
	}
	return s
}

// Notes says in words what was left out and what is damaged.
func (r *Recovery) Notes() (notes []string) {
	for _, x := range r.LeftOut {
		notes = append(notes, x.String())
	}
	for _, d := range r.Damage {
		notes = append(notes, d.String())
	}
	return notes
}

// DamageError is the error of Open and Read when durable bytes are damaged.
type DamageError struct {
	Damage
	Err    error  // may be nil
	Remedy string // "": another checkpoint
}

func (e *DamageError) Unwrap() error { return e.Err }

func (e *DamageError) Error() string {
	if e.Remedy != "" {
		return e.Damage.String() + "; " + e.Remedy
	}
	return e.Damage.String() + "; `ebb checkpoint verify` shows which checkpoints are whole, `--from ID` goes on from one of them"
}

// Owner is the process that holds a folder.
type Owner struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Start int64  `json:"start"` // nanoseconds since 1970 UTC
	What  string `json:"what"`  // for people: the command or the script
}

// ThisProcess is the owner that a folder is held by while this process has it. start is when it began, 0 if that does not
// matter.
func ThisProcess(start int64, what string) Owner {
	host, _ := os.Hostname()
	return Owner{PID: os.Getpid(), Host: host, Start: start, What: what}
}

// Label is a checkpoint as people call it: its number, and its name in brackets if it has one.
func Label(id ID, name string) string {
	if name == "" {
		return fmt.Sprint(uint64(id))
	}
	return fmt.Sprintf("%d (%s)", id, name)
}

// LockedError says that another process holds the folder.
type LockedError struct {
	Dir   string
	Owner Owner // as far as it is known
}

func (e *LockedError) Error() string {
	if e.Owner.PID == 0 {
		return fmt.Sprintf("checkpoint folder %s is in use by another process; stop that one or use another folder", e.Dir)
	}
	what := e.Owner.What
	if what != "" {
		what = " (" + what + ")"
	}
	return fmt.Sprintf("checkpoint folder %s is in use by process %d%s on %s; stop that one or use another folder", e.Dir, e.Owner.PID, what, e.Owner.Host)
}

// FolderError says that a folder of checkpoints cannot be made or written.
type FolderError struct {
	What string // that was being done
	Err  error
}

func (e *FolderError) Error() string { return e.What + ": " + e.Err.Error() }
func (e *FolderError) Unwrap() error { return e.Err }
