package conn

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/zeebo/xxh3"
)

// Going on with files that are followed: of each path is saved which file was being read and how far. A file that was
// rotated meanwhile is found under its new name in the same folder, read to its end, and then the one that took its
// place.

// fileID is the device and the number of a file on it.
type fileID struct{ dev, number uint64 }

// generation is what was being read under a path.
type generation struct {
	name   string
	number int
	id     fileID
	over   bool // it was read to its end
	begun  bool
	high   types.Instant
	at     place
	rows   int64 // emitted
	off    int64 // where to go on
	head   []byte
	seen   int64  // up to where it was read
	tail   uint64 // sum of the last bytes before that
	tailed int64  // how many
}

// Save writes what the task needs to go on.
func (t *followTask) Save(w *checkpoint.Writer) error {
	w.Uint(savedFollow)
	w.Int(t.w)
	w.Bool(t.idle)
	w.Int(t.rows)
	w.Uint(uint64(len(t.feeds)))
	for _, f := range t.feeds {
		g := generation{name: f.name, high: f.high}
		if x := f.feed; x != nil {
			g.number, g.id, g.over, g.begun, g.at, g.rows = x.in.number, x.in.id, x.over && !x.pending(), x.begun, x.at, x.rows
			g.off, g.head, g.seen = x.off, x.head, x.off
			if x.pending() {
				g.off, g.at.lines = x.off-int64(len(x.last)), x.from
			}
			end := x.last[max(0, len(x.last)-identity):]
			g.tail, g.tailed = xxh3.Hash(end), int64(len(end))
		}
		g.save(w)
	}
	return nil
}

func (g *generation) save(w *checkpoint.Writer) {
	w.String(g.name)
	w.Uint(uint64(g.number))
	w.Uint(g.id.dev)
	w.Uint(g.id.number)
	w.Bool(g.over)
	w.Bool(g.begun)
	w.Int(g.high)
	g.at.save(w)
	w.Int(g.rows)
	w.Int(g.off)
	w.Bytes(g.head)
	w.Int(g.seen)
	w.Uint(g.tail)
	w.Int(g.tailed)
}

func loadGeneration(r *checkpoint.Reader) *generation {
	g := &generation{name: r.String(), number: int(r.Uint()), id: fileID{r.Uint(), r.Uint()}, over: r.Bool(), begun: r.Bool(), high: r.Int(),
		at: loadPlace(r), rows: r.Int(), off: r.Int(), head: bytes.Clone(r.Bytes()), seen: r.Int(), tail: r.Uint(), tailed: r.Int()}
	if g.off < 0 || g.seen < g.off || g.tailed < 0 || g.tailed > identity || g.tailed > g.seen || len(g.head) > identity || g.number < 0 || g.number > 0xffff {
		r.Fail("byte %d of %s", g.off, g.name)
	}
	return g
}

// savedFollowing is what the task has saved.
type savedFollowing struct {
	w    types.Instant
	idle bool
	rows int64
	list []*generation
}

// loadFollow reads what Save wrote, behind its kind.
func loadFollow(r *checkpoint.Reader) (*savedFollowing, error) {
	v := &savedFollowing{w: r.Int(), idle: r.Bool(), rows: r.Int()}
	v.list = make([]*generation, r.Count(10))
	for i := range v.list {
		v.list[i] = loadGeneration(r)
	}
	if v.rows < 0 {
		r.Fail("%d rows", v.rows)
	}
	return v, r.Done()
}

// resume makes the task and its follower go on where the old ones were.
func (t *followTask) resume(f *follower) error {
	if len(t.Restore) != 1 || t.Restore[0] == nil {
		return fmt.Errorf("source %s: the checkpoint has nothing of it", t.Name)
	}
	r := t.Restore[0]
	if r.Uint() != savedFollow {
		return t.otherwise(r)
	}
	v, err := loadFollow(r)
	if err != nil {
		return damaged(t.Name, err)
	}
	t.w, t.idle, t.rows, t.again = v.w, v.idle, v.rows, true
	for _, g := range v.list {
		f.number = max(f.number, g.number+1)
		x := &followed{name: g.name, high: g.high, since: t.Env.Clock()}
		t.feeds = append(t.feeds, x)
		if slices.ContainsFunc(t.files, func(in *input) bool { return in.pipe && in.name == g.name }) {
			continue // it goes on where it is
		}
		tl := &tail{name: g.name}
		f.tails = append(f.tails, tl)
		if g.over || !g.begun {
			continue
		}
		if err := t.find(g, tl); err != nil {
			return err
		}
		if tl.f == nil {
			continue
		}
		tl.in = &input{name: g.name, number: g.number, size: -1, id: g.id}
		g.head = g.head[:min(len(g.head), int(min(g.off, identity)))] // what follows is read again
		tl.off, tl.head = g.off, bytes.Clone(g.head)
		if err := t.refeed(g, x, tl); err != nil {
			return err
		}
		if t.Env.Splits != nil {
			t.Env.Splits.Name(t.Ordinal, g.number, g.name)
		}
	}
	return nil
}

// refeed makes the feed of a file that is in the middle.
func (t *followTask) refeed(g *generation, x *followed, tl *tail) error {
	head := make([]byte, min(g.seen, 256<<10))
	if err := readAt(tl.f, head, 0, g.name); err != nil {
		return err
	}
	l, err := openLayout(t.form, g.name, trimMark(head), false)
	if err == errShort {
		err = fmt.Errorf("%s: the header does not end", g.name)
	}
	if err != nil {
		return err
	}
	d := newFeed(t.scan, tl.in, &t.rows)
	d.form, d.dec, d.begun = l, l.decoder(), true
	d.at, d.rows, d.off, d.head = g.at, g.rows, g.off, g.head
	x.feed = d
	return nil
}

// find opens the file that was being read: under its path or, if it was rotated, under another name beside it. If it was
// cut and begun anew in its place, there is nothing to go on with.
func (t *followTask) find(g *generation, tl *tail) error {
	names := []string{g.name}
	entries, err := t.Env.FS.ReadDir(filepath.Dir(g.name))
	if err == nil {
		for _, e := range entries {
			if name := filepath.Join(filepath.Dir(g.name), e.Name()); name != filepath.Clean(g.name) && !e.IsDir() {
				names = append(names, name)
			}
		}
	}
	known := g.id != fileID{}
	for _, sure := range []bool{true, false} { // by its number; else it may have been copied
		if sure && !known {
			continue
		}
		for _, name := range names {
			info, err := t.Env.FS.Stat(name)
			if err != nil || !info.Mode().IsRegular() || sure && idOf(info) != g.id {
				continue
			}
			if f := t.begins(name, g); f != nil {
				tl.f = f
				if tl.info, err = f.Stat(); err != nil {
					return fmt.Errorf("cannot read %s: %w", name, cause(err))
				}
				return nil
			}
			if sure && name == g.name { // written anew
				return nil
			}
		}
	}
	return changed(g.name, fmt.Sprintf("the file that was being read, up to its byte %d, is not there any more, nor under another name in its folder", g.seen))
}

// begins opens a file if it begins with what was read.
func (t *followTask) begins(name string, g *generation) exec.File {
	f, err := t.Env.FS.Open(name)
	if err != nil {
		return nil
	}
	head, end := make([]byte, len(g.head)), make([]byte, g.tailed)
	if readAt(f, head, 0, name) == nil && slices.Equal(head, g.head) && readAt(f, end, g.seen-g.tailed, name) == nil && xxh3.Hash(end) == g.tail {
		return f
	}
	f.Close()
	return nil
}
