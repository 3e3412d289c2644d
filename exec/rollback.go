package exec

import "errors"

// ErrRolledBack is the error of a run in whose place another one runs, from a checkpoint.
var ErrRolledBack = errors.New("the job was rolled back")

// Rollback says how a job is taken back to a checkpoint.
type Rollback struct {
	// Check is asked while the run goes on; its error refuses, and nothing has happened.
	Check func() error
	// Back is called when nothing runs any more: it takes the checkpoint folder and the outputs back, and returns what
	// runs in the place of the run.
	Back func() (*Graph, *Env, Setup, error)
}

// A RefusedRollback is one that was not begun: the job goes on as before.
type RefusedRollback struct{ Err error }

func (e *RefusedRollback) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RefusedRollback) Unwrap() error { return e.Err }

// Rollback takes the job back to a checkpoint, without a last one, and lets it go on from there: the job that is returned
// has taken the place of j, of which nothing runs any more. An error of *RefusedRollback leaves j as it is; after any
// other, nothing runs.
func (j *Job) Rollback(r Rollback) (*Job, error) {
	if r.Check != nil {
		if err := r.Check(); err != nil {
			return nil, &RefusedRollback{err}
		}
	}
	j.fail(ErrRolledBack)
	<-j.gone
	g, env, setup, err := r.Back()
	if err != nil {
		return nil, err
	}
	return Start(j.parent, g, env, setup)
}
