package exec

import (
	"fmt"
	"runtime"
	"sync"
)

// loads lets operators take their state back at the same time, one a core: to index it takes longer than to read it. What
// they do touches nothing but themselves, so the result does not depend on the schedule.
type loads struct {
	slots chan struct{}
	wg    sync.WaitGroup
	mu    sync.Mutex
	first int // of the operators in order, the first that failed
	n     int
	err   error
}

func newLoads() *loads { return &loads{slots: make(chan struct{}, runtime.GOMAXPROCS(0))} }

// begin runs f as soon as a core is free for it, so that no more is in memory twice than cores are busy.
func (l *loads) begin(f func() error) {
	i := l.n
	l.n++
	l.wg.Go(func() {
		l.slots <- struct{}{}
		defer func() { <-l.slots }()
		err := guarded(f)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil && (l.err == nil || i < l.first) {
			l.err, l.first = err, i
		}
	})
}

// wait returns when all are done, with the error of the first that failed.
func (l *loads) wait() error {
	l.wg.Wait()
	return l.err
}

func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, stack())
		}
	}()
	return f()
}
