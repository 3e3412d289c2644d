package checkpoint

import "fmt"

// Read returns the data of a block. A block that is not what was appended is a *DamageError.
func (s *Store) Read(r Ref) ([]byte, error) {
	if err := s.written(r); err != nil {
		return nil, err
	}
	return s.blocks.read(r)
}

// Stream returns a reader of blocks that follow each other, for checkpoint id, that reads them while they are loaded: see
// Reader.Check.
func (s *Store) Stream(id ID, refs []Ref) (*Reader, error) {
	for _, r := range refs {
		if err := s.written(r); err != nil {
			return nil, err
		}
	}
	return s.blocks.reader(id, refs)
}

// written sees to it that a block does not wait in memory.
func (s *Store) written(r Ref) error {
	s.mu.Lock()
	waits := s.seg != nil && r.Segment == s.seg.id && int64(r.Offset) >= s.seg.flushed
	err := s.err
	s.mu.Unlock()
	if err == nil && waits { // in memory, or being written
		if err = s.begin(); err == nil {
			err = s.write()
		}
		s.io.Unlock()
	}
	return err
}

// Manifest returns the manifest of a checkpoint; an error if there is none.
func (s *Store) Manifest(id ID) (*Manifest, error) {
	s.mu.Lock()
	e := s.st.entries[id]
	if e == nil {
		s.mu.Unlock()
		return nil, noCheckpoint(s.dir, id)
	}
	at, name := e.manifest, e.info.Name
	s.mu.Unlock()
	return readManifest(s.Read, at, id, name)
}

func readManifest(read func(Ref) ([]byte, error), at Ref, id ID, name string) (*Manifest, error) {
	p, err := read(at)
	if err != nil {
		return nil, err
	}
	m, err := DecodeManifest(p)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest of checkpoint %d: %w", id, err)
	}
	m.Name = name
	return m, nil
}

func noCheckpoint(dir string, id ID) error {
	return fmt.Errorf("there is no checkpoint %d in %s; `ebb checkpoint list` shows which there are", id, dir)
}

// List lists the checkpoints that are kept, of all branches, by id.
func (s *Store) List() []Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.list()
}

// Head returns the checkpoint that a run goes on from; 0: none.
func (s *Store) Head() ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.head
}
