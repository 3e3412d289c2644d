package exec

import (
	"strings"
	"sync"
)

// A Sample is a row that failed or came late, for people who ask what is wrong.
type Sample struct {
	Stage  string // source or stage, as the script calls it
	Source string // file or split, "" if not known
	Row    int64  // data row in Source from 1; 0 if not known
	Raw    string // the offending text, or the row as JSON
	Reason string
}

// mostSamples is how many samples are kept.
const mostSamples = 100

// Samples keeps the last of many. The zero Samples is empty and ready; its methods may be called by any goroutine.
type Samples struct {
	mu   sync.Mutex
	ring []Sample
	next int
}

// Room returns how many more fit before old ones give way, but at least 1: nobody needs to make more of a batch.
func (s *Samples) Room() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, mostSamples-len(s.ring))
}

// Add keeps a sample. Its text may be memory that is used again.
func (s *Samples) Add(x Sample) {
	x.Raw = strings.Clone(clip(x.Raw, 2000))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ring) < mostSamples {
		s.ring = append(s.ring, x)
		return
	}
	s.ring[s.next] = x
	s.next = (s.next + 1) % mostSamples
}

// List returns the samples, the oldest first.
func (s *Samples) List() []Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(append([]Sample(nil), s.ring[s.next:]...), s.ring[:s.next]...)
}
