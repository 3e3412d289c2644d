package exec

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A rollback that is refused leaves the run as it is; else the run ends, everything of it is released, and only then another
// takes its place.
func TestJobIsRolledBack(t *testing.T) {
	env, m := OS(), &memory{}
	j, err := Start(context.Background(), gatherGraph(env, -1, 2, m, true), env, Setup{})
	require.NoError(t, err)
	_, err = j.Rollback(Rollback{Check: func() error { return errors.New("no") }, Back: func() (*Graph, *Env, Setup, error) {
		t.Fatal("it was refused")
		return nil, nil, Setup{}, nil
	}})
	var refused *RefusedRollback
	require.ErrorAs(t, err, &refused)
	select {
	case <-j.Done():
		t.Fatal("the run has ended")
	case <-time.After(5 * time.Millisecond):
	}

	after := &memory{}
	next, err := j.Rollback(Rollback{Back: func() (*Graph, *Env, Setup, error) {
		select {
		case <-j.Done():
		default:
			t.Error("the run still goes on")
		}
		env := OS()
		return gatherGraph(env, 1000, 2, after, true), env, Setup{Paused: true}, nil
	}})
	require.NoError(t, err)
	require.ErrorIs(t, j.Wait(), ErrRolledBack)
	require.True(t, next.Paused())
	time.Sleep(5 * time.Millisecond)
	after.mu.Lock()
	require.Empty(t, after.got)
	after.mu.Unlock()
	next.Resume()
	require.NoError(t, next.Wait())
	require.Len(t, after.got, 1000)
}
