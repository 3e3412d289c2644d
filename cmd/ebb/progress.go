package main

import (
	"fmt"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/repl/view"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// progress shows on a terminal how a run comes along: a bar where the size of the input is known, else a line.
type progress struct {
	env   *exec.Env
	start time.Time
	bars  *mpb.Progress
	bar   *mpb.Bar
	quit  chan struct{}
	gone  chan struct{}
}

// startProgress draws on stderr if it is a terminal; the first picture comes after a moment, so that short runs stay quiet.
func startProgress(env *exec.Env) *progress {
	p := &progress{env: env, start: time.Now(), quit: make(chan struct{}), gone: make(chan struct{})}
	if !isTerminal(os.Stderr) {
		close(p.gone)
		return p
	}
	go p.draw()
	return p
}

func (p *progress) draw() {
	defer close(p.gone)
	select {
	case <-p.quit:
		return
	case <-time.After(300 * time.Millisecond):
	}
	p.bars = mpb.New(mpb.WithOutput(os.Stderr), mpb.WithRefreshRate(200*time.Millisecond))
	s := p.env.Stats
	text := decor.Any(func(decor.Statistics) string { return p.line() })
	total := s.BytesTotal.Load()
	if total > 0 && !s.Unbounded.Load() && !s.SizeUnknown.Load() {
		p.bar = p.bars.New(total, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"), mpb.BarWidth(24), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Percentage(decor.WC{W: 5})),
			mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO), decor.Name("  "), text))
	} else {
		p.bar = p.bars.New(0, mpb.NopStyle(), mpb.BarRemoveOnComplete(), mpb.AppendDecorators(text))
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			p.bar.Abort(true)
			p.bars.Wait()
			return
		case <-tick.C:
			p.bar.SetCurrent(min(s.BytesIn.Load(), max(0, total-1)))
		}
	}
}

func (p *progress) line() string { return view.Status(p.env.Stats, p.start, time.Now()) }

// stop clears the picture and prints the summary line; stopped says that the run was ended before its input did.
func (p *progress) stop(err error, stopped bool) {
	close(p.quit)
	<-p.gone
	if !isTerminal(os.Stderr) {
		return
	}
	word := "done"
	switch {
	case err != nil:
		word = "failed"
	case stopped:
		word = "stopped"
	}
	fmt.Fprintf(os.Stderr, "%s in %s: %s\n", word, time.Since(p.start).Round(time.Millisecond), p.line())
}
