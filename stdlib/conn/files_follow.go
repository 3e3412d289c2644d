package conn

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/fsnotify/fsnotify"
)

// Following: one goroutine looks at all files of a source again and again and puts what was added into a queue; one
// task decodes it. A notification of the system only makes it look earlier, because notifications are lost on network
// file systems. A file that was rotated (renamed, truncated, written anew) is read to its end and then from its start
// again, as a new generation: its header is skipped and its rows are counted anew, while event time goes on.

const (
	followEvery = 100 * time.Millisecond // between looks
	listEvery   = time.Second            // between looks for new files
	identity    = 1 << 10                // first bytes that tell a file from one that took its place
)

// followTask is the source of files that are followed.
type followTask struct {
	*scan
	q        *queue
	stop     chan struct{}
	stopped  chan struct{}
	failures *exec.Failures
	feeds    []*followed
	cur      *feed // has pieces to send
	events   []event
	w        types.Instant
	idle     bool
	again    bool  // after a restart: tell both once more
	ended    bool  // a pipe has
	rows     int64 // sent, also those of earlier runs
}

// followed is a split: the generations of one path.
type followed struct {
	name  string
	feed  *feed
	high  types.Instant
	since types.Instant // when its last rows came

	told     bool // what follows was reported to people
	toldHigh types.Instant
	toldIdle bool
}

func openFollow(s *scan, exts []string) (*followTask, error) {
	ins, err := listFiles(s.Args, s.Env, exts)
	if err != nil && s.Restore == nil { // else they may be between two names
		return nil, err
	}
	s.files, s.tasks = ins, 1
	if s.Env.Stats != nil {
		s.Env.Stats.Unbounded.Store(true)
	}
	t := &followTask{scan: s, q: newQueue(s.wake(0)), stop: make(chan struct{}), stopped: make(chan struct{}), w: types.MinInstant, failures: &exec.Failures{}}
	if s.Failures != nil {
		t.failures = s.Failures()
	}
	f := &follower{t: t, exts: exts}
	if s.Restore != nil {
		if err := t.resume(f); err != nil {
			f.close()
			return nil, err
		}
	}
	for _, in := range ins {
		if in.pipe { // it is followed by being read
			if len(ins) > 1 {
				return nil, fmt.Errorf("%s is a pipe and cannot be followed together with other files; read it with a source of its own, and `union` the two", in.name)
			}
			close(t.stopped) // nobody waits for a read of a pipe
			go s.pump(in, t.q)
			return t, nil
		}
		if err := s.inspect(in); err != nil {
			return nil, err
		}
		if in.pack != "" {
			return nil, fmt.Errorf("%s is compressed and cannot be followed", in.name)
		}
		if f.has(in.name) {
			continue
		}
		f.add(in.name)
		t.of(in) // holds event time back until it has rows or counts as idle
	}
	go f.run()
	return t, nil
}

// Poll decodes what has come, or sends one piece of it.
func (t *followTask) Poll(out *exec.Out) (exec.Status, error) {
	if t.again {
		t.again = false
		retell(t.w, t.idle, out)
	}
	if t.cur != nil {
		if err := t.cur.next(out, t.failures); err != nil {
			return exec.Done, err
		}
		t.of(t.cur.in).high = t.cur.at.high
		if !t.cur.pending() {
			t.cur = nil
		}
		t.advance(out)
		return exec.More, nil
	}
	if t.ended {
		return exec.Done, nil
	}
	t.events = t.q.take(t.events[:0])
	if len(t.events) == 0 {
		t.advance(out)
		return exec.Idle, nil
	}
	last := t.events[len(t.events)-1]
	if last.err != nil {
		return exec.Done, last.err
	}
	f := t.of(last.in)
	if f.feed == nil || f.feed.in != last.in {
		f.feed = newFeed(t.scan, last.in, &t.rows)
		f.feed.at.high = f.high
		if t.Env.Splits != nil {
			t.Env.Splits.Name(t.Ordinal, last.in.number, last.in.name)
		}
	}
	if err := f.feed.push(t.events, last.end); err != nil {
		return exec.Done, err
	}
	t.q.recycle(t.events)
	if f.feed.pending() {
		t.cur = f.feed
		f.since = t.Env.Clock()
		if t.idle {
			t.idle = false
			out.Idle(false)
		}
	}
	t.ended = last.end && last.in.pipe
	return exec.More, nil
}

// of returns the split that a generation belongs to.
func (t *followTask) of(in *input) *followed {
	for _, f := range t.feeds {
		if f.name == in.name {
			return f
		}
	}
	f := &followed{name: in.name, high: types.MinInstant, since: t.Env.Clock()}
	t.feeds = append(t.feeds, f)
	return f
}

// advance sends the watermark: the lowest of the splits that are not idle, the highest if all are.
func (t *followTask) advance(out *exec.Out) {
	now := t.Env.Clock()
	t.report(now)
	if t.Time == nil {
		return
	}
	w, top, active := types.MaxInstant, types.MinInstant, 0
	for _, f := range t.feeds {
		x := behind(f.high, t.Lag)
		top = max(top, x)
		if t.Idle > 0 && now-f.since >= t.Idle && t.cur != f.feed {
			continue
		}
		active++
		w = min(w, x)
	}
	if active == 0 {
		w = top
	}
	if len(t.feeds) > 0 && w > t.w {
		t.w = w
		out.Watermark(w)
	}
	if active == 0 && t.Idle > 0 && !t.idle && len(t.feeds) > 0 {
		t.idle = true
		out.Idle(true)
	}
}

// report tells people how the splits stand.
func (t *followTask) report(now int64) {
	for _, f := range t.feeds {
		idle := t.Idle > 0 && now-f.since >= t.Idle && t.cur != f.feed
		if f.told && f.high == f.toldHigh && idle == f.toldIdle {
			continue
		}
		f.told, f.toldHigh, f.toldIdle = true, f.high, idle
		t.Env.Splits.Report(t.Env.Now(), exec.SplitState{Source: t.Name, Name: f.name, High: f.high, Lag: t.Lag, IdleAfter: t.Idle, Idle: idle})
	}
}

// Close ends the following.
func (t *followTask) Close() error {
	select {
	case <-t.stop:
	default:
		close(t.stop)
	}
	t.q.close()
	<-t.stopped
	return nil
}

// follower is the goroutine that looks at the files.
type follower struct {
	t      *followTask
	exts   []string
	tails  []*tail
	number int
	watch  *fsnotify.Watcher
}

// tail is a followed path as the follower sees it.
type tail struct {
	name    string
	f       exec.File
	info    fs.FileInfo // of f when it was looked at last
	in      *input      // its generation
	off     int64
	head    []byte // the first bytes of the generation, as far as they were read
	rotated bool   // another file has taken the path; f may still get its last lines
}

func (f *follower) add(name string) { f.tails = append(f.tails, &tail{name: name}) }

func (f *follower) has(name string) bool {
	return slices.ContainsFunc(f.tails, func(t *tail) bool { return t.name == name })
}

func (f *follower) close() {
	for _, t := range f.tails {
		if t.f != nil {
			t.f.Close()
		}
	}
}

func (f *follower) run() {
	defer close(f.t.stopped)
	defer f.close()
	hint := f.hints()
	if f.watch != nil {
		defer f.watch.Close()
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	listed := time.Now()
	for {
		for _, t := range f.tails {
			if !f.look(t) {
				return
			}
		}
		if time.Since(listed) >= listEvery {
			listed = time.Now()
			f.list()
		}
		select {
		case <-f.t.stop:
			return
		case <-tick.C:
		case <-hint:
		}
	}
}

// hints returns a channel that says that something may have changed; nil if the system has no notifications.
func (f *follower) hints() <-chan struct{} {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	for _, t := range f.tails {
		w.Add(filepath.Dir(t.name)) // also shows renames; without it the ticker is enough
	}
	f.watch = w
	hint := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case _, ok := <-w.Events:
				if !ok {
					return
				}
				select {
				case hint <- struct{}{}:
				default:
				}
			case _, ok := <-w.Errors:
				if !ok {
					return
				}
			}
		}
	}()
	return hint
}

// list looks for new files where a path is a folder or a pattern.
func (f *follower) list() {
	for _, p := range optStrings(f.t.Args, "path") {
		names, err := expand(p, f.t.Env.FS, f.exts)
		if err != nil {
			continue // a folder that is empty at the moment
		}
		slices.Sort(names)
		for _, n := range names {
			if !f.has(n) && !compressedName(n) {
				f.add(n)
			}
		}
	}
}

func compressedName(n string) bool {
	return strings.HasSuffix(n, ".gz") || strings.HasSuffix(n, ".zst")
}

// look reads what was added to a file and finds out about rotation. It reports false when the run has ended.
func (f *follower) look(t *tail) bool {
	if t.f == nil && !f.open(t) {
		return true // not there yet, or again
	}
	grown, ok := f.grow(t)
	if !ok {
		return false
	}
	info, err := f.t.Env.FS.Stat(t.name)
	switch {
	case err != nil:
		return true // being rotated: the old file stays open
	case !sameFile(info, t.info):
		if grown || !t.rotated {
			t.rotated = true // give its writer one more look's time
			return true
		}
	case info.Size() < t.off || !f.same(t, info):
	default:
		t.info = info
		return true
	}
	t.f.Close()
	t.f = nil
	if t.in != nil && !f.t.q.put(event{in: t.in, end: true}) {
		return false
	}
	t.in = nil
	return f.look(t)
}

// open begins a generation.
func (f *follower) open(t *tail) bool {
	if info, err := f.t.Env.FS.Stat(t.name); err != nil || disk.Passes(info) { // to open a pipe may block
		return false
	}
	file, err := f.t.Env.FS.Open(t.name)
	if err != nil {
		return false
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return false
	}
	t.f, t.info, t.off, t.head, t.rotated = file, info, 0, nil, false
	t.in = &input{name: t.name, number: f.number & 0xffff, size: -1, id: idOf(info)}
	f.number++
	return true
}

// grow puts what was added into the queue.
func (f *follower) grow(t *tail) (grown, ok bool) {
	if info, err := t.f.Stat(); err == nil && (info.Size() < t.off || !f.same(t, info)) {
		return false, true // truncated: what stands at the offset is not ours
	}
	for {
		b := f.t.q.buffer()
		n, err := t.f.ReadAt(b, t.off)
		if n > 0 {
			if len(t.head) < identity {
				t.head = append(t.head, b[:min(n, identity-len(t.head))]...)
			}
			t.off += int64(n)
			grown = true
			if f.t.Env.Stats != nil {
				f.t.Env.Stats.BytesIn.Add(int64(n))
			}
			if !f.t.q.put(event{in: t.in, data: b[:n]}) {
				return grown, false
			}
		} else {
			f.t.q.recycle([]event{{data: b}})
		}
		if err == io.EOF || n == 0 {
			return grown, true
		}
		if err != nil {
			f.t.q.put(event{in: t.in, err: fmt.Errorf("cannot read %s: %w", t.name, cause(err))})
			return grown, false
		}
	}
}

// same reports whether the file still begins with the bytes that were read.
func (f *follower) same(t *tail, now fs.FileInfo) bool {
	if now.Size() == t.info.Size() && now.ModTime().Equal(t.info.ModTime()) {
		return true
	}
	head := make([]byte, len(t.head))
	n, _ := t.f.ReadAt(head, 0)
	return bytes.Equal(head[:n], t.head)
}

// sameFile reports whether both are one file, as far as the system can tell.
func sameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) || a.Sys() == nil || b.Sys() == nil }
