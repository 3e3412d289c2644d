package repl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "watermark", Args: "[-j JOB]", Group: "jobs",
	Summary: "show how far event time has come in each source and split, what holds it back and what to do",
	Text:    "The watermark of a source is that of its slowest split that is not idle; a window comes out when the watermark passes its end.",
	Flags:   []Flag{jobFlag},
	Run: func(s *Session, a *Args) error {
		j, err := s.job(a)
		if err != nil {
			return err
		}
		splits := j.Splits()
		if len(splits) == 0 {
			timed := false
			for _, src := range j.check.Sources {
				timed = timed || src.Time != nil
			}
			if timed {
				s.Screen.Note(fmt.Sprintf("%s has read no row yet", j))
			} else {
				s.Screen.Note(fmt.Sprintf("no source of %s has event time: there is no watermark; `time COLUMN` behind a source gives it one", j))
			}
			return nil
		}
		var out strings.Builder
		for _, x := range splits {
			out.WriteString(describeSplit(x) + "\n")
		}
		if err := s.say("%s", out.String()); err != nil {
			return err
		}
		if !j.State().Over() {
			if why := j.holds(time.Now()); why != "" {
				s.Screen.Note(why)
			}
		}
		return nil
	},
})

func splitName(x exec.SplitState) string {
	if x.Name == "" || x.Name == x.Source {
		return x.Source
	}
	return x.Source + " " + x.Name
}

// describeSplit is a line of .watermark.
func describeSplit(x exec.SplitState) string {
	out := splitName(x) + ": "
	if x.High == types.MinInstant {
		out += "no row yet"
	} else {
		out += fmt.Sprintf("watermark %s (latest event %s, lag %s)", instant(x.Watermark()), instant(x.High), view.Span(time.Duration(x.Lag)))
		if quiet := time.Since(time.Unix(0, x.Since)); quiet > 2*time.Second {
			out += fmt.Sprintf(", has not moved for %s", view.Span(quiet))
		}
	}
	switch {
	case x.Idle:
		out += ", idle: holds nothing back"
	case x.Unread > 0:
		out += fmt.Sprintf(", then %s", plural(int64(x.Unread), "more file"))
	}
	return out
}

// still is how long a split says nothing before it is named as what holds event time back.
const still = 2 * time.Second

// holds says which split holds event time back and what to do, "" if none does.
func (j *sessionJob) holds(now time.Time) string {
	var worst *exec.SplitState
	splits := slices.DeleteFunc(j.Splits(), func(x exec.SplitState) bool { return j.bounded(x.Source) }) // those have ended, if they say nothing
	for i := range splits {
		x := &splits[i]
		if x.Idle || x.Unread > 0 || now.Sub(time.Unix(0, x.Since)) < still {
			continue
		}
		if worst == nil || x.Watermark() < worst.Watermark() {
			worst = x
		}
	}
	if worst == nil {
		return ""
	}
	for i := range splits { // it holds nothing back if another one is slower, though it moves
		if x := &splits[i]; !x.Idle && x.Unread == 0 && x.Watermark() < worst.Watermark() {
			return ""
		}
	}
	name := splitName(*worst)
	var out string
	if worst.High == types.MinInstant {
		out = fmt.Sprintf("%s holds event time back: it has had no row", name)
	} else {
		out = fmt.Sprintf("%s holds event time back at %s: its latest event is of %s", name, instant(worst.Watermark()), instant(worst.High))
		if end, size := j.nextEnd(worst.Watermark()); end > 0 {
			out += fmt.Sprintf("\nthe window of %s that is open comes out when an event of %s or later is read", view.Span(time.Duration(size)), instant(end+worst.Lag))
			if worst.Lag > 0 {
				out += fmt.Sprintf(" (its end, and `lag %s`)", view.Span(time.Duration(worst.Lag)))
			}
		}
	}
	switch {
	case worst.IdleAfter > 0:
		out += fmt.Sprintf("\nit counts as idle after %s without rows", view.Span(time.Duration(worst.IdleAfter)))
	case len(splits) > 1:
		out += "\n`idle 30s` behind the `time` of the source lets the others go on without it"
	default:
		out += "\nit is the only split: more events move it, .stop --drain flushes what is open"
	}
	return out
}

func (j *sessionJob) bounded(source string) bool {
	for _, s := range j.check.Sources {
		if s.Name == source {
			return s.Info.Bounded
		}
	}
	return false
}

// nextEnd returns when the first window in event time ends after an instant, and the size of that window; 0 if the script has
// no windows whose ends are known.
func (j *sessionJob) nextEnd(w types.Instant) (end, size int64) {
	for _, win := range j.windows() {
		step := win.Size
		if win.Step > 0 {
			step = win.Step
		}
		t := w - win.Offset
		e := t - ((t%step)+step)%step + step + win.Offset
		if end == 0 || e < end {
			end, size = e, win.Size
		}
	}
	return end, size
}

// windows are those of the script that close by event time at ends of their own.
func (j *sessionJob) windows() (out []*types.Window) {
	for _, s := range j.check.Streams {
		for _, g := range s.Stages {
			if w := g.Args.Window; w != nil && !w.Processing && w.Size > 0 && (w.Kind == types.Tumbling || w.Kind == types.Hopping || w.Kind == types.Cumulate) {
				out = append(out, w)
			}
		}
	}
	return out
}
