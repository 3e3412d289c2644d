package planner

import (
	"errors"
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
)

// Rolling back a run that goes on: all that can be wrong is looked at while it runs, then it ends, the folder and the
// outputs are taken back, and the same script starts from the checkpoint, on the store that was never given up.

// PlanRollback says what a rollback to checkpoint id would do, and refuses one that would fail. It changes nothing, and the
// run may go on. What the run writes meanwhile is not in it.
func (l *Launched) PlanRollback(id checkpoint.ID, env *exec.Env) (*RolledBack, error) {
	refused := func(format string, args ...any) error {
		return &RefusedError{fmt.Sprintf("cannot go to checkpoint %d: ", id) + fmt.Sprintf(format, args...)}
	}
	if l.Dir == "" {
		return nil, refused("the job takes no checkpoints: %s", l.Why)
	}
	s := l.Store()
	if s == nil {
		return nil, refused("none has been taken yet")
	}
	m, err := s.Manifest(id)
	if err != nil {
		return nil, refused("%v", err)
	}
	if err := readable(m, s.Read); err != nil {
		return nil, refused("%v", err)
	}
	foreign := infoOf(s, id).Foreign
	if foreign && s.Head() != id {
		return nil, refused("%s", notOurs)
	}
	look := env.ReadOnly()
	c := *l.script.Compiled
	c.spreadOut(m, l.lib, look)
	if list := (&exec.Restore{Manifest: m, Drop: l.o.drop(), NewOutputs: foreign}).Misfits(c.Graph(l.lib, look)); len(list) > 0 {
		what := ""
		for _, x := range list {
			what += fmt.Sprintf("\n  %s", x)
		}
		return nil, refused("the script has been changed since and does not fit it:%s", what)
	}
	out := &RolledBack{From: s.Head(), To: m}
	if foreign { // nothing of the outputs is committed yet
		return out, nil
	}
	back, known := s.AsidesOf(id)
	if !known {
		return nil, refused("a fresh start lies between, which has replaced the outputs")
	}
	g, err := savedGraph(m, s.Read, l.lib, look)
	if err == nil {
		out.Outputs, err = g.UndoSinks(m, s.Read, "", back)
	}
	if err != nil {
		return nil, refused("%v", err)
	}
	return out, nil
}

// Rollback takes the folder and the outputs to checkpoint id and returns a run that goes on from there, in the place of this
// one, of which nothing may run any more; the store is the new one's then. After an error of *RefusedError nothing has
// changed, and the run that is returned goes on from the newest checkpoint.
func (l *Launched) Rollback(id checkpoint.ID, env *exec.Env) (*Launched, *RolledBack, error) {
	s := l.Store()
	done, err := Rollback(s, id, l.lib, env)
	var refused *RefusedError
	if err != nil && !errors.As(err, &refused) {
		return nil, done, err
	}
	var m *checkpoint.Manifest
	if err != nil {
		id = s.Head()
		var e error
		if m, e = s.Manifest(id); e != nil {
			return nil, nil, errors.Join(err, e)
		}
	} else {
		m = done.To
	}
	compiled := *l.script.Compiled
	n := &Launched{Dir: l.Dir, script: launchedScript{&compiled, l.script.name, l.script.text}, lib: l.lib, o: l.o, policy: l.policy, store: s}
	n.goOn(m, infoOf(s, id), env)
	n.prepare(env, checkpoint.Options{}, s.Next())
	l.setStore(nil)
	return n, done, err
}
