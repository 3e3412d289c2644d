package repl

import "github.com/ebb-lang/ebb/repl/inspect"

var _ = command(Command{
	Name: "checkpoints", Args: "[-j JOB]", Group: "time travel",
	Summary: "the checkpoints of a job as a tree, with what rollbacks have left behind",
	Text:    "The arrow is where the job stands: its next checkpoint follows that one. Without a job it is the folder of the script's earlier runs.",
	Flags:   []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		return s.within(a, func(f *inspect.Folder) error { return f.PrintTree(s.printer()) })
	},
})
