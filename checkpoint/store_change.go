package checkpoint

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// What is changed of checkpoints that are published: their names, which of them there are, and which one is the head.

// Name names a checkpoint, which is then kept until it is deleted or its name is taken away ("").
func (s *Store) Name(id ID, name string) error {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.nameable(id, name); err != nil {
		return err
	}
	return s.name(id, name)
}

func (s *Store) nameable(id ID, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.st.entries[id]
	var err error
	if e == nil {
		err = noCheckpoint(s.dir, id)
	} else if name != "" {
		err = s.st.nameable(name, id)
	}
	return err
}

func (s *Store) name(id ID, name string) error {
	s.note(kindName, id, nameRecord{Name: name})
	if err := s.flush(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st.entries[id].info.Name = name
	return nil
}

// Nameable says whether the next checkpoint may have a name, and else why not.
func (s *Store) Nameable(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.nameable(name, 0)
}

// Delete forgets a checkpoint. The head cannot be deleted.
func (s *Store) Delete(id ID) error {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	return s.delete(id)
}

func (s *Store) delete(id ID) error {
	if s.st.entries[id] == nil {
		return noCheckpoint(s.dir, id)
	}
	if s.st.head == id {
		return fmt.Errorf("checkpoint %d is the one that the next run goes on from; roll back to another one first", id)
	}
	s.note(kindDrop, 0, dropRecord{IDs: []ID{id}})
	if err := s.flush(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st.drop([]ID{id})
	return nil
}

// Rollback makes id the head, on a new branch. The checkpoints after it stay as an abandoned branch, and a Rollback to
// one of them rolls forward again. Sinks then set aside what they cut, see Aside.
func (s *Store) Rollback(id ID) error {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	if s.st.entries[id] == nil {
		return noCheckpoint(s.dir, id)
	}
	if s.st.head == id {
		return nil
	}
	return s.branch(id)
}

// Fresh begins a branch without a checkpoint: the next run starts from nothing. Of all runs before it, as many
// checkpoints are kept as of one branch.
func (s *Store) Fresh() error {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	if s.st.head == 0 {
		return nil
	}
	return s.branch(0)
}

func (s *Store) branch(at ID) error {
	b := s.st.fork(at)
	s.note(kindBranch, at, b)
	s.mu.Lock()
	s.seg.pad()
	s.mu.Unlock()
	if err := s.flush(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st.begin(b)
	s.cut[b.Number] = true
	return nil
}

// Aside returns the folder in which sinks put bytes that they cut when they restore the head, so that a later Rollback can
// put them back; "" if they need not: the head is simply the newest checkpoint of its branch. The folder need not exist
// yet. Folders of different rollbacks differ.
func (s *Store) Aside() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.begun || s.st.branches[s.st.branch].At == 0 {
		return "" // a step forward to the newest checkpoint cuts off nothing that is not set aside already, but must be made
	}
	return s.aside(s.st.branch)
}

// Asides returns the folders of rollbacks whose bytes a kept checkpoint may need, the newest rollback first. They are
// removed with the last checkpoint that needs them.
func (s *Store) Asides() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, n := range s.st.asides() {
		out = append(out, s.aside(n))
	}
	return out
}

// AsidesOf returns the folders of the rollbacks that must be taken back, the newest first, before an output can be cut to
// what it was at checkpoint id. known is false if a fresh start lies between: outputs were replaced then, not cut.
func (s *Store) AsidesOf(id ID) (folders []string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.st.asides() {
		if b := s.st.branches[n]; b.At < id && id <= b.Last {
			folders = append(folders, s.aside(n))
		}
	}
	e := s.st.entries[id]
	return folders, e != nil && s.st.branches[e.info.Branch].Run == s.st.branches[s.st.branch].Run
}

func (s *Store) aside(branch uint64) string {
	return filepath.Join(s.dir, asideDir, strconv.FormatUint(branch, 10))
}

const asideDir = "aside"
