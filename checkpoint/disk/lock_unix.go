//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"os"
	"syscall"
)

// Lock holds the file by flock, which the system takes back when the process ends.
func (OS) Lock(name string) (unlock func() error, err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	switch err {
	case nil:
		return f.Close, nil
	case syscall.EWOULDBLOCK:
		err = ErrLocked
	default:
		err = &os.PathError{Op: "flock", Path: name, Err: err}
	}
	f.Close()
	return nil, err
}
