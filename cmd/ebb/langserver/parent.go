package langserver

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// parentEvery is how often the server looks whether its editor still lives.
const parentEvery = 2 * time.Second

// follow ends the talk when the process of the editor is gone: one that was killed says no goodbye, and others may hold its
// end of the streams open.
func (s *Server) follow(pid int) {
	tick := time.NewTicker(parentEvery)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-tick.C:
		case <-s.conn.DisconnectNotify():
			return
		}
	}
	s.conn.Close()
}

// alive reports whether there is a process. Of one that belongs to somebody else there is an error, but another one.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
