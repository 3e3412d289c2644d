//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// onResize calls f when the size of the terminal changes, until the returned function is called.
func onResize(f func()) (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-c:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() { signal.Stop(c); close(done) }
}
