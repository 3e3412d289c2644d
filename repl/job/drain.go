package job

import "fmt"

// Drain ends the job as if its input ended now: windows are flushed, and it has finished. It returns when that is done.
func (j *Job) Drain() error {
	j.op.Lock()
	defer j.op.Unlock()
	r, state := j.now()
	if state != Running {
		return fmt.Errorf("the job is %s; only one that runs can be drained", state)
	}
	done := j.Done()
	r.exec.Drain()
	<-done
	return j.Err()
}
