package exec

// InFlight returns how many rows wait in channels. It may be called at any time.
func (r *Run) InFlight() int64 {
	n := 0
	for _, t := range r.tasks {
		for _, in := range t.inputs {
			n += in.ch.Rows()
		}
	}
	return int64(n)
}

// Rows returns the number of rows that wait.
func (c *Channel) Rows() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows
}
