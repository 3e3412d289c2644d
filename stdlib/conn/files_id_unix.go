//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package conn

import (
	"io/fs"
	"syscall"
)

// idOf returns what the system tells files apart by; zero if it is not known.
func idOf(info fs.FileInfo) fileID {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{uint64(s.Dev), uint64(s.Ino)}
	}
	return fileID{}
}
