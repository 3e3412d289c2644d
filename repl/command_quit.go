package repl

var _ = command(Command{
	Name: "quit", Group: "session",
	Summary: "end the session; running jobs take a final checkpoint",
	Run:     func(*Session, *Args) error { return ErrQuit },
})
