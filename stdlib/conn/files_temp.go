package conn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// Hidden files beside an output: what is not visible yet, and the lock that keeps two runs from writing one output.

var (
	temporaries atomic.Int64 // tells the temporary files of one process apart
	inUse       sync.Map     // names of those that a sink of this process has
)

// temporary returns a new name for a temporary file beside the output name.
func (s *fileSink) temporary(name string) (string, error) {
	dir, base := filepath.Split(name)
	for range 1000 { // a process that was killed may have had the same number
		temp := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%d-%d", base, os.Getpid(), temporaries.Add(1)))
		if _, err := s.env.FS.Stat(temp); err != nil {
			inUse.Store(temp, true)
			s.mu.Lock()
			s.temps = append(s.temps, temp)
			s.mu.Unlock()
			return temp, nil
		}
	}
	return "", errors.New("no name is left for a temporary file")
}

// forgotten notes that a temporary file is none any more.
func (s *fileSink) forgotten(temp string) { inUse.Delete(temp) }

// discard removes a temporary file.
func (s *fileSink) discard(temp string) error {
	s.forgotten(temp)
	return s.env.FS.Remove(temp)
}

// sweep removes temporaries beside an output that a killed run left; not those that a checkpoint still needs.
func (s *fileSink) sweep(name string, needed ...string) {
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	entries, err := s.env.FS.ReadDir(dir)
	if err != nil {
		return
	}
next:
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "."+base+".tmp-")
		pid, _, _ := strings.Cut(rest, "-")
		n, err := strconv.Atoi(pid)
		if !ok || err != nil {
			continue
		}
		temp := filepath.Join(dir, e.Name())
		for _, k := range needed {
			if filepath.Clean(k) == temp {
				continue next
			}
		}
		if _, ours := inUse.Load(temp); !ours && (s.unlock != nil || n == os.Getpid() || !alive(n)) { // with the lock nobody else writes here
			s.env.FS.Remove(temp)
		}
	}
}

// alive reports whether a process may still run.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}

// lock keeps other runs from an output. Where the system has no locks there is none. A lock that is there and that nobody holds is
// one of a run that was killed.
func (s *fileSink) lock(name string) error {
	l, ok := s.env.FS.(disk.Locker)
	if !ok {
		return nil
	}
	_, missing := s.env.FS.Stat(name)
	left := missing == nil
	for since := time.Now(); ; {
		unlock, err := l.Lock(name)
		if errors.Is(err, disk.ErrLocked) && time.Since(since) < dying {
			left = false
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if errors.Is(err, disk.ErrLocked) {
			return &OutputError{s.path, errors.New("another run is writing it; wait for that one, or stop it, or write elsewhere")}
		}
		if err != nil {
			return nil
		}
		if _, err := s.env.FS.Stat(name); err != nil { // the run that had it has just removed it
			if unlock(); time.Since(since) < dying {
				continue
			}
			return nil
		}
		if left {
			s.env.Stats.Killed.Store(true)
		}
		s.unlock = func() {
			s.env.FS.Remove(name)
			unlock()
		}
		return nil
	}
}

// dying is how long a process that was killed may hold its locks.
const dying = time.Second

// release lets other runs write the output.
func (s *fileSink) release() {
	if s.unlock != nil {
		s.unlock()
		s.unlock = nil
	}
	for _, t := range s.temps {
		inUse.Delete(t)
	}
	s.temps = nil
}
