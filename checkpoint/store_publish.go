package checkpoint

import (
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// Publish makes a checkpoint durable: it appends the manifest and flushes, and calls the functions of flush at the same
// time. The checkpoint is published when Publish returns nil. m.ID must be larger than all published before and come from
// NextID or have been told to Use; m.Branch is set.
func (s *Store) Publish(m *Manifest, flush []func() error) error {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	start := s.seg.flushed // changed only under io
	p, err := s.seal(m)
	if err != nil {
		return fmt.Errorf("publishing checkpoint %d: %w", m.ID, err)
	}
	errs := make([]error, 1+len(flush))
	all := []func(){func() { errs[0] = s.sync() }}
	for i, f := range flush {
		all = append(all, func() { errs[1+i] = f() })
	}
	// The manifest may come to the disk before the outputs do: see Options.CheckOutput. So nothing may be written in the
	// knowledge of it before all have returned.
	s.o.Together(all)
	for i, err := range errs {
		if err != nil && i > 0 {
			err = s.failed(fmt.Errorf("flushing the outputs of checkpoint %d: %w", m.ID, err))
		}
		if err != nil {
			return err
		}
	}
	s.flushed()
	s.mu.Lock()
	s.st.publish(p.entry)
	if fault.On("forget-older") {
		p.drop = append(p.drop, p.entry.info.Parent)
	}
	s.st.drop(p.drop)
	s.st.limit = max(s.st.limit, p.limit)
	s.size = s.seg.flushed - start
	// Whoever goes on after this process was killed need not check the checkpoint and its outputs, nor flush them again.
	s.seg.add(kindProof, 0, optional, 0, nil)
	s.mu.Unlock()
	return s.write()
}

// publication is what a checkpoint changes once it is published.
type publication struct {
	entry *entry
	drop  []ID
	limit ID
}

// seal appends what publishes a checkpoint, up to the end of a page.
func (s *Store) seal(m *Manifest) (p publication, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.ID <= s.st.last || m.ID >= s.next {
		return p, fmt.Errorf("its id is not one of NextID above that of the last one, %d", s.st.last)
	}
	if m.Name != "" {
		if err := s.st.nameable(m.Name, m.ID); err != nil {
			return p, err
		}
	}
	m.Refs(func(r Ref) {
		end, known := s.st.extents[r.Segment]
		if r.Segment == s.seg.id {
			end, known = s.seg.end(), true
		}
		if !known || r.Offset+headerBytes+r.Length > uint64(end) {
			err = fmt.Errorf("it names a block that the store does not have: %+v", r)
		}
	})
	if err != nil {
		return p, err
	}
	m.Branch = s.st.branch
	data, err := m.Encode()
	if err != nil {
		return p, err
	}
	s.used = true
	if s.next+idBlock/2 > s.st.limit { // before the manifest, so that it is there whenever the manifest is
		p.limit = s.next + idBlock
		s.seg.add(kindIDs, 0, 0, 0, encodeRecord(limitRecord{Limit: p.limit}))
	}
	p.entry = newEntry(m, s.seg.add(kindManifest, 0, 0, m.ID, data).ref(s.seg.id))
	if p.drop = s.st.after(p.entry).excess(s.o.Keep, s.o.Pinned); len(p.drop) > 0 {
		s.seg.add(kindDrop, 0, 0, 0, encodeRecord(dropRecord{IDs: p.drop}))
	}
	s.seg.pad()
	return p, nil
}

// Commit notes that every sink has committed checkpoint id, so that it need not be done again; finished: that the run
// ended with it. Only a finished one is flushed.
func (s *Store) Commit(id ID, finished bool) error {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	s.note(kindCommit, id, commitRecord{Finished: finished})
	err := s.write()
	if err == nil && finished {
		err = s.flush()
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.st.entries[id]; e != nil {
		e.info.Committed = true
		e.info.Finished = e.info.Finished || finished
	}
	return nil
}

// Settle makes durable what was noted: that the newest checkpoint was published and committed is certain then, without
// its outputs.
func (s *Store) Settle() error {
	defer s.io.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	s.mu.Lock()
	waits := s.seg.flushed < s.seg.end()
	s.mu.Unlock()
	if !waits {
		return nil
	}
	return s.flush()
}
