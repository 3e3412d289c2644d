package job

import (
	"time"

	"github.com/ebb-lang/ebb/exec"
)

// Stages counts what has passed the sources and operators of the run, in the order of the plan.
func (j *Job) Stages() []exec.StageCount {
	r, _ := j.now()
	return r.exec.Stages()
}

// Weigh is exec.Job.Weigh: how many bytes of state the stages hold now.
func (j *Job) Weigh(patience time.Duration) (bytes map[string]int64, ok bool) {
	r, _ := j.now()
	return r.exec.Weigh(patience)
}
