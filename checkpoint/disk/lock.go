package disk

import "errors"

// ErrLocked says that a lock is held, by this process or another one.
var ErrLocked = errors.New("the lock is held by another process")

// Locker is what an FS has that can lock.
type Locker interface {
	// Lock makes the file if it is missing and holds it for this caller alone, until unlock is called or the process ends,
	// however it ends. ErrLocked: someone else holds it.
	Lock(name string) (unlock func() error, err error)
}
