package repl

var _ = command(Command{
	Name: "dot", Args: "FILE [-j JOB]", Group: "look", Least: 1, Most: 1,
	Summary: "draw the plan of the newest job with its counters for Graphviz",
	Text: "`dot -Tsvg FILE` makes a picture of it. Without a job it is the script of the session. " +
		"A file that ebb did not draw is not overwritten.",
	Flags: []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		return s.draw(a, dotHead, func(p *picture) string { return p.plan.Physical.Dot(p.notes) })
	},
})
