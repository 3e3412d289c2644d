package state

// Timer is a due time of something numbered.
type Timer struct {
	At int64
	ID uint32
}

// Timers are due times in order, a binary heap. They are lazy: an owner whose due time moved on finds that out when the
// old one comes up, and sets the new one; so moving costs nothing.
type Timers struct{ heap []Timer }

// Set adds a due time.
func (t *Timers) Set(at int64, id uint32) {
	t.heap = append(t.heap, Timer{at, id})
	h := t.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (t Timer) before(u Timer) bool { return t.At < u.At || t.At == u.At && t.ID < u.ID }

// Len returns the number of due times.
func (t *Timers) Len() int { return len(t.heap) }

// First returns the earliest due time; there is one.
func (t *Timers) First() Timer { return t.heap[0] }

// Pop removes and returns the earliest due time; there is one.
func (t *Timers) Pop() Timer {
	h := t.heap
	first := h[0]
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	t.heap = h
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(h[i]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	return first
}

// Bytes returns how much memory the timers hold.
func (t *Timers) Bytes() int { return 16 * cap(t.heap) }
