package repl

var _ = command(Command{
	Name: "html", Args: "FILE [-j JOB]", Group: "look", Least: 1, Most: 1,
	Summary: "draw the plan of the newest job with its counters as a page for the browser",
	Text: "The page needs no network. It shows the job as it is now: write it again to see it later. Without a job it is the script of the session. " +
		"A file that ebb did not draw is not overwritten.",
	Flags: []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		return s.draw(a, pageHead, func(p *picture) string { return p.page() })
	},
})
