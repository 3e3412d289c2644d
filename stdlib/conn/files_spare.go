package conn

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/ebb-lang/ebb/checkpoint/fault"
	"github.com/ebb-lang/ebb/exec"
)

// The file of an interval is written over once nobody needs its bytes: that takes the system half of what a new file
// takes, whose pages and blocks it has to find, and the removal of the old one. It is given another name first. Only when
// that is durable the bytes may change, for an older checkpoint knows the file by its old name: after a rollback to it
// they would be taken for what they were.

const (
	mostSpares    = 2
	mostSpareSize = 256 << 20 // bytes of a spare file: the disk is not held by what one burst of output took
)

// spare is a hidden file that may be written over.
type spare struct {
	name string
	sure bool // the name is durable
}

// retire gives up the file of an interval.
func (s *fileSink) retire(in *interval) error {
	s.mu.Lock()
	keep := len(s.spares) < mostSpares && !s.done
	s.mu.Unlock()
	if !keep || in.whole || in.again || in.size > mostSpareSize {
		if err := s.discard(in.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return outputError(in.file, err)
		}
		return nil
	}
	name, err := s.temporary(s.stageName())
	if err == nil {
		err = s.env.FS.Rename(in.file, name)
	}
	if err != nil {
		return outputError(in.file, err)
	}
	s.forgotten(in.file)
	s.mu.Lock()
	s.spares = append(s.spares, spare{name: name, sure: fault.On("spare-unsure")})
	s.mu.Unlock()
	return nil
}

// hidden returns a file for an interval, which is written from its start.
func (s *fileSink) hidden() (name string, f exec.File, err error) {
	s.mu.Lock()
	if len(s.spares) > 0 && s.spares[0].sure {
		name, s.spares = s.spares[0].name, s.spares[1:]
	}
	s.mu.Unlock()
	if name != "" {
		f, err = s.env.FS.Edit(name)
		return name, f, err
	}
	if name, err = s.temporary(s.stageName()); err == nil {
		f, err = s.env.FS.Create(name)
	}
	return name, f, err
}

// syncDir makes the names in a folder durable, those of spare files, too.
func (s *fileSink) syncDir(dir string) error {
	here := map[string]bool{} // a file that is renamed from now on may come too late
	s.mu.Lock()
	for _, x := range s.spares {
		here[x.name] = filepath.Dir(x.name) == filepath.Clean(dir)
	}
	s.mu.Unlock()
	if err := s.env.FS.SyncDir(dir); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.spares {
		x := &s.spares[i]
		x.sure = x.sure || here[x.name]
	}
	return nil
}

// dropSpares removes the spare files at the end of a run.
func (s *fileSink) dropSpares() {
	for _, x := range s.spares {
		s.discard(x.name)
	}
	s.spares = nil
}
