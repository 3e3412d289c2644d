package job

import "github.com/ebb-lang/ebb/exec"

// Stages counts what has passed the sources and operators of the run, in the order of the plan.
func (j *Job) Stages() []exec.StageCount {
	r, _ := j.now()
	return r.exec.Stages()
}
