package repl

var _ = command(Command{
	Name: "verify", Args: "[-j JOB]", Group: "time travel",
	Summary: "read every byte of the checkpoints and compare the checksums",
	Flags:   []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		open, err := s.folder(a)
		if err != nil {
			return err
		}
		defer open.Close()
		sum, err := open.PrintVerify(s.printer(), s.Screen.Note)
		if sum != "" {
			s.Screen.Note(sum)
		}
		return err
	},
})
