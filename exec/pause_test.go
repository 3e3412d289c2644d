package exec

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/vec"
)

// A paused run gives nothing out and polls nothing, in whatever moment it was paused; what comes then is what comes undisturbed.
func TestPausedJobStandsStill(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		env, m := OS(), &memory{}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		j, err := Start(ctx, gatherGraph(env, 30_000, 1+rng.IntN(3), m, true), env, Setup{})
		require.NoError(t, err)
		for range 3 {
			time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
			select {
			case <-j.Pause():
			case <-j.Done():
			}
			m.mu.Lock()
			before := len(m.got)
			m.mu.Unlock()
			stages := j.Stages()
			time.Sleep(2 * time.Millisecond)
			require.Equal(t, stages, j.Stages())
			m.mu.Lock()
			require.Equal(t, before, len(m.got))
			m.mu.Unlock()
			j.Resume()
		}
		require.NoError(t, j.Wait())
		cancel()
		require.Len(t, m.got, 30_000)
		for i, x := range m.got {
			require.Equal(t, int64(i), x)
		}
	}
}

// A paused run can be stopped: it goes on to its end.
func TestPausedJobIsStopped(t *testing.T) {
	env, m := OS(), &memory{}
	j, err := Start(context.Background(), gatherGraph(env, -1, 2, m, true), env, Setup{})
	require.NoError(t, err)
	<-j.Pause()
	j.Stop()
	require.NoError(t, j.Wait())
}

// ticking counts its calls.
type ticking struct {
	Stateless
	ticks []int64
}

func (k *ticking) Process(_ int, b *vec.Batch, out *Out) error { out.Emit(b); return nil }
func (k *ticking) Tick(now int64, _ *Out) (int64, error) {
	k.ticks = append(k.ticks, now)
	return now + int64(5*time.Millisecond), nil
}

// Timers rest while a run is paused, and are not made up for afterwards; the goroutines of a paused run sleep.
func TestTimersRestWhilePaused(t *testing.T) {
	env, m := OS(), &memory{}
	k := &ticking{}
	g := gatherGraph(env, -1, 1, m, true)
	sink := g.Groups[1].Ports[0][0].Node
	g.Groups[1].Ports[0][0].Node = &Node{Name: "ticking", New: func(int) (Operator, error) { return k, nil }, Ports: [][]Link{{{Node: sink}}}}
	j, err := Start(context.Background(), g, env, Setup{})
	require.NoError(t, err)
	time.Sleep(20 * time.Millisecond)
	<-j.Pause()
	n := len(k.ticks)
	from := env.Clock()
	time.Sleep(50 * time.Millisecond)
	<-j.Pause()
	require.Len(t, k.ticks, n)
	require.Equal(t, from, env.Clock(), "the clock of rates and idleness")
	for _, task := range j.tasks {
		require.Zero(t, task.NextTick())
	}
	j.Resume()
	time.Sleep(12 * time.Millisecond)
	<-j.Pause()
	require.LessOrEqual(t, len(k.ticks), n+4)
	require.Greater(t, len(k.ticks), n)
	require.Less(t, env.Clock()-from, int64(45*time.Millisecond))
	j.Stop()
	require.NoError(t, j.Wait())
}

// A checkpoint that an aligned run has begun when it is paused, and one that is asked for then, are taken.
func TestPausedJobTakesSnapshots(t *testing.T) {
	for _, mode := range []checkpoint.Mode{checkpoint.Aligned, checkpoint.Unaligned, checkpoint.Auto} {
		env, m := OS(), &memory{pause: 200 * time.Microsecond}
		dir := t.TempDir()
		var store *checkpoint.Store
		policy := checkpoint.DefaultPolicy()
		policy.Mode, policy.Interval, policy.MaxOpen = mode, int64(time.Hour), 3
		g := gatherGraph(env, -1, 2, m, true)
		g.Edges[0].Limits = Limits{Rows: 300, Bytes: 1 << 20}
		j, err := Start(context.Background(), g, env, Setup{Checkpoints: &Checkpoints{Policy: policy, First: 1,
			Open: func() (s *checkpoint.Store, err error) {
				store, _, err = checkpoint.Open(env.FS, dir+"/cp", checkpoint.Options{})
				return store, err
			}}})
		require.NoError(t, err)
		time.Sleep(5 * time.Millisecond)
		first := j.Checkpoint("first")
		<-j.Pause()
		second := j.Checkpoint("second")
		for _, c := range []<-chan Outcome{first, second} {
			select {
			case o := <-c:
				require.NoError(t, o.Err)
			case <-time.After(time.Minute):
				t.Fatal("a checkpoint of a paused run does not come to its end, mode ", mode)
			}
		}
		j.Resume()
		o := <-j.Checkpoint("third")
		require.NoError(t, o.Err)
		<-j.Pause()
		j.Stop()
		require.NoError(t, j.Wait())
		require.NoError(t, store.Close())
	}
}
