package repl

var _ = command(Command{
	Name: "stop", Args: "[-j JOB]", Group: "jobs",
	Summary:  "end a job with a final checkpoint, from which .resume and .run go on",
	Text:     "Windows that are open are not flushed: they are part of the checkpoint.",
	Flags:    []Flag{jobFlag},
	Complete: func(s *Session, _ []string) []string { return s.jobNames() },
	Run: func(s *Session, a *Args) error {
		j, err := s.live(a)
		if err != nil {
			return err
		}
		j.expected.Store(true)
		if err := s.wait(j, j.Stop); err != nil {
			return err
		}
		s.Screen.Note(j.left())
		return nil
	},
})
