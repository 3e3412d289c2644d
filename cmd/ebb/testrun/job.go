package testrun

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// start is the time at which every test begins: 2026-01-01T00:00:00Z.
const start = 1_767_225_600e9

// job is the job of a test. It lives through the whole test, over crashes and restarts.
type job struct {
	script *Script
	text   string // of the script, with what keeps the rows of streams
	world  *world
	lib    *stdlib.Catalog
	memory *disk.Sim
	clock  *sim.Clock
	rng    *rand.Rand
	width  int
	storm  *storm              // nil: nothing happens but what the test says
	edit   func(*planner.Plan) // what is added to plans; nil: nothing
	stats  []*exec.Stats       // of all runs

	launched *planner.Launched // nil: it is down
	run      *sim.Stepper
	taken    []checkpointed // by the test
	crashes  int
	dead     bool // it failed as it should: it does not go on
	ended    bool // its input
	done     bool // it crashed when all was done
}

// checkpointed is a checkpoint that a step of the test has taken.
type checkpointed struct {
	id   checkpoint.ID
	name string
}

func (j *job) env() *exec.Env {
	e := exec.OS()
	e.FS, e.Now, e.Stdin = newFiles(j.script.files, j.memory), j.clock.Now, noInput()
	e.Stdout, e.Stderr = nowhere{}, nowhere{}
	if j.storm != nil {
		e.StepRows = j.storm.rows
	}
	return e
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// up starts the job if it is down: it goes on from a checkpoint, 0 for the newest, or afresh if there is none.
func (j *job) up(from checkpoint.ID) error {
	if j.launched != nil {
		return nil
	}
	env := j.env()
	if j.done = j.ended && finished(env.FS); j.done {
		return nil
	}
	width := j.width
	if j.storm != nil {
		width = j.storm.width()
	}
	c, diags, err := planner.Compile(j.script.Name, j.text, j.lib, env, planner.Options{Set: j.script.options.Set, Parallelism: width, Edit: j.edit,
		Print: &types.ConnArgs{Name: "blackhole", Args: map[string]any{}}})
	if err != nil {
		return err
	}
	if c == nil { // it was right when it was read
		return fmt.Errorf("the script does not compile: %s", diags[0].Message)
	}
	o := planner.Launch{Dir: checkpointDir, Mode: j.mode(c), Policy: func(p *checkpoint.Policy) { p.Interval, p.MinPause, p.Timeout = 0, 0, 0 },
		Store: func(s *checkpoint.Options) { s.Keep, s.RoomBytes = 1<<20, -1 }}
	if from != 0 {
		o.From = strconv.FormatUint(uint64(from), 10)
	}
	l, err := c.Launch(j.script.Name, j.text, j.lib, env, o)
	if err != nil {
		return err
	}
	return j.begin(l, env)
}

// finished reports whether the job came to its end before it crashed: the next run would begin anew.
func finished(fs disk.FS) bool {
	f, err := checkpoint.OpenReader(fs, checkpointDir)
	if err != nil {
		return false
	}
	defer f.Close()
	list := f.List()
	for _, i := range list {
		if i.ID == f.Head() {
			return i.Finished && i.Committed
		}
	}
	return false
}

// mode is how checkpoints are taken: as the script says.
func (j *job) mode(c *planner.Compiled) string {
	if j.storm != nil {
		return j.storm.mode()
	}
	if m, ok := c.Script.Set["checkpoint.mode"].(string); ok && m != "none" {
		return m
	}
	return "auto"
}

func (j *job) begin(l *planner.Launched, env *exec.Env) error {
	if l.From == nil {
		j.world.begin()
	}
	opt := sim.Options{Seed: j.rng.Uint64(), Clock: j.clock, Calm: j.storm == nil}
	if j.storm != nil {
		opt.Each = j.storm.each
	}
	run, err := sim.Start(l.Graph, env, l.Setup, opt)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	j.stats = append(j.stats, env.Stats)
	j.launched, j.run = l, run
	return nil
}

// crash lets the power go: what was not durable is lost.
func (j *job) crash() {
	j.crashes++
	j.launched, j.run = nil, nil
	j.memory = j.memory.Crash(j.rng)
}

// close ends the job where it stands.
func (j *job) close() error {
	if j.launched == nil {
		return nil
	}
	err := errors.Join(j.run.Run.Close(), j.launched.Close())
	j.launched, j.run = nil, nil
	return err
}

// settle lets the job do all that it can do at this time.
func (j *job) settle() error {
	for {
		if err := j.up(0); err != nil || j.done {
			return err
		}
		if j.storm != nil {
			j.storm.brew(j.run)
		}
		err := j.run.Settle()
		if errors.Is(err, sim.ErrCrash) {
			j.crash()
			continue
		}
		j.run.CrashAfter(0)
		return err
	}
}

// give hands rows to a source and lets the job process them.
func (j *job) give(source string, list []gift) error {
	for _, g := range list {
		j.world.given[source].Add(g.batch, g.failed)
	}
	return j.settle()
}

// end tells that no more rows come.
func (j *job) end() error {
	j.ended = true
	for _, g := range j.world.given {
		g.End()
	}
	return j.settle()
}

// advance lets time pass.
func (j *job) advance(d int64) error {
	if err := j.settle(); err != nil {
		return err
	}
	if j.storm != nil { // what was done is done at its time and not once more
		if _, err := j.checkpoint(""); err != nil {
			return err
		}
		j.storm.rest()
	}
	if err := j.run.Advance(d); err != nil {
		return err
	}
	if j.storm != nil {
		_, err := j.checkpoint("")
		return err
	}
	return nil
}

// checkpoint takes a checkpoint. A run that is over takes none.
func (j *job) checkpoint(name string) (checkpoint.ID, error) {
	for {
		if err := j.settle(); err != nil {
			return 0, err
		}
		if j.run.Over() {
			return 0, nil
		}
		answer := j.run.Run.Checkpoint(name)
		run := j.run
		if err := j.settle(); err != nil {
			return 0, err
		}
		select {
		case x := <-answer:
			return x.ID, x.Err
		default:
		}
		if run == j.run {
			return 0, errors.New("the checkpoint does not come to an end")
		}
	}
}

// rollback goes back to a checkpoint of the test, and on from there.
func (j *job) rollback(id checkpoint.ID) error {
	if j.launched == nil {
		return j.up(id)
	}
	if err := j.run.Run.Close(); err != nil {
		return err
	}
	env := j.env()
	l, _, err := j.launched.Rollback(id, env)
	j.launched, j.run = nil, nil
	if err != nil {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	return j.begin(l, env)
}

// find returns a checkpoint that the test has taken.
func (j *job) find(name string, number int64) (checkpoint.ID, error) {
	n := len(j.taken)
	for _, t := range j.taken {
		if name != "" && t.name == name {
			return t.id, nil
		}
	}
	switch {
	case name != "" || n == 0:
	case number == 0:
		return j.taken[n-1].id, nil
	case number > 0 && number <= int64(n):
		return j.taken[number-1].id, nil
	case number < 0 && -number < int64(n):
		return j.taken[int64(n)-1+number].id, nil
	}
	return 0, errors.New("the test has no such checkpoint")
}
