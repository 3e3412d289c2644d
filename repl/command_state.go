package repl

import (
	"strings"

	"github.com/ebb-lang/ebb/repl/inspect"
)

var _ = command(Command{
	Name: "state", Args: "[ID] [STAGE] [-j JOB] [where EXPR]", Group: "time travel", Most: 2, Where: true,
	Summary: "the state of a stage at a checkpoint, as rows; without a stage what the checkpoint consists of",
	Text: "The rows are those that the stage would give out if its input had ended there. STAGE is a name that `.state ID` lists, or a part of one. " +
		"ID is the number or name of a checkpoint, or -N for the N-th before the newest; without one it is the newest.",
	Flags:    []Flag{jobFlag},
	Complete: (*Session).stageNames,
	Run: func(s *Session, a *Args) error {
		return s.within(a, func(f *inspect.Folder) error {
			i, m, err := f.Get(a.Arg(0))
			switch {
			case err != nil:
				return err
			case len(a.Pos) == 2:
				return f.PrintState(s.printer(), m, a.Arg(1), a.Where)
			case a.Where != "":
				return a.Usage("a condition goes with a stage; this checkpoint holds %s", strings.Join(inspect.Stages(m), ", "))
			}
			p := s.printer()
			if p.Format == "table" {
				return f.PrintManifest(p, i, m)
			}
			return f.PrintJSON(p, i, m)
		})
	},
})
