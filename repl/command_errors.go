package repl

import (
	"fmt"
	"io"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/repl/job"
)

var _ = command(Command{
	Name: "errors", Args: "[-j JOB]", Group: "jobs",
	Summary: "show the last rows of a job that failed: stage, position, reason, text",
	Text: "They are those that `on_error drop` and `on_error into` took, of this run of the job. Without on_error the first row that fails " +
		"ends the job; then its message is shown.",
	Flags:    []Flag{jobFlag},
	Complete: func(s *Session, _ []string) []string { return s.jobNames() },
	Run: func(s *Session, a *Args) error {
		j, err := s.job(a)
		if err != nil {
			return err
		}
		list := j.Rejected()
		if len(list) == 0 && j.State() != job.Failed {
			s.Screen.Note(fmt.Sprintf("no row of %s has failed", j))
			return nil
		}
		if err := writeSamples(s.Screen, list, j.Totals().Errors, "row that failed"); err != nil {
			return err
		}
		if j.State() == job.Failed {
			_, err = fmt.Fprintf(s.Screen, "%s has failed: %v\n", j, j.Err())
		}
		return err
	},
})

var _ = command(Command{
	Name: "late", Args: "[-j JOB]", Group: "jobs",
	Summary: "show the last rows of a job that were late: stage, position, event time, text",
	Text: "A row is late if its window had closed by the watermark of its own split when it was read. A larger `lag` of the source waits longer " +
		"for such rows, `late into TARGET` keeps them, `late allow DURATION` corrects windows that are out.",
	Flags:    []Flag{jobFlag},
	Complete: func(s *Session, _ []string) []string { return s.jobNames() },
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
		if err := writeSamples(s.Screen, j.Behind(), t.Late, "late row"); err != nil {
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

// writeSamples writes the last of n rows.
func writeSamples(w io.Writer, list []exec.Sample, n int64, what string) error {
	var out strings.Builder
	if n > int64(len(list)) {
		fmt.Fprintf(&out, "the last %d of %s\n", len(list), strings.Replace(plural(n, what), "row that faileds", "rows that failed", 1))
	}
	for _, x := range list {
		out.WriteString(x.Stage)
		if x.Source != "" {
			out.WriteString(": " + x.Source)
		}
		if x.Row > 0 {
			fmt.Fprintf(&out, ": row %s", count(x.Row))
		}
		out.WriteString(": " + x.Reason + "\n")
		if x.Raw != "" {
			out.WriteString("  " + strings.ReplaceAll(strings.TrimRight(x.Raw, "\n"), "\n", "\n  ") + "\n")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
