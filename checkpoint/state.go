package checkpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// state is what a store knows of its checkpoints: the sum of the records of a segment. It does no I/O.
type state struct {
	limit    ID // ids from here on have not been given to anyone
	last     ID // the largest that was ever published
	head     ID
	branch   uint64 // of the head
	begun    bool   // a checkpoint was published on the branch of the head
	branches map[uint64]branchRecord
	entries  map[ID]*entry
	extents  map[uint64]int64 // of segments that are durable and closed: up to where
}

// entry is a checkpoint that is kept.
type entry struct {
	info     Info
	manifest Ref      // the record that holds it
	needs    []uint64 // segments with its blocks, in order
	outputs  []Sealed
}

func newState() *state {
	return &state{limit: 1, branch: 1, branches: map[uint64]branchRecord{1: {Number: 1}}, entries: map[ID]*entry{}, extents: map[uint64]int64{}}
}

func newEntry(m *Manifest, at Ref) *entry {
	e := &entry{manifest: at, outputs: m.Outputs, info: Info{ID: m.ID, Parent: m.Parent, Branch: m.Branch, Name: m.Name, Created: m.Created, Durable: m.Durable,
		Mode: m.Mode, Reason: m.Reason, Width: m.Width, StateBytes: m.StateBytes, FlightBytes: m.FlightBytes, FlightRows: m.FlightRows}}
	m.Refs(func(r Ref) {
		if i, found := slices.BinarySearch(e.needs, r.Segment); !found {
			e.needs = slices.Insert(e.needs, i, r.Segment)
		}
	})
	return e
}

// publish adds the newest checkpoint.
func (s *state) publish(e *entry) {
	s.entries[e.info.ID] = e
	s.head = e.info.ID
	s.last = max(s.last, e.info.ID)
	s.begun = true
}

// fork returns the record of a branch that begins at checkpoint at; 0: at nothing.
func (s *state) fork(at ID) branchRecord {
	b := branchRecord{Number: s.branch + 1, At: at, Last: s.last, Run: s.branches[s.branch].Run}
	for n := range s.branches {
		b.Number = max(b.Number, n+1)
	}
	if e := s.entries[at]; e != nil {
		b.Parent = e.info.Branch
		b.Run = max(b.Run, s.branches[b.Parent].Run)
	} else {
		b.Run++
	}
	return b
}

// begin begins a branch.
func (s *state) begin(b branchRecord) {
	s.branches[b.Number] = b
	s.branch, s.head, s.begun = b.Number, b.At, false
	s.prune()
}

// drop forgets checkpoints.
func (s *state) drop(ids []ID) {
	for _, id := range ids {
		delete(s.entries, id)
	}
	s.prune()
}

// prune forgets branches that no checkpoint is on, no other branch comes from and nobody needs what was set aside for.
func (s *state) prune() {
	used := map[uint64]bool{}
	use := func(n uint64) {
		for ; n != 0 && !used[n]; n = s.branches[n].Parent {
			used[n] = true
		}
	}
	use(s.branch)
	for _, e := range s.entries {
		use(e.info.Branch)
	}
	for _, n := range s.asides() {
		use(n)
	}
	maps.DeleteFunc(s.branches, func(n uint64, _ branchRecord) bool { return !used[n] })
}

// ids returns the checkpoints in order.
func (s *state) ids() []ID { return slices.Sorted(maps.Keys(s.entries)) }

// excess returns the checkpoints that are to be dropped when only so many of a branch are kept. Those of another job go as
// soon as there is one of this job.
func (s *state) excess(keep int, pinned []ID) []ID {
	run := s.branches[s.branch].Run
	kept := map[uint64]int{} // by branch; all branches of earlier runs are one
	var out []ID
	ids := s.ids()
	slices.Reverse(ids)
	for _, id := range ids {
		e := s.entries[id]
		if e.info.Foreign {
			if id != s.head && !fault.On("keep-foreign") {
				out = append(out, id)
			}
			continue
		}
		b := e.info.Branch
		if s.branches[b].Run < run {
			b = 0
		}
		kept[b]++
		if kept[b] > keep && (e.info.Name == "" || fault.On("drop-named")) && id != s.head && !slices.Contains(pinned, id) {
			out = append(out, id)
		}
	}
	slices.Reverse(out)
	return out
}

// upto returns the part of each branch that leads to the end of a branch: the last id that may be on it.
func (s *state) upto(branch uint64) map[uint64]ID {
	out := map[uint64]ID{}
	for b, at := branch, ID(1<<63); b != 0; {
		out[b] = at
		r := s.branches[b]
		b, at = r.Parent, r.At
		if _, again := out[b]; again {
			break // a damaged record
		}
	}
	return out
}

// list returns all checkpoints, with what depends on the head.
func (s *state) list() []Info {
	upto := s.upto(s.branch)
	on := map[uint64][]ID{}
	var out []Info
	for _, id := range s.ids() {
		i := s.entries[id].info
		i.Head = id == s.head
		i.Abandoned = id > upto[i.Branch]
		i.Parent = parentOf(i, s.branches, on)
		on[i.Branch] = append(on[i.Branch], id)
		out = append(out, i)
	}
	return out
}

// parentOf returns the newest checkpoint before one on its branch or, if there is none, at or before the place that the
// branch began at. The manifest does not tell: its parent is one of the same run, and may have been deleted since. on has
// the checkpoints with smaller ids, by branch.
func parentOf(i Info, branches map[uint64]branchRecord, on map[uint64][]ID) ID {
	for b, at := i.Branch, i.ID-1; b != 0; {
		ids := on[b]
		if n, found := slices.BinarySearch(ids, at); found {
			return at
		} else if n > 0 {
			return ids[n-1]
		}
		r := branches[b]
		if r.At == 0 || r.Parent >= b {
			break // it began with nothing, or the record is damaged
		}
		b, at = r.Parent, r.At
	}
	return 0
}

func (s *state) info(id ID) Info {
	for _, i := range s.list() {
		if i.ID == id {
			return i
		}
	}
	return Info{}
}

// asides returns the branches whose beginning cut off checkpoints that are still kept, the newest first.
func (s *state) asides() []uint64 {
	var out []uint64
	for n, b := range s.branches {
		if b.At == 0 {
			continue
		}
		for id := range s.entries {
			if id > b.At && id <= b.Last {
				out = append(out, n)
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b uint64) int { return cmp.Compare(b, a) })
	return out
}

// needed returns the segments that the checkpoints need, but for those with their manifests.
func (s *state) needed() map[uint64]bool {
	out := map[uint64]bool{}
	for _, e := range s.entries {
		for _, n := range e.needs {
			out[n] = true
		}
	}
	return out
}

// CheckName checks that a checkpoint may have a name, whatever the others are called.
func CheckName(name string) error {
	digits := true
	for _, c := range name {
		switch {
		case c >= '0' && c <= '9':
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '.', c > 127:
			digits = false
		case c == '-' && name[0] != '-':
			digits = false
		default:
			return fmt.Errorf("a checkpoint cannot be named %q: use letters, digits, '-', '_' and '.'", name)
		}
	}
	if digits {
		return fmt.Errorf("a checkpoint cannot be named %q: it would be taken for an id; add a letter", name)
	}
	return nil
}

// nameable checks that a checkpoint may have that name.
func (s *state) nameable(name string, id ID) error {
	if err := CheckName(name); err != nil {
		return err
	}
	for _, e := range s.entries {
		if e.info.Name == name && e.info.ID != id {
			return fmt.Errorf("checkpoint %d has the name %q already; take it away from that one or choose another", e.info.ID, name)
		}
	}
	return nil
}

// after returns what the state will be when e is published.
func (s *state) after(e *entry) *state {
	out := *s
	out.entries = maps.Clone(s.entries)
	out.publish(e)
	return &out
}

// catalog returns the state as a record; copies says where the copies of the manifests stand.
func (s *state) catalog(copies map[ID]int64) catalogRecord {
	c := catalogRecord{Limit: s.limit, Last: s.last, Head: s.head, Branch: s.branch, Begun: s.begun}
	for _, n := range slices.Sorted(maps.Keys(s.branches)) {
		c.Branches = append(c.Branches, s.branches[n])
	}
	for _, id := range s.ids() {
		i := s.entries[id].info
		c.Entries = append(c.Entries, catalogEntry{ID: id, Name: i.Name, Committed: i.Committed, Finished: i.Finished, Foreign: i.Foreign, Offset: copies[id]})
	}
	for _, n := range slices.Sorted(maps.Keys(s.extents)) {
		c.Segments = append(c.Segments, segmentExtent{Segment: n, End: s.extents[n]})
	}
	return c
}

// reset makes the state that of a catalog; manifest returns the entry of a copy at an offset, nil if it cannot be read:
// then the entry is the one that was known before, if any.
func (s *state) reset(c catalogRecord, manifest func(off int64, id ID) *entry) {
	old := s.entries
	*s = *newState()
	s.limit, s.last, s.head, s.branch, s.begun = max(c.Limit, 1), c.Last, c.Head, c.Branch, c.Begun
	clear(s.branches)
	for _, b := range c.Branches {
		s.branches[b.Number] = b
	}
	for _, x := range c.Segments {
		s.extents[x.Segment] = x.End
	}
	for _, x := range c.Entries {
		e := manifest(x.Offset, x.ID)
		if e == nil {
			if e = old[x.ID]; e == nil {
				continue
			}
		}
		e.info.Name, e.info.Committed, e.info.Finished, e.info.Foreign = x.Name, x.Committed, x.Finished, x.Foreign
		s.entries[x.ID] = e
	}
}

// apply adds a record other than a catalog, a manifest or a copy.
func (s *state) apply(r record, data []byte) error {
	switch r.kind {
	case kindCommit:
		var c commitRecord
		if err := decodeRecord(data, &c); err != nil {
			return err
		}
		if e := s.entries[r.id]; e != nil {
			e.info.Committed = true
			e.info.Finished = e.info.Finished || c.Finished
		}
	case kindBranch:
		var b branchRecord
		if err := decodeRecord(data, &b); err != nil {
			return err
		}
		s.begin(b)
	case kindName:
		var n nameRecord
		if err := decodeRecord(data, &n); err != nil {
			return err
		}
		if e := s.entries[r.id]; e != nil {
			e.info.Name = n.Name
		}
	case kindDrop:
		var d dropRecord
		if err := decodeRecord(data, &d); err != nil {
			return err
		}
		s.drop(d.IDs)
	case kindIDs, kindEnd:
		var l limitRecord
		if err := decodeRecord(data, &l); err != nil {
			return err
		}
		if r.kind == kindEnd {
			s.limit = max(l.Limit, s.last+1) // ids that were reserved and not given
		} else {
			s.limit = max(s.limit, l.Limit)
		}
	case kindHeader, kindBlock, kindPad, kindProof:
	default:
		if r.flags&optional == 0 {
			return &NeedsNewer{Features: []string{fmt.Sprintf("records of kind %d", r.kind)}}
		}
	}
	return nil
}
