package repl

import "fmt"

var _ = command(Command{
	Name: "late", Args: "[-j JOB]", Group: "jobs",
	Summary: "show the last rows of a job that were late: stage, position, event time, text",
	Text: "A row is late if its window had closed by the watermark of its own split when it was read. A larger `lag` of the source waits longer " +
		"for such rows, `late into TARGET` keeps them, `late allow DURATION` corrects windows that are out.",
	Flags: []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		j, err := s.job(a)
		if err != nil {
			return err
		}
		t := j.Totals()
		if t.Late == 0 {
			s.Screen.Note(fmt.Sprintf("no row of %s was late", j))
			return nil
		}
		if err := writeSamples(s.Screen, j.Behind(), t.Late, plural(t.Late, "late row")); err != nil {
			return err
		}
		if t.LateDropped > 0 {
			s.Screen.Note(fmt.Sprintf("%s dropped; `late into TARGET` keeps them, a larger `lag` of the source waits for them", was(t.LateDropped)))
		}
		return nil
	},
})

func was(n int64) string {
	if n == 1 {
		return "1 row was"
	}
	return count(n) + " rows were"
}
