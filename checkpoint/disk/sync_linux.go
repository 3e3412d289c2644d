package disk

import (
	"os"
	"syscall"
)

type osFile struct{ *os.File }

// Sync flushes content and size; the times of the file are left to the system.
func (f osFile) Sync() error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
