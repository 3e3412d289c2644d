package planner

import (
	"errors"
	"os"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
)

// dying is how long a process that was killed may hold its locks.
const dying = time.Second

// Patiently calls f again while it says that another process holds the checkpoint folder, which may be on its way out.
func Patiently[T any](f func() (T, error)) (x T, err error) {
	for since := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		var locked *checkpoint.LockedError
		if x, err = f(); !errors.As(err, &locked) || locked.Owner.PID == os.Getpid() || time.Since(since) > dying {
			return x, err
		}
	}
}
