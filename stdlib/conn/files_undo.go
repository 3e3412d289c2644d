package conn

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

// Rolling back: no run writes the outputs. Each is made of a part of what it holds, of what earlier rollbacks have cut
// off, and ends where the checkpoint says. First everything that is cut off now is copied aside, and then a list of what
// is to be done is written there; only then the outputs are changed, in a way that may be repeated.

// remake says how one file is made what it was.
type remake struct {
	name string
	had  int64 // bytes before
	keep int64 // of them stay; the others are set aside
	back []cutting
	rows int64 // in what is set aside
	gone bool  // there was no such file
}

// cutting is a run of bytes that a rollback has cut off.
type cutting struct {
	file      string // in which it is kept, behind off bytes
	off, size int64
}

// size is that of the file when it is made.
func (m *remake) size() int64 {
	n := m.keep
	for _, c := range m.back {
		n += c.size
	}
	return n
}

// cut shortens what the file is made of.
func (m *remake) cut(size int64) {
	m.keep = min(m.keep, size)
	at := m.keep
	for i := range m.back {
		m.back[i].size = min(m.back[i].size, size-at)
		if at += m.back[i].size; at == size {
			m.back = m.back[:i+1]
			break
		}
	}
}

// Undo makes the outputs what they were at a checkpoint.
func (s *fileSink) Undo(u *exec.Undo) ([]exec.Undone, error) {
	if o := s.files[""]; o != nil && (o.stdout || o.direct) {
		return []exec.Undone{{Output: o.title(), Why: "what went out cannot be taken back"}}, nil
	}
	plan, err := s.undo(u.State, u.Aside, u.Back)
	if err != nil {
		return nil, err
	}
	var out []exec.Undone
	for _, m := range plan {
		out = append(out, exec.Undone{Output: m.name, Cut: m.had - m.keep, Rows: m.rows, Back: m.size() - m.keep})
	}
	if len(out) == 0 {
		out = append(out, exec.Undone{Output: s.path})
	}
	return out, nil
}

// title names an output to people.
func (o *outFile) title() string {
	if o.stdout {
		return "standard output"
	}
	return o.name
}

// undo makes the outputs what they were at a checkpoint, of which state is what was saved. What is cut off goes into the
// folder aside; "" changes nothing and only says what would be done. back are folders that earlier rollbacks have filled,
// the newest first: what they cut comes back.
func (s *fileSink) undo(state *checkpoint.Reader, aside string, back []string) ([]*remake, error) {
	v, _, err := loadOutput(state)
	if err == nil && v == nil {
		err = errors.New("it was something else then")
	}
	if err != nil {
		return nil, fmt.Errorf("what the checkpoint says of the output %s makes no sense: %w", s.path, err)
	}
	for _, o := range s.order { // what the sink has begun is none of it
		s.shut(o)
		if o.temp != "" {
			s.discard(o.temp)
			o.temp = ""
		}
	}
	list := filepath.Join(aside, fmt.Sprintf("%016x.list", xxh3.HashString(v.path)))
	plan, err := s.readPlan(list)
	if aside == "" || errors.Is(err, fs.ErrNotExist) {
		if plan, err = s.plan(v, aside, back); err == nil && aside != "" {
			err = s.writePlan(list, plan)
		}
	}
	if err != nil {
		return nil, outputError(s.path, err)
	}
	if aside == "" {
		return plan, nil
	}
	for _, m := range plan {
		if err := s.remake(m); err != nil {
			return nil, outputError(m.name, err)
		}
	}
	return plan, nil
}

// plan finds what is to be done, and sets aside what will be cut off.
func (s *fileSink) plan(v *savedOutput, aside string, back []string) ([]*remake, error) {
	target, sizes := map[string]*outFile{}, map[string]int64{}
	files := map[string]*remake{}
	see := func(name string) *remake {
		if m := files[name]; m != nil {
			return m
		}
		m := &remake{name: name}
		if info, err := s.env.FS.Stat(name); err == nil {
			m.had, m.keep = info.Size(), info.Size()
		}
		files[name] = m
		return m
	}
	for _, o := range v.files {
		target[o.name], sizes[o.name] = o, o.size
		see(o.name)
	}
	made, err := v.partitions(s.env.FS)
	if err != nil {
		return nil, err
	}
	for _, o := range made {
		see(o.name)
	}
	for _, o := range v.others {
		if target[o.name] == nil {
			see(o.name)
			sizes[o.name] = o.size
		}
	}
	for _, dir := range back {
		if fault.On("nothing-put-back") {
			break
		}
		earlier, err := s.readPlan(filepath.Join(dir, fmt.Sprintf("%016x.list", xxh3.HashString(v.path))))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range earlier {
			m := see(e.name)
			if e.keep > m.size() {
				continue // an earlier one begins further in front
			}
			m.cut(e.keep)
			if e.had > e.keep {
				m.back = append(m.back, cutting{cutName(dir, e.name), cutHead, e.had - e.keep})
			}
		}
	}
	var plan []*remake
	for _, m := range files {
		size, o := sizes[m.name], target[m.name]
		least := size // what must be there
		for _, in := range v.list {
			for _, e := range in.extents {
				if e.out == o && (in.file == "" || s.there(in.file)) {
					least = min(least, e.at)
				}
			}
		}
		if m.size() < least {
			return nil, &OutputError{m.name, fmt.Errorf("it has %d bytes, %d had been written at the checkpoint; somebody else has changed it", m.size(), size)}
		}
		m.cut(size)
		_, was := sizes[m.name]
		m.gone = !was
		if m.had > m.keep || len(m.back) > 0 || m.gone && s.there(m.name) {
			plan = append(plan, m)
		}
	}
	sort.Slice(plan, func(i, j int) bool { return plan[i].name < plan[j].name })
	if aside == "" {
		return plan, nil
	}
	if err := s.env.FS.MkdirAll(aside); err != nil {
		return nil, err
	}
	for _, m := range plan {
		if err := s.setAside(aside, m); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// cutName is the file that keeps what was cut off an output: its sum and length, and the bytes.
func cutName(dir, output string) string {
	return filepath.Join(dir, fmt.Sprintf("%016x.cut", xxh3.HashString(output)))
}

const cutHead = 16

// setAside copies what will be cut off.
func (s *fileSink) setAside(dir string, m *remake) error {
	if m.had == m.keep {
		return nil
	}
	from, err := s.env.FS.Open(m.name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := s.env.FS.Create(cutName(dir, m.name))
	if err != nil {
		return err
	}
	sum := xxh3.New()
	w := io.NewOffsetWriter(to, cutHead)
	cut := io.NewSectionReader(from, m.keep, m.had-m.keep)
	_, err = io.Copy(io.MultiWriter(w, sum), cut)
	if err == nil {
		_, err = cut.Seek(0, io.SeekStart)
		m.rows = s.rowsIn(cut, m.keep == 0)
	}
	if err == nil {
		var head checkpointHead
		head.put(sum.Sum64(), uint64(m.had-m.keep))
		_, err = to.WriteAt(head[:], 0)
	}
	if err == nil && !fault.On("aside-unflushed") {
		err = to.Sync()
	}
	if e := to.Close(); err == nil {
		err = e
	}
	return err
}

// remake makes a file of its parts. It may be repeated.
func (s *fileSink) remake(m *remake) error {
	if m.gone {
		if err := s.env.FS.Remove(m.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// Its folder may have gone with it when the power failed: it had not been flushed then, either.
		if err := s.env.FS.SyncDir(filepath.Dir(m.name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := s.env.FS.MkdirAll(filepath.Dir(m.name)); err != nil {
		return err
	}
	to, err := s.env.FS.Edit(m.name)
	if err != nil {
		return err
	}
	defer func() {
		if to != nil {
			to.Close()
		}
	}()
	if err := to.Truncate(m.keep); err != nil {
		return err
	}
	at := m.keep
	for _, c := range m.back {
		if err := s.putBack(to, at, c); err != nil {
			return err
		}
		at += c.size
	}
	if err := to.Sync(); err != nil {
		return err
	}
	err = to.Close()
	to = nil
	for _, d := range s.folders(m.name) {
		if err == nil {
			err = s.env.FS.SyncDir(d)
		}
	}
	return err
}

// putBack writes what was cut off once, after it has been read to its end: it must be whole.
func (s *fileSink) putBack(to exec.File, at int64, c cutting) error {
	f, err := s.env.FS.Open(c.file)
	if err != nil {
		return err
	}
	defer f.Close()
	var head checkpointHead
	if err := readAt(f, head[:], 0, c.file); err != nil {
		return err
	}
	want, size := head.get()
	sum := xxh3.New()
	if size < uint64(c.size) || size > 1<<62 {
		return fmt.Errorf("%s is damaged", c.file)
	}
	if _, err := io.Copy(sum, io.NewSectionReader(f, cutHead, int64(size))); err != nil {
		return err
	}
	if sum.Sum64() != want {
		return fmt.Errorf("%s is damaged", c.file)
	}
	_, err = io.Copy(io.NewOffsetWriter(to, at), io.NewSectionReader(f, c.off, c.size))
	return err
}

// rowsIn counts the rows of a part of an output.
func (s *fileSink) rowsIn(r io.Reader, begins bool) int64 {
	switch s.pack {
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return 0
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return 0
		}
		defer z.Close()
		r = z
	}
	rows, quoted, buf := int64(0), false, make([]byte, 64<<10)
	csv := strings.HasPrefix(s.ext, ".csv")
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			switch {
			case c == '"' && csv:
				quoted = !quoted
			case c == '\n' && !quoted:
				rows++
			}
		}
		if err != nil {
			break
		}
	}
	if begins && len(s.header) > 0 {
		rows--
	}
	return max(rows, 0)
}
