package repl

import (
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "checkpoint", Args: "[NAME] [-j JOB]", Group: "time travel", Most: 1,
	Summary: "take a checkpoint of a job now; with a name it is kept",
	Text:    "It is there when the command returns: durable, with its outputs committed. Also a job that is paused takes checkpoints.",
	Flags:   []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		j, err := s.live(a)
		if err != nil {
			return err
		}
		if name := a.Arg(0); name != "" && j.Folder() != "" {
			if f, err := s.folder(a); err == nil { // the first checkpoint makes the folder
				err = f.Nameable(0, name)
				f.Close()
				if err != nil {
					return err
				}
			}
		}
		var m *checkpoint.Manifest
		err = s.wait(j, func() (err error) { m, err = j.Checkpoint(a.Arg(0)); return err })
		if err != nil {
			return err
		}
		return s.say("checkpoint %s: took %s, state %s, %s in flight, after row %s of the input\n", checkpoint.Label(m.ID, m.Name),
			view.Span(time.Duration(m.Durable-m.Created)), inspect.Size(m.StateBytes), plural(m.FlightRows, "row"), count(m.Stats["rows_in"]))
	},
})
