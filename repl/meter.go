package repl

import (
	"sync"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/job"
)

// meter measures the rates of a job and of its stages over the last seconds.
type meter struct {
	mu      sync.Mutex
	samples []sample // ascending in time
}

// sample is what had passed at a time.
type sample struct {
	at     time.Time
	job    passed
	stages map[string]passed // by stable name
}

// passed is how many rows went in and came out.
type passed struct{ in, out int64 }

// less reports whether p is a count that has gone back from q.
func (p passed) less(q passed) bool { return p.in < q.in || p.out < q.out }

// over returns p as rates over a time.
func (p passed) over(d time.Duration) inspect.Rates {
	secs := max(d.Seconds(), 0.001)
	return inspect.Rates{In: float64(p.in) / secs, Out: float64(p.out) / secs}
}

const (
	sampled = 250 * time.Millisecond // time between samples
	looked  = 13                     // samples that a rate is taken over: 3 s
)

func sampleOf(at time.Time, t job.Totals, stages []exec.StageCount) sample {
	s := sample{at, passed{t.RowsIn, t.RowsOut}, make(map[string]passed, len(stages))}
	for _, x := range stages {
		s.stages[x.ID] = passed{x.In, x.Out}
	}
	return s
}

// take notes a sample. Where counts have gone back another run has begun: what was measured before does not count.
func (m *meter) take(s sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.samples); n > 0 && s.back(m.samples[n-1]) {
		m.samples = m.samples[:0]
	}
	m.samples = append(m.samples, s)
	if n := len(m.samples); n > looked {
		m.samples = append(m.samples[:0], m.samples[n-looked:]...)
	}
}

func (s sample) back(from sample) bool {
	if s.job.less(from.job) {
		return true
	}
	for id, p := range s.stages {
		if p.less(from.stages[id]) {
			return true
		}
	}
	return false
}

// reset forgets what was measured.
func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples = nil
}

// rates returns rows in and out a second, of the job and of its stages.
func (m *meter) rates() (job inspect.Rates, stages map[string]inspect.Rates) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.samples)
	if n < 2 {
		return job, nil
	}
	return m.samples[n-1].since(m.samples[0])
}

// since returns what has passed since another sample, as rates.
func (s sample) since(from sample) (job inspect.Rates, stages map[string]inspect.Rates) {
	d := s.at.Sub(from.at)
	rates := func(a, b passed) inspect.Rates { return passed{b.in - a.in, b.out - a.out}.over(d) }
	stages = make(map[string]inspect.Rates, len(s.stages))
	for id, p := range s.stages {
		stages[id] = rates(from.stages[id], p)
	}
	return rates(from.job, s.job), stages
}

// rates returns how quick a job and its stages are; those of a job that has ended are of its last run.
func (j *sessionJob) rates() (job inspect.Rates, stages map[string]inspect.Rates) {
	if !j.State().Over() {
		return j.meter.rates()
	}
	t := j.Totals()
	begun := time.Time{}
	began := sample{at: begun, job: passed{t.InBefore, t.OutBefore}}
	return sampleOf(begun.Add(t.For), t, j.Stages()).since(began)
}
