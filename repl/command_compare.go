package repl

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path/filepath"
	"strings"

	"github.com/ebb-lang/ebb/repl/inspect"
)

var _ = command(Command{
	Name: "compare", Args: "A B", Group: "time travel", Least: 2, Most: 2,
	Summary: "the rows in which the outputs of two jobs differ, as after a .fork",
	Text: "A and B are numbers or names of jobs. Of a job and its fork what was written since the checkpoint of the fork is compared, output by output; the order of " +
		"rows does not count. What a running job has not committed yet is not there: .checkpoint commits it.",
	Complete: func(s *Session, _ []string) []string { return s.jobNames() },
	Run: func(s *Session, a *Args) error {
		var jobs [2]*sessionJob
		for k := range jobs {
			var err error
			if jobs[k], err = s.called(a.Arg(k)); err != nil {
				return err
			}
		}
		if jobs[0] == jobs[1] {
			return a.Usage("%s is one job; name two", jobs[0])
		}
		return s.compare(jobs)
	},
})

// mostDiffering is how many rows of each side are shown.
const mostDiffering = 20

// compare compares outputs of the same place in two jobs.
func (s *Session) compare(jobs [2]*sessionJob) error {
	s.lagging(jobs)
	var pairs [][2]string
	for _, x := range jobs[0].outputs {
		for _, y := range jobs[1].outputs {
			if plainOutput(x, jobs[0]) == plainOutput(y, jobs[1]) {
				pairs = append(pairs, [2]string{x, y})
			}
		}
	}
	if len(pairs) == 0 {
		return fmt.Errorf("%s and %s have no outputs that belong together: those of a fork have the name of the other's with the fork's within", jobs[0], jobs[1])
	}
	same := true
	for _, p := range pairs {
		d := differing{seed: maphash.MakeSeed(), count: map[uint64]int64{}}
		if err := d.read(p, jobs); err != nil {
			return err
		}
		if err := d.print(s.Screen, p, jobs); err != nil {
			return err
		}
		same = same && len(d.count) == 0
	}
	if !same {
		return nil
	}
	return s.say("%s and %s have written the same rows\n", jobs[0], jobs[1])
}

// lagging says what may be missing because a job still runs.
func (s *Session) lagging(jobs [2]*sessionJob) {
	var read [2]int64
	for k, j := range jobs {
		t := j.Totals()
		read[k] = t.RowsIn
		if waiting := t.RowsOut - t.Committed; waiting > 0 && j.Folder() != "" && !j.State().Over() {
			s.Screen.Note(fmt.Sprintf("%s has yet to commit %s, which are not compared: .checkpoint -j %s", j, plural(waiting, "row"), j.called))
		}
	}
	if read[0] != read[1] && (!jobs[0].State().Over() || !jobs[1].State().Over()) {
		s.Screen.Note(fmt.Sprintf("%s has read %s, %s %s: the one that lags has not come to the last rows", jobs[0], plural(read[0], "row"), jobs[1], count(read[1])))
	}
}

// plainOutput is the path of an output as the job had it that a fork comes from.
func plainOutput(path string, j *sessionJob) string {
	if j.origin == nil {
		return path
	}
	dir, file := filepath.Split(path)
	return dir + strings.Replace(file, "."+j.called, "", 1)
}

// since is where to begin in an output: what was in it at the checkpoint of a fork is not compared.
func since(path string, j, other *sessionJob) int64 {
	if o := other.origin; o != nil && o.job == j.called {
		return o.at[path]
	}
	return 0
}

// differing counts the lines of two outputs by their hash: those of the first are added, those of the second taken away. The
// two are read side by side, so that little has to be remembered.
type differing struct {
	seed  maphash.Seed
	count map[uint64]int64
	rows  [2]int64
}

func (d *differing) read(paths [2]string, jobs [2]*sessionJob) error {
	var in [2]*inspect.Lines
	for k := range paths {
		r, err := openRows(paths[k], since(paths[k], jobs[k], jobs[1-k]))
		if err != nil {
			return err
		}
		defer r.Close()
		in[k] = r
	}
	for left := 2; left > 0; {
		left = 0
		for k, by := range []int64{1, -1} {
			line, err := in[k].Next()
			if errors.Is(err, io.EOF) {
				continue
			}
			if err != nil {
				return fmt.Errorf("cannot read %s: %w", shown(paths[k]), err)
			}
			left++
			d.rows[k]++
			h := maphash.Bytes(d.seed, line)
			if d.count[h] += by; d.count[h] == 0 {
				delete(d.count, h)
			}
		}
	}
	return nil
}

// print shows the rows that one has and the other has not.
func (d *differing) print(w io.Writer, paths [2]string, jobs [2]*sessionJob) error {
	var only [2]int64
	for _, n := range d.count {
		only[0] += max(n, 0)
		only[1] += max(-n, 0)
	}
	if _, err := fmt.Fprintf(w, "%s: %s, %s of them only here\n%s: %s, %s of them only here\n", shown(paths[0]), plural(d.rows[0], "row"), count(only[0]),
		shown(paths[1]), plural(d.rows[1], "row"), count(only[1])); err != nil {
		return err
	}
	for k, sign := range []int64{1, -1} {
		if only[k] == 0 {
			continue
		}
		r, err := openRows(paths[k], since(paths[k], jobs[k], jobs[1-k]))
		if err != nil {
			return err
		}
		shownRows := int64(0)
		for shownRows < min(only[k], mostDiffering) {
			line, err := r.Next()
			if err != nil {
				break // a file that has changed meanwhile
			}
			h := maphash.Bytes(d.seed, line)
			if d.count[h]*sign <= 0 {
				continue
			}
			d.count[h] -= sign
			shownRows++
			if _, err := fmt.Fprintf(w, "%c %s\n", "-+"[k], line); err != nil {
				r.Close()
				return err
			}
		}
		r.Close()
		if more := only[k] - shownRows; more > 0 {
			if _, err := fmt.Fprintf(w, "%c … and %s more\n", "-+"[k], count(more)); err != nil {
				return err
			}
		}
	}
	return nil
}

// openRows opens an output behind its first bytes.
func openRows(path string, from int64) (*inspect.Lines, error) {
	l, err := inspect.OpenLines(path, from, -1)
	if err != nil {
		err = fmt.Errorf("cannot read %s: %w", shown(path), err)
	}
	return l, err
}
