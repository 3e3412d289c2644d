package repl

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/repl/inspect"
)

var _ = command(Command{
	Name: "diff", Args: "A B [STAGE] [-j JOB] [where EXPR]", Group: "time travel", Least: 2, Most: 3, Where: true,
	Summary: "what changed from checkpoint A to B; with STAGE the rows of its state",
	Text: "Without a stage it is a line for each state, source, edge, counter and output. A and B are numbers or names of checkpoints, or -N for the N-th before the newest. Rows of a state are marked in the column _diff: added, " +
		"removed, or before and after.",
	Flags:    []Flag{jobFlag},
	Complete: (*Session).checkpointIDs,
	Run: func(s *Session, a *Args) error {
		return s.within(a, func(f *inspect.Folder) error {
			var ms [2]*checkpoint.Manifest
			for k := range ms {
				var err error
				if _, ms[k], err = f.Get(a.Arg(k)); err != nil {
					return err
				}
			}
			if len(a.Pos) == 3 {
				return f.PrintDiffRows(s.printer(), ms, a.Arg(2), a.Where)
			}
			if a.Where != "" {
				return a.Usage("a condition goes with a stage")
			}
			return f.PrintDiff(s.printer(), ms)
		})
	},
})
