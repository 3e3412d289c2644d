package conn

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
	"github.com/zeebo/xxh3"
)

// Exactly once: an interval is put into the outputs when its checkpoint is durable, at the places that were fixed when it
// was sealed, so that doing it twice does no harm. It stays in what is saved until a later checkpoint, with which the
// grown outputs were flushed, is durable. After a restart the outputs are cut to what the checkpoint knows of, and what
// it holds is put into them again.

// Hold reports whether rows are added to files that are there.
func (s *fileSink) Hold() bool {
	o := s.files[""]
	s.held = (o == nil || !o.stdout && !o.direct) && !fault.On("unheld")
	return s.held && s.keep
}

// Save seals what was written since the last checkpoint.
func (s *fileSink) Save(w *checkpoint.Writer) error {
	if o := s.files[""]; o != nil && (o.stdout || o.direct) {
		return s.savePassing(o, w)
	}
	s.sweepOnce()
	var err error
	if s.stage == nil {
		err = s.unstage(w.ID)
	} else {
		err = s.seal(w.ID)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved().save(w)
	var grown []*interval
	for _, in := range s.sealed {
		if !in.applied {
			in.named = w.ID
			s.sealFile(in, w)
			continue
		}
		if in.followed == 0 {
			in.followed = w.ID
		}
		if !in.flushed {
			grown = append(grown, in)
		}
	}
	if len(grown) > 0 {
		w.Seal(nothing(grown[0]), func() error { return s.flush(grown) })
	}
	return nil
}

// nothing is an empty range: the flush is what matters, the bytes are still in the checkpoint.
func nothing(in *interval) checkpoint.Sealed {
	return checkpoint.Sealed{Path: in.extents[0].out.name, Sum: xxh3.Hash(nil)}
}

// sealFile makes the file of an interval part of a checkpoint. It may have to be read for that, a piece at a time.
func (s *fileSink) sealFile(in *interval, w *checkpoint.Writer) {
	if in.file == "" || in.again {
		return
	}
	seal := func() {
		flush := func() error { return s.flushFile(in) }
		if in.durable.Load() {
			flush = nil
		}
		w.Seal(checkpoint.Sealed{Path: in.file, Length: in.size, Sum: in.sum}, flush)
	}
	if in.summed {
		seal()
		return
	}
	sum, at, buf := xxh3.New(), int64(0), []byte(nil)
	w.Later(0, func(*checkpoint.Writer) bool { // which takes bytes only: what is sealed is told to w
		if w.Aborted() {
			return false
		}
		if buf == nil {
			buf = make([]byte, 512<<10)
		}
		b := buf[:min(int64(len(buf)), in.size-at)]
		f, err := s.env.FS.Open(in.file)
		if err == nil {
			err = readAt(f, b, at, in.file)
			f.Close()
		}
		if err != nil { // the flush, which cannot be left out, says it
			w.Seal(checkpoint.Sealed{Path: in.file, Length: in.size}, func() error { return outputError(in.file, err) })
			return false
		}
		sum.Write(b)
		if at += int64(len(b)); at < in.size {
			return true
		}
		in.sum, in.summed = sum.Sum64(), true
		seal()
		return false
	})
}

// flushFile makes the file of an interval durable.
func (s *fileSink) flushFile(in *interval) error {
	if in.durable.Load() { // and perhaps gone
		return nil
	}
	err := s.sync(in.file)
	// What the system holds of a file that failed looks whole, and nobody would notice that the disk does not have it. One
	// that only this checkpoint names goes; one that was found belongs to others, too, and is written once more.
	if err != nil && (!in.again || fault.On("remove-named") || s.touch(in.file) != nil) {
		s.env.FS.Remove(in.file)
	}
	for _, d := range s.folders(in.file) {
		if err == nil {
			err = s.syncDir(d)
		}
	}
	if err != nil {
		return outputError(in.file, err)
	}
	in.durable.Store(true)
	s.rooted.Store(true)
	return nil
}

func (s *fileSink) sync(name string) error {
	f, err := s.env.FS.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// touch writes a file over itself, so that the next sync of it has to write all of it.
func (s *fileSink) touch(name string) error {
	info, err := s.env.FS.Stat(name)
	if err != nil {
		return err
	}
	f, err := s.env.FS.Edit(name)
	if err != nil {
		return err
	}
	buf := make([]byte, 512<<10)
	for at := int64(0); at < info.Size() && err == nil; at += int64(len(buf)) {
		b := buf[:min(int64(len(buf)), info.Size()-at)]
		if err = readAt(f, b, at, name); err == nil {
			_, err = f.WriteAt(b, at)
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// flush makes durable what intervals have put into the outputs. Once it has failed it fails: the system says that a file
// is durable when it is asked again, though the disk may not have it (see Rebello et al., "Can Applications Recover from
// fsync Failures?", ATC 2020). The bytes are still kept elsewhere, from where the next run writes them once more.
func (s *fileSink) flush(list []*interval) (err error) {
	s.mu.Lock()
	if err = s.broken; err == nil {
		defer func() {
			if err != nil {
				s.mu.Lock()
				s.broken = err
				s.mu.Unlock()
			}
		}()
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var files, dirs []string
	add := func(to *[]string, name string) {
		if !seen[name] {
			seen[name] = true
			*to = append(*to, name)
		}
	}
	for _, in := range list {
		for _, e := range in.extents {
			add(&files, e.out.name)
		}
		for _, d := range in.names {
			add(&dirs, d)
		}
	}
	err = s.each(files, func(name string) error { return outputError(name, s.sync(name)) })
	if err == nil {
		err = s.each(dirs, func(name string) error { return outputError(name, s.syncDir(name)) })
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range list {
		in.flushed = true
	}
	return nil
}

// flushers is how many files are flushed at a time: the system makes one write of many flushes.
const flushers = 16

// each calls f for every name, for many at a time if there are many, and returns the first error.
func (s *fileSink) each(names []string, f func(string) error) error {
	n := 1
	if len(names) >= flushers {
		n = flushers
	}
	if fault.On("flush-few") {
		names = names[:min(len(names), flushers)]
	}
	errs, work := make([]error, n), make([]func(), n)
	for k := range n {
		work[k] = func() {
			for i := k; i < len(names) && errs[k] == nil; i += n {
				errs[k] = f(names[i])
			}
		}
	}
	s.env.Together(work)
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

// Commit makes visible what was written up to a checkpoint that is durable.
func (s *fileSink) Commit(id checkpoint.ID, settled bool) error {
	if o := s.files[""]; o != nil && (o.stdout || o.direct) {
		return nil
	}
	if fault.On("commit-nothing") {
		return nil
	}
	if id == exec.Ended {
		if s.stage == nil {
			return s.show()
		}
		if err := s.seal(0); err != nil {
			return err
		}
	}
	if err := s.goOn(); err != nil {
		return err
	}
	if err := s.apply(id); err != nil {
		return err
	}
	s.mu.Lock()
	done := s.done
	if s.settled = max(s.settled, id-1); settled || fault.On("unsettled") {
		s.settled = max(s.settled, id)
	}
	s.mu.Unlock()
	if done { // the checkpoint may be the last one, which no other follows
		return s.settle()
	}
	return s.forget(func(in *interval) bool {
		return in.applied && (in.followed > 0 && in.followed <= id || fault.On("forget-committed"))
	})
}

// settle makes durable all that is in the outputs and forgets it, but for files that prove that a checkpoint was
// published.
func (s *fileSink) settle() error {
	s.mu.Lock()
	id := s.settled
	var list []*interval
	for _, in := range s.sealed {
		if in.applied && !in.flushed {
			list = append(list, in)
		}
	}
	s.mu.Unlock()
	if err := s.flush(list); err != nil {
		return err
	}
	return s.forget(func(in *interval) bool { return in.flushed && in.named <= id })
}

// forget drops intervals that are not needed any more, with their files.
func (s *fileSink) forget(over func(*interval) bool) error {
	s.mu.Lock()
	var files []*interval
	s.sealed = slices.DeleteFunc(s.sealed, func(in *interval) bool {
		if !over(in) {
			return false
		}
		if in.file != "" {
			files = append(files, in)
		}
		return true
	})
	s.mu.Unlock()
	for _, in := range files {
		if err := s.retire(in); err != nil {
			return err
		}
	}
	return nil
}

// apply puts the intervals up to a checkpoint into the outputs.
func (s *fileSink) apply(id checkpoint.ID) error {
	s.mu.Lock()
	var due []*interval
	for _, in := range s.sealed {
		if (in.id <= id || fault.On("commit-too-much")) && !in.applied {
			due = append(due, in)
		}
	}
	clear := s.parts != nil && !s.keep && !s.cleared
	if clear { // files of an earlier run, or of after the checkpoint: also where there are no rows to replace them
		s.cleared = true
	}
	ours := map[string]bool{} // outputs up to the checkpoint; those that the task has begun since are not there yet
	for _, o := range s.loaded {
		ours[o.name] = true
	}
	for _, in := range s.sealed {
		for _, e := range in.extents {
			ours[e.out.name] = ours[e.out.name] || in.id <= id
		}
	}
	s.mu.Unlock()
	if clear {
		if err := s.clearFolder(s.path, ours); err != nil {
			return err
		}
	}
	for _, in := range due {
		var err error
		if in.whole {
			err = s.rename(in)
		} else {
			err = s.copy(in)
		}
		if err != nil {
			return err
		}
		s.mu.Lock()
		in.applied = true
		s.mu.Unlock()
	}
	return nil
}

// rename makes the file of an interval the output. It keeps its own name, too, until the interval is forgotten: a
// checkpoint that is being published may name it.
func (s *fileSink) rename(in *interval) error {
	o := in.extents[0].out
	if in.again && !s.there(in.file) {
		return s.inPlace(&in.extents[0])
	}
	from, err := s.temporary(o.name)
	if err != nil {
		return outputError(o.name, err)
	}
	if s.env.FS.Link(in.file, from) != nil { // the system has no links
		if err := s.double(in.file, from); err != nil {
			return outputError(o.name, err)
		}
	}
	if err := s.env.FS.Rename(from, o.name); err != nil {
		return outputError(o.name, err)
	}
	s.discard(from) // it stays where both were names of one file
	in.names = append(in.names, s.folders(o.name)...)
	return nil
}

// double copies a file; the copy is not flushed.
func (s *fileSink) double(name, to string) error {
	from, err := s.env.FS.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := s.env.FS.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(struct{ io.Writer }{f}, struct{ io.Reader }{from})
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func (s *fileSink) there(name string) bool {
	_, err := s.env.FS.Stat(name)
	return err == nil
}

// inPlace checks that an extent whose bytes are kept nowhere else is in its output.
func (s *fileSink) inPlace(e *extent) error {
	end := make([]byte, min(e.size, glance))
	f, err := s.env.FS.Open(e.out.name)
	if err == nil {
		err = readAt(f, end, e.at+e.size-int64(len(end)), e.out.name)
		f.Close()
	}
	if err != nil {
		return outputError(e.out.name, err)
	}
	if xxh3.Hash(end) != e.tail {
		return &OutputError{e.out.name, fmt.Errorf("its bytes up to %d are not those that were written; somebody else has changed it. %s", e.at+e.size, anew)}
	}
	return nil
}

const anew = "Start anew with --fresh"

// copy writes the extents of an interval into the outputs.
func (s *fileSink) copy(in *interval) error {
	var from exec.File
	var buf []byte
	gone := in.again && in.file != "" && !s.there(in.file)
	if in.file != "" && !gone {
		var err error
		if from, err = s.env.FS.Open(in.file); err != nil {
			return outputError(in.file, err)
		}
		defer from.Close()
		buf = make([]byte, copies*s.inlineBytes())
	}
	for i := 0; i < len(in.extents); {
		o := in.extents[i].out
		n := i + 1
		for n < len(in.extents) && in.extents[n].out == o {
			n++
		}
		if err := s.copyTo(o, in, in.extents[i:n], from, buf); err != nil {
			return outputError(o.name, err)
		}
		i = n
	}
	return nil
}

// copyExtent copies an extent from the file of its interval, by way of buf, into its output, which is flushed with the next
// checkpoint: what has been copied is on its way to the disk meanwhile.
func copyExtent(to exec.File, e *extent, from exec.File, name string, buf []byte) error {
	at := e.at
	if fault.On("copy-at-end") {
		if info, err := to.Stat(); err == nil {
			at = info.Size()
		}
	}
	begun := at
	for n := int64(0); n < e.size; {
		b := buf[:min(e.size-n, int64(len(buf))-(at+n)%int64(len(buf)))] // it ends where pages of the system may
		if err := readAt(from, b, e.off+n, name); err != nil {
			return err
		}
		if _, err := to.WriteAt(b, at+n); err != nil {
			return err
		}
		n += int64(len(b))
		begun = disk.Begin(to, begun, at+n)
	}
	return nil
}

// copyTo writes extents of one output.
func (s *fileSink) copyTo(o *outFile, in *interval, list []extent, from exec.File, buf []byte) (err error) {
	var to exec.File
	defer func() {
		if to != nil {
			if e := to.Close(); err == nil {
				err = e
			}
		}
	}()
	for i := range list {
		e := &list[i]
		if e.data == nil && from == nil {
			if err := s.inPlace(e); err != nil {
				return err
			}
			continue
		}
		if to == nil {
			if to, err = s.openOutput(o, in, e.at == 0); err != nil {
				return err
			}
		}
		if e.data != nil {
			if _, err = to.WriteAt(e.data, e.at); err != nil {
				return err
			}
			continue
		}
		if err := copyExtent(to, e, from, in.file, buf); err != nil {
			return err
		}
	}
	return nil
}

// openOutput opens an output to write into it. One that begins here replaces what has its name.
func (s *fileSink) openOutput(o *outFile, in *interval, begins bool) (exec.File, error) {
	if begins {
		if s.parts != nil {
			if err := s.env.FS.MkdirAll(filepath.Dir(o.name)); err != nil {
				return nil, err
			}
		}
		in.names = append(in.names, s.folders(o.name)...)
		if !in.again { // else it is cut already, and bytes behind these may be kept nowhere else
			return s.env.FS.Create(o.name)
		}
	}
	return s.env.FS.Edit(o.name)
}

// closeStaged ends a run that takes checkpoints.
func (s *fileSink) closeStaged() error {
	if g := s.stage; g.f != nil {
		g.f.Close()
		s.discard(g.name)
	}
	// What is sealed may belong to a checkpoint that is durable; what has been committed is made durable, too, so that a
	// rollback may rely on it.
	err := s.settle()
	s.dropSpares()
	return err
}
