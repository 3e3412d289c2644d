//go:build amd64 || arm64

package disk

import "syscall"

var _ Beginner = osFile{}

// Begin is done by a goroutine of its own, with a descriptor of its own: the call waits where the disk has more to do than
// it can queue, and the file may be closed meanwhile.
func (f osFile) Begin(off, n int64) {
	fd, _, err := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_DUPFD_CLOEXEC, 0)
	if err != 0 {
		return
	}
	go func() {
		syscall.SyncFileRange(int(fd), off, n, syncFileRangeWrite)
		syscall.Close(int(fd))
	}()
}

const syncFileRangeWrite = 2 // SYNC_FILE_RANGE_WRITE of sync_file_range(2)
