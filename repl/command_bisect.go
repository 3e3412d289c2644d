package repl

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/repl/inspect"
)

var _ = command(Command{
	Name: "bisect", Args: "[-j JOB] EXPR [over STREAM|STAGE] [from A to B]", Group: "time travel", Least: 1, Most: 1, Tail: true,
	Summary: "find the first row of a source after which a condition is true",
	Text: "What the job did between checkpoints A and B is done again in a scratch folder; the job is not touched. EXPR is a condition over the rows that STREAM gives out, or " +
		"over the state of STAGE, a name that .state lists; without `over` it is the state of the first stage that has one. A state is looked at " +
		"after every row; where that would take too long, after some thousand rows, and row by row where it had become true then. Without `from` it is the interval before the newest checkpoint.",
	Flags: []Flag{jobFlag},
	Run:   bisect,
})

var bisectTail = regexp.MustCompile(`^(?s)(.+?)(?:\s+over\s+(\S+))?(?:\s+from\s+(\S+)\s+to\s+(\S+))?$`)

func bisect(s *Session, a *Args) error {
	m := bisectTail.FindStringSubmatch(strings.TrimSpace(a.Arg(0)))
	if m == nil {
		return a.Usage("the condition is missing")
	}
	if first := strings.Fields(m[1])[0]; first == "over" || first == "from" {
		return a.Usage("the condition is missing before `%s`", first)
	}
	return s.within(a, func(f *inspect.Folder) error {
		from, to, err := interval(f, m[3], m[4])
		if err != nil {
			return err
		}
		var b *inspect.Bisected
		if err := s.apart(func() (err error) { b, err = f.Bisect(from, to, m[2], m[1], s.lib); return err }); err != nil {
			return err
		}
		return tellBisected(s, b, from, to)
	})
}

// interval finds the two checkpoints of a search.
func interval(f *inspect.Folder, a, b string) (from, to checkpoint.Info, err error) {
	if a == "" {
		return f.Interval("")
	}
	if from, err = f.Find(a); err != nil {
		return from, to, err
	}
	if to, err = f.Find(b); err != nil {
		return from, to, err
	}
	parent := map[checkpoint.ID]checkpoint.ID{}
	for _, i := range f.All {
		parent[i.ID] = i.Parent
	}
	for id := to.ID; id != 0; id = parent[id] {
		if id == from.ID && from.ID != to.ID {
			return from, to, nil
		}
	}
	return from, to, fmt.Errorf("checkpoint %d does not come after checkpoint %d; .checkpoints shows which follow each other", to.ID, from.ID)
}

func tellBisected(s *Session, b *inspect.Bisected, from, to checkpoint.Info) error {
	of := "a row of " + b.Over
	if b.State {
		of = "the state of " + b.Over
	}
	switch {
	case b.Before:
		s.say("it was true for %s at checkpoint %s already, or for what was in flight there:\n", of, checkpoint.Label(from.ID, from.Name))
	case b.Ended:
		s.say("no row makes it true: it becomes true for %s when the %s from checkpoint %s to %s have been read:\n", of, plural(b.Rows, "row"),
			checkpoint.Label(from.ID, from.Name), checkpoint.Label(to.ID, to.Name))
	case !b.Found:
		s.say("it is not true for %s anywhere from checkpoint %s to %s, %s\n", of, checkpoint.Label(from.ID, from.Name),
			checkpoint.Label(to.ID, to.Name), plural(b.Rows, "row"))
	default:
		at := fmt.Sprintf("row %s since checkpoint %s", count(b.Row), checkpoint.Label(from.ID, from.Name))
		switch b.Place {
		case "":
		case b.Source: // a generator
			at = "row " + count(b.Row)
		default:
			at = fmt.Sprintf("%s row %s", b.Place, count(b.Row))
		}
		one := ""
		if b.Many > 1 {
			one = fmt.Sprintf(" (one of the %s up to it)", plural(int64(b.Many), "row"))
		}
		s.say("it becomes true for %s with %s of %s%s:\n%s\n", of, at, b.Source, one, b.Text)
	}
	if b.Coarse {
		s.say("the state was looked at after some thousand rows only, for it is large: it may have been true for a moment before\n")
	}
	if b.Hit == nil {
		return nil
	}
	return s.printer().Rows(b.Schema, b.Hit)
}
