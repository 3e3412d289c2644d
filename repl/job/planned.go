package job

import "github.com/ebb-lang/ebb/planner"

// Planned returns the plan of the job, made anew from its text.
func (j *Job) Planned() (*planner.Compiled, error) { return j.compile(j.newEnv()) }
