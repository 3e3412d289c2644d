package repl

import "github.com/ebb-lang/ebb/repl/inspect"

var _ = command(Command{
	Name: "inflight", Args: "[ID] [EDGE] [-j JOB] [where EXPR]", Group: "time travel", Most: 2, Where: true,
	Summary: "the rows that were in flight at a checkpoint, with the channel they were in and their place in it",
	Text: "ID is the number or name of a checkpoint, or -N for the N-th before the newest; without one it is the newest. EDGE is an edge of the plan " +
		"in quotes, as \"bids > count\", or the stage that edges lead to.",
	Flags:    []Flag{jobFlag},
	Complete: (*Session).checkpointIDs,
	Run: func(s *Session, a *Args) error {
		return s.within(a, func(f *inspect.Folder) error {
			_, m, err := f.Get(a.Arg(0))
			if err != nil {
				return err
			}
			return f.PrintFlights(s.printer(), m, a.Arg(1), a.Where)
		})
	},
})
