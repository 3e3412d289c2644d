package job

import (
	"fmt"

	"github.com/ebb-lang/ebb/planner"
)

// Pause makes the job stand still: no rows are processed and no timers run, but it still takes checkpoints that are asked for.
// It returns when nothing moves any more.
func (j *Job) Pause() error {
	j.op.Lock()
	defer j.op.Unlock()
	r, state := j.now()
	if state != Running {
		return fmt.Errorf("the job is %s; only one that runs can be paused", state)
	}
	j.pause(r)
	return nil
}

func (j *Job) pause(r *life) {
	select {
	case <-r.exec.Pause():
		j.become(r, Paused)
	case <-r.exec.Done():
	}
}

// become notes that a run has been paused or resumed, unless it has ended.
func (j *Job) become(r *life, s State) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run == r && !j.state.Over() {
		j.state = s
	}
}

// Resume lets a paused job go on; one that was stopped or has failed goes on from its newest checkpoint.
func (j *Job) Resume() error {
	j.op.Lock()
	defer j.op.Unlock()
	r, state := j.now()
	switch state {
	case Paused:
		r.exec.Resume()
		j.become(r, Running)
		return nil
	case Stopped, Failed:
		if r.launched.Dir == "" {
			return fmt.Errorf("the job is %s and took no checkpoints to go on from: %s", state, r.launched.Why)
		}
		return j.launch(j.again())
	}
	return fmt.Errorf("the job is %s; only one that is paused or stopped can go on", state)
}

// again says how the job is started once more.
func (j *Job) again() planner.Launch {
	o := j.o.Launch
	o.Fresh, o.From, o.AllowDropped = false, "", nil
	return o
}
