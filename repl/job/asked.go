package job

import "github.com/ebb-lang/ebb/exec"

// Splits returns how far event time has come in each split that has been read, in the order in which they were begun.
// Sources without event time have none.
func (j *Job) Splits() []exec.SplitState {
	r, _ := j.now()
	return r.env.Splits.States()
}

// Rejected returns the last rows with errors that did not stop the run, the oldest first.
func (j *Job) Rejected() []exec.Sample {
	r, _ := j.now()
	return r.env.Stats.Rejected.List()
}

// Behind returns the last rows that were late, the oldest first.
func (j *Job) Behind() []exec.Sample {
	r, _ := j.now()
	return r.env.Stats.Behind.List()
}
