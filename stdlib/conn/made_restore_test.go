package conn

import (
	"math/rand/v2"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/stretchr/testify/require"
)

func TestMadeGoesOn(t *testing.T) {
	for name, args := range map[string]map[string]any{
		"generate": {"fields": map[string]any{"id": "sequence", "at": "time"}, "count": int64(3_000), "rate": 1e4, "step": int64(1e9), "late": 0.1, "disorder": int64(3e9)},
		"nexmark":  {"kind": "bid", "events": int64(5_000), "rate": 2e4, "disorder": int64(100)},
		"persons":  {"kind": "person", "events": int64(150_000)},
	} {
		if name == "persons" {
			name = "nexmark"
		}
		want := 0
		var undisturbed []emission
		for seed := range uint64(10) {
			base := newSourceRun(t, name, args, 1)
			many := &restarts{t: t, rnd: rand.New(rand.NewPCG(3, seed)), now: func(n int64) { base.now += n }, reached: connector(t, name).Reached}
			many.open = func(restore []*checkpoint.Reader, width int) ([]exec.Source, error) {
				s := *base.scan
				s.Width, s.Restore, s.Hosts = width, restore, nil
				for range width {
					s.Hosts = append(s.Hosts, &exec.Host{Env: s.Env, Wake: func() {}})
				}
				return connector(t, name).Open(&s)
			}
			if seed == 0 {
				require.NoError(t, many.run(0))
				undisturbed, _ = many.sorted()
				want = len(undisturbed)
				require.NotZero(t, want)
				continue
			}
			require.NoError(t, many.run(5))
			have, _ := many.sorted()
			require.Len(t, have, want)
			require.Equal(t, undisturbed, have)
		}
	}
}

// What a task had told of event time it knows again.
func TestMadeKeepsItsWatermark(t *testing.T) {
	r := newSourceRun(t, "generate", map[string]any{"fields": map[string]any{"id": "sequence", "at": "time"}, "count": int64(1_000_000), "step": int64(1e9)}, 1)
	s := r.open()[0].(*madeTask)
	told := types.MinInstant
	out := exec.NewTap(func(_ int, it exec.Item) {
		if it.Kind == exec.Watermark {
			told = it.W
		}
	})
	for told == types.MinInstant {
		_, err := s.Poll(out)
		require.NoError(t, err)
	}
	w := checkpoint.NewWriter(1, 0)
	require.NoError(t, s.Save(w))
	data, _, _ := w.Output()
	r.scan.Restore = []*checkpoint.Reader{checkpoint.NewReader(1, data)}
	require.Equal(t, told, r.open()[0].(*madeTask).marked)
}

// A task that rests tells how far the others have brought the split, also when it is idle, and all is told again after a restart,
// though there may be as many tasks as before: those that listen may be others.
func TestMadeTellsWhileItRests(t *testing.T) {
	r := newSourceRun(t, "generate", map[string]any{"fields": map[string]any{"id": "sequence", "at": "time"}, "rate": 10.0, "step": int64(1e9)}, 3)
	r.scan.Idle = 50e6
	var told [3]types.Instant
	var idle [3]bool
	var outs [3]*exec.Out
	rows := 0
	forget := func() {
		for i := range outs {
			told[i], idle[i] = types.MinInstant, false
		}
	}
	for i := range outs {
		outs[i] = exec.NewTap(func(_ int, it exec.Item) {
			switch it.Kind {
			case exec.Rows:
				require.False(t, idle[i], "rows of a task that is idle")
				rows += it.Batch.Rows()
			case exec.Watermark:
				require.Greater(t, it.W, told[i])
				told[i] = it.W
			case exec.WentIdle, exec.WentActive:
				idle[i] = it.Kind == exec.WentIdle
			}
		})
	}
	forget()
	sources := r.open()
	poll := func() {
		for i, s := range sources {
			_, err := s.Poll(outs[i])
			require.NoError(t, err)
		}
	}
	all := [3]bool{true, true, true}
	for range 3 {
		quiet, waking := 0, 0
		for n := 0; n < 1000 || idle != all; n++ {
			had := rows
			r.now += 1e6
			poll()
			poll() // now all have heard of all
			require.Equal(t, [3]types.Instant{told[0], told[0], told[0]}, told)
			switch {
			case idle == all:
				quiet++
			case rows > had:
				waking++
			}
		}
		require.Greater(t, quiet, 400)
		require.InDelta(t, 10, waking, 1)
		require.Greater(t, told[0], types.MinInstant)
		was := told
		r.scan.Restore = nil
		for _, s := range sources {
			w := checkpoint.NewWriter(1, 0)
			require.NoError(t, s.(*madeTask).Save(w))
			data, _, _ := w.Output()
			r.scan.Restore = append(r.scan.Restore, checkpoint.NewReader(1, data))
		}
		sources = r.open()
		forget()
		poll()
		require.Equal(t, was, told)
		require.Equal(t, all, idle)
	}
}

// The pace goes on where it was: the time of the standstill is not made up for.
func TestPaceGoesOn(t *testing.T) {
	r := newSourceRun(t, "generate", map[string]any{"fields": map[string]any{"id": "sequence"}, "rate": 1000.0}, 1)
	rows := 0
	out := exec.NewTap(func(_ int, it exec.Item) {
		if it.Kind == exec.Rows {
			rows += it.Batch.Rows()
		}
	})
	second := func(s exec.Source) {
		for range 1000 {
			_, err := s.Poll(out)
			require.NoError(t, err)
			r.now += 1e6
		}
	}
	r.now = 1
	s := r.open()[0]
	second(s)
	require.InDelta(t, 1000, rows, 10)
	w := checkpoint.NewWriter(1, 0)
	require.NoError(t, s.(*madeTask).Save(w))
	data, _, _ := w.Output()
	r.now += 3600e9
	r.scan.Restore = []*checkpoint.Reader{checkpoint.NewReader(1, data)}
	s = r.open()[0]
	second(s)
	require.InDelta(t, 2000, rows, 10)
	require.Equal(t, types.MinInstant, s.(*madeTask).marked)
}
