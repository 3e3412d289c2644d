package repl

import (
	"sync"
	"time"

	"github.com/ebb-lang/ebb/repl/job"
)

// meter measures the rates of a job over the last seconds.
type meter struct {
	mu      sync.Mutex
	samples []sample // ascending in time
}

type sample struct {
	at      time.Time
	in, out int64
}

const (
	sampled = 250 * time.Millisecond // time between samples
	looked  = 13                     // samples that a rate is taken over: 3 s
)

func (m *meter) take(t job.Totals) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples = append(m.samples, sample{time.Now(), t.RowsIn, t.RowsOut})
	if n := len(m.samples); n > looked {
		m.samples = append(m.samples[:0], m.samples[n-looked:]...)
	}
}

// reset forgets what was measured: the totals have gone back.
func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples = nil
}

// rates returns rows in and out a second.
func (m *meter) rates() (in, out float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.samples)
	if n < 2 {
		return 0, 0
	}
	a, b := m.samples[0], m.samples[n-1]
	secs := b.at.Sub(a.at).Seconds()
	return max(0, float64(b.in-a.in)/secs), max(0, float64(b.out-a.out)/secs)
}
