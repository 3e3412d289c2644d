package exec

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
)

// unsealed is a sink that cannot seal what it was given.
type unsealed struct{ memory }

var errUnsealed = errors.New("no space left")

func (u *unsealed) Save(*checkpoint.Writer) error { return errUnsealed }
func (u *unsealed) Load(*checkpoint.Reader) error { return nil }

// A sink that cannot seal its rows has perhaps lost them: the run ends, it does not go on to the next checkpoint.
func TestSealThatFails(t *testing.T) {
	env, dir := OS(), t.TempDir()
	u := &unsealed{}
	src := &Group{Name: "source", Width: 1, Source: countTo(-1, nil)}
	src.Ports = [][]Link{{{Node: &Node{Name: "sink", Sink: true, New: func(int) (Operator, error) { return &SinkOperator{Sink: u, Stats: env.Stats}, nil }}}}}
	policy := checkpoint.DefaultPolicy()
	policy.Interval = int64(time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, err := Start(ctx, &Graph{Groups: []*Group{src}}, env, Setup{Checkpoints: &Checkpoints{Policy: policy, First: 1,
		Open: func() (*checkpoint.Store, error) {
			s, _, err := checkpoint.Open(env.FS, dir+"/cp", checkpoint.Options{})
			return s, err
		},
	}})
	require.NoError(t, err)
	err = j.Wait()
	require.ErrorIs(t, err, errUnsealed)
	_, output := errors.AsType[*OutputError](err)
	require.True(t, output)
}

// Large state is written for half of a step at a time, however little a piece takes; where the rows of a step are counted, as
// in the simulator, a piece at a time.
func TestPiecesFillHalfAStep(t *testing.T) {
	for _, counted := range []bool{false, true} {
		now, pieces := int64(0), 0
		env := &Env{Now: func() int64 { return now }}
		if counted {
			env.StepRows = func() int { return 1 }
		}
		w := checkpoint.NewWriter(1, 0)
		w.Later(100, func(*checkpoint.Writer) bool {
			now += writeTime / 4
			pieces++
			return pieces < 6
		})
		task := &Task{env: env}
		x := &Snapshot{task: task, nodes: []savedNode{{w: w, ahead: &ahead{}}}, report: func(*Snapshot) {}}
		x.missing.Store(1)
		task.snaps.writing = []*Snapshot{x}
		var seen []int
		for task.snaps.busy() {
			task.snaps.write(task)
			seen = append(seen, pieces)
		}
		if counted {
			require.Equal(t, []int{1, 2, 3, 4, 5, 6}, seen)
			require.EqualValues(t, writeTime/4, x.pause)
		} else {
			require.Equal(t, []int{4, 6}, seen)
			require.EqualValues(t, writeTime, x.pause)
		}
	}
}
