package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/view"
)

// frame is how often the screen is drawn while rows come.
const frame = 50 * time.Millisecond

// preview shows the rows of a pipeline until it ends or Ctrl-C is pressed. It runs the pipeline only: outputs that the
// session's streams have on their way are not written, those that stand in the typed text are. It takes no checkpoints.
// typed is the text of the pipeline at its place in what was typed.
func (s *Session) preview(typed string, stmt syntax.Stmt, src *syntax.Source) error {
	x, err := s.expanded(stmt, statement{text: src.Slice(stmt.Range())})
	if err != nil {
		return err
	}
	o := s.opts.Plan
	lines := stmt.Range().End.Line
	o.Only = func(w *check.Write) bool {
		return w.Conn == nil || w.Pos.File == typedName && w.Pos.Line <= lines
	}
	o.Print = &types.ConnArgs{Name: feedName}
	c, err := s.compile(typed, s.withLast(typed, s.script.definitions()), o)
	if err != nil {
		return err
	}
	s.last, s.typed = x.text, x.text
	var out *check.Write
	for _, w := range c.Script.Writes {
		if w.Conn == nil {
			out = w
		}
	}
	v, err := view.New(s.Screen, s.viewOptions(out.In), out.Schema)
	if err != nil {
		return err
	}
	start := time.Now()
	stats, stopped, err := s.watch(c, v)
	if stats != nil {
		s.sumUp(v, stats, time.Since(start), stopped)
	}
	return err
}

// watch runs a pipeline that writes to the feed and shows its rows in a view. Stopped says that it did not come to its end;
// stats are nil if it did not start.
func (s *Session) watch(c *planner.Compiled, v view.View) (stats *exec.Stats, stopped bool, err error) {
	f := newFeed()
	defer f.leave()
	env := s.env()
	start := time.Now()
	select {
	case <-s.Screen.Interrupts(): // of what ran before
	default:
	}
	job, err := exec.Start(context.Background(), c.Graph(s.lib.With(f.conn()), env), env, exec.Setup{})
	if err != nil {
		return nil, false, err
	}
	stopped, err = s.show(v, f, job, env, start)
	if stopped {
		f.leave()
		job.Halt()
	}
	if e := v.End(); err == nil {
		err = e
	}
	if e := job.Wait(); err == nil && !errors.Is(e, exec.ErrReaderGone) {
		err = e
	}
	return env.Stats, stopped, err
}

// show draws rows until the run has ended; stopped says that it was told to before its end.
func (s *Session) show(v view.View, f *feed, job *exec.Job, env *exec.Env, start time.Time) (stopped bool, err error) {
	width, height := s.Screen.Size()
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case b := <-f.rows:
			if err = v.Add(b); err == nil && len(f.rows) == 0 {
				err = v.Show(view.Status(env.Stats, start, time.Now()))
			}
		case <-tick.C:
			if r, ok := v.(view.Resizer); ok {
				if w, h := s.Screen.Size(); w != width || h != height {
					width, height = w, h
					r.Resize(w, h)
				}
			}
			err = v.Show(view.Status(env.Stats, start, time.Now()))
		case <-job.Done():
			for over = true; len(f.rows) > 0 && err == nil; {
				err = v.Add(<-f.rows)
			}
		case <-s.Screen.Interrupts():
			return true, nil
		}
		if errors.Is(err, view.ErrEnough) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
	}
	return false, nil
}

// viewOptions are how rows of a stream are shown.
func (s *Session) viewOptions(of types.Stream) view.Options {
	o := view.Options{Mode: s.mode, Updating: of.Updating}
	o.Width, o.Height = s.Screen.Size()
	terminal := o.Width > 0
	o.Color = terminal && os.Getenv("NO_COLOR") == ""
	if terminal && of.Bounded && s.opts.Pager != nil {
		o.Pager = func() (io.WriteCloser, error) { return s.opts.Pager(o.Height) }
	}
	switch {
	case o.Mode != "":
	case !terminal:
		o.Mode = view.JSONL
	case of.Updating:
		o.Mode = view.Table
	default:
		o.Mode = view.Append
	}
	return o
}

// sumUp tells how many rows there were, to people.
func (s *Session) sumUp(v view.View, stats *exec.Stats, took time.Duration, stopped bool) {
	terminal, _ := s.Screen.Size()
	if terminal == 0 && s.timer != turnedOn {
		return
	}
	rows, left := v.Counts()
	text := view.Count(rows) + " rows"
	if rows == 1 {
		text = "1 row"
	}
	if s.timer != turnedOff {
		text += " in " + view.Span(took)
	}
	if left > 0 {
		text += fmt.Sprintf(", %s of them not shown", view.Count(left))
	}
	if n := stats.LateDropped.Load(); n > 0 {
		text += fmt.Sprintf(", %s late and dropped", view.Count(n))
	}
	if n := stats.Errors.Load(); n > 0 {
		text += fmt.Sprintf(", %s with errors", view.Count(n))
	}
	if stopped {
		text += ", stopped"
	}
	if h, ok := v.(interface{ Hidden() int }); ok && h.Hidden() > 0 {
		text += fmt.Sprintf("; the terminal is too narrow for %s: select some, or .mode jsonl", counted(h.Hidden(), "column"))
	}
	s.Screen.Note(text)
}
