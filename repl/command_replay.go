package repl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/repl/inspect"
)

var _ = command(Command{
	Name: "replay", Args: "[ID] [-j JOB]", Group: "time travel", Most: 1,
	Summary: "do again what a job did from a checkpoint to the next one, and say whether the output is the same",
	Text: "It runs in a scratch folder: the job and its outputs are not touched. Its input must still be there. What differs shows that the script does not only depend on its " +
		"input: the functions and stages that may be the reason are named. Rows that were in flight at the end are counted in. When a source with `idle` fell silent and came back between the two checkpoints is not known, only how it stood at them: where rows were late by that, they may differ, and the source is named. Without ID it is the interval before the newest checkpoint.",
	Flags:    []Flag{jobFlag},
	Complete: (*Session).checkpointIDs,
	Run: func(s *Session, a *Args) error {
		return s.within(a, func(f *inspect.Folder) error {
			from, to, err := f.Interval(a.Arg(0))
			if err != nil {
				return err
			}
			var r *inspect.Replay
			if err := s.apart(func() (err error) { r, err = f.Replay(from, to, s.lib); return err }); err != nil {
				return err
			}
			return tellReplay(s, r)
		})
	},
})

// patience is how long people wait without being told why.
const patience = 3 * time.Second

// apart does something that changes nothing and may take long. Ctrl-C gives it up: its work is thrown away.
func (s *Session) apart(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	long := time.After(patience)
	for {
		select {
		case err := <-done:
			return err
		case <-s.Screen.Interrupts():
			return errors.New("interrupted; nothing was changed")
		case <-long:
			s.Screen.Note("this takes a while; Ctrl-C gives it up")
		}
	}
}

func tellReplay(s *Session, r *inspect.Replay) error {
	var b strings.Builder
	fmt.Fprintf(&b, "from checkpoint %s to %s: %s of the input once more\n", checkpoint.Label(r.From.ID, r.From.Name), checkpoint.Label(r.To.ID, r.To.Name), plural(r.Rows, "row"))
	for _, o := range r.Outputs {
		switch {
		case o.Only == [2]int64{} && o.Bytes:
			fmt.Fprintf(&b, "%s: the same, %s\n", o.Path, plural(o.Rows, "row"))
		case o.Only == [2]int64{}:
			fmt.Fprintf(&b, "%s: the same %s, in another order\n", o.Path, plural(o.Rows, "row"))
		default:
			fmt.Fprintf(&b, "%s: differs: of %s, %s did not come again, and %s came instead\n", o.Path, plural(o.Rows, "row"), count(o.Only[0]), count(o.Only[1]))
			for k, rows := range o.First {
				for _, row := range rows {
					fmt.Fprintf(&b, "%c %s\n", "-+"[k], row)
				}
				if more := o.Only[k] - int64(len(rows)); more > 0 {
					fmt.Fprintf(&b, "%c … and %s more\n", "-+"[k], count(more))
				}
			}
		}
	}
	for _, x := range r.States {
		switch {
		case x.Why != "":
			fmt.Fprintf(&b, "state of %s: not compared: %s\n", x.Stage, x.Why)
		case x.Diff == 0:
			fmt.Fprintf(&b, "state of %s: the same, %s\n", x.Stage, plural(x.Rows, "row"))
		default:
			fmt.Fprintf(&b, "state of %s: %s differ\n", x.Stage, plural(x.Diff, "row"))
		}
	}
	switch {
	case r.Same():
	case len(r.Volatile) > 0:
		fmt.Fprintf(&b, "the script uses %s\n", strings.Join(r.Volatile, ", "))
	default:
		fmt.Fprintf(&b, "nothing in the script explains it: the input may have been changed, or rows of several tasks came in another order; please report it if not\n")
	}
	return s.say("%s", b.String())
}
