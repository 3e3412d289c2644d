package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/checkpoint/fault"
)

// idBlock is how many ids are reserved at a time: at most so many are skipped when a process was killed.
const idBlock = 16

// found is what a folder holds.
type found struct {
	*state
	segments []uint64 // all there are, in order
	home     uint64   // the segment whose records make the state; 0: there is none
	flushed  int64    // home is known to be durable up to here
	end      int64    // and its records count up to here
	loose    bool     // what follows are blocks that nobody names
	leftOut  []LeftOut
	damage   []Damage
	outputs  []Sealed // of the newest checkpoint, whole, if it is not known that they are durable
}

// find reads the state of a folder from the newest segment that has a whole catalog. check is CheckOutput. Damage is an
// error, unless tolerant; then everything that can be read counts, of all segments.
func find(fs disk.FS, dir string, check func(Sealed) (bool, error), tolerant bool) (*found, error) {
	ids, err := listSegments(fs, dir)
	if err != nil {
		return nil, err
	}
	f := &found{state: newState(), segments: ids}
	if tolerant {
		return f, f.all(fs, dir)
	}
	limit, torn := ID(0), ID(0) // reserved by segments that were never used
	for i := len(ids) - 1; i >= 0 && f.home == 0; i-- {
		s, err := openSegment(fs, dir, ids[i], false)
		if err != nil {
			return nil, err
		}
		l, err := f.try(s, check)
		s.close()
		if err != nil {
			return nil, err
		}
		if f.home == 0 && l == 0 {
			torn++ // with its header, so that it is not known what it reserved
		} else if f.home == 0 {
			limit = max(limit, l)
		}
	}
	if lost := f.lost(dir); lost != nil {
		return nil, lost
	}
	f.limit = max(f.limit, limit) + torn*idBlock
	return f, nil
}

// lost is the error of a folder in which checkpoints were published, and of which no segment tells any more what they are; nil
// if it is none.
func (f *found) lost(dir string) *DamageError {
	n := len(f.segments)
	if f.home != 0 || n == 0 || f.segments[0] == segmentID(1, 0) { // that one may be what a first run was killed over
		return nil
	}
	return &DamageError{
		Damage: Damage{File: filepath.Join(dir, segmentName(f.segments[n-1])), Why: "it should begin with the list of checkpoints, and no older segment has one"},
		Remedy: fmt.Sprintf("bring the file back from a copy, or remove %s: the next run then starts afresh", dir),
	}
}

// try takes the state from a segment if it has a catalog. It returns the limit of ids that its header tells, 0 if it
// tells none.
func (f *found) try(s *segment, check func(Sealed) (bool, error)) (ID, error) {
	end := int64(1 << 62) // records count up to here
	if len(s.gaps) > 0 {
		g := s.gaps[0]
		if g.off < s.flushed && !fault.On("step-back") {
			return 0, s.damage(g.off, g.why)
		}
		f.leave(s, g.off, g.why)
		end = g.off
	}
	end = min(end, s.named(end))
	// What is not known to be durable is read, in order; the first misfit ends it.
	for _, r := range s.recs {
		if r.end() <= s.flushed || r.off >= end {
			continue
		}
		if err := s.check(r); err == errSum && !fault.On("trust-tail") {
			f.leave(s, r.off, "the record's checksum does not fit")
			end = r.off
		} else if err != nil {
			return 0, err
		}
	}
	recs := slices.DeleteFunc(slices.Clone(s.recs), func(r record) bool { return r.off >= end })
	limit := ID(0)
	if len(recs) > 0 && recs[0].kind == kindHeader {
		h, err := readHeader(s, recs[0])
		if err != nil {
			return 0, err
		}
		limit = h.Limit
	}
	if !slices.ContainsFunc(recs, func(r record) bool { return r.kind == kindCatalog }) {
		return limit, nil
	}
	st := newState()
	if err := st.fold(s, recs, s.misfit); err != nil {
		return 0, err
	}
	// The newest checkpoint is published if something was written in the knowledge of that, or else if its outputs are
	// whole as well.
	last := slices.IndexFunc(recs, func(r record) bool { return r.kind == kindManifest && r.id == st.last && r.end() > s.flushed })
	var outputs []Sealed
	if e := st.entries[st.last]; last >= 0 && e != nil && check != nil {
		for _, o := range e.outputs {
			fits, err := check(o)
			if err != nil {
				return 0, fmt.Errorf("checking the outputs of checkpoint %d: %w", st.last, err)
			}
			if !fits && !fault.On("trust-outputs") {
				r := recs[last]
				f.leave(s, r.off, fmt.Sprintf("%d bytes at byte %d of %s are not what belongs to it", o.Length, o.Offset, o.Path))
				end, recs, outputs = r.off, recs[:last], nil
				st = newState()
				if err := st.fold(s, recs, s.misfit); err != nil {
					return 0, err
				}
				break
			}
			if fits {
				outputs = append(outputs, o)
			}
		}
	}
	f.state, f.home, f.flushed, f.outputs = st, s.id, s.flushed, outputs
	f.end = min(s.end, end)
	f.loose = s.named(s.size) <= f.end && f.end < s.size
	return limit, nil
}

// leave notes that a segment ends before off, because of why; of several reasons the first one in the segment counts.
func (f *found) leave(s *segment, off int64, why string) {
	l := LeftOut{File: s.path, Offset: off, Why: why}
	for _, r := range s.recs {
		if r.off >= off && (r.kind == kindManifest) {
			l.ID = r.id
			break
		}
	}
	f.leftOut = slices.DeleteFunc(f.leftOut, func(o LeftOut) bool { return o.File == s.path })
	f.leftOut = append(f.leftOut, l)
}

func readHeader(s *segment, r record) (headerRecord, error) {
	var h headerRecord
	p, err := s.data(r)
	if err == nil {
		err = decodeRecord(p, &h)
	}
	if err != nil {
		return h, s.misfit(r, err)
	}
	if err := readable(h.Format, h.MinReader, h.Features); err != nil {
		return h, fmt.Errorf("checkpoint folder: %s cannot be read: %w", s.path, err)
	}
	return h, nil
}

// fold adds the records of a segment. Of one that cannot be read, report says what to do: an error ends it, nil passes the
// record over.
func (st *state) fold(s *segment, recs []record, report func(record, error) error) error {
	copies := map[int64]record{}
	dropped := map[ID]bool{} // later on; after a day there are many
	for _, r := range recs {
		var d dropRecord
		if r.kind == kindDrop {
			if p, err := s.data(r); err == nil && decodeRecord(p, &d) == nil {
				for _, id := range d.IDs {
					dropped[id] = true
				}
			}
		}
	}
	for _, r := range recs {
		switch {
		case r.kind == kindBlock || r.kind == kindPad || r.kind == kindProof:
			continue
		case r.kind == kindCopy: // read if the catalog names it
			copies[r.off] = r
			continue
		case r.kind == kindManifest && dropped[r.id]:
			st.publish(&entry{info: Info{ID: r.id, Branch: st.branch}}) // for what others make of it until then
			continue
		}
		p, err := s.data(r)
		if err == nil && r.kind == kindCatalog {
			if err := st.catalogue(s, r, p, copies, report); err != nil {
				return err
			}
			continue
		}
		if err == nil {
			switch r.kind {
			case kindManifest:
				var m *Manifest
				if m, err = DecodeManifest(p); err == nil {
					st.publish(newEntry(m, r.ref(s.id)))
				}
			default:
				err = st.apply(r, p)
			}
		}
		if err != nil {
			if err := report(r, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// catalogue makes the state that of a catalog, the record r. Like fold, it leaves to report what cannot be read.
func (st *state) catalogue(s *segment, r record, p []byte, copies map[int64]record, report func(record, error) error) error {
	var c catalogRecord
	if err := decodeRecord(p, &c); err != nil {
		return report(r, err)
	}
	var failed error
	whole := true
	st.reset(c, func(off int64, id ID) *entry {
		at, ok := copies[off]
		if !ok || at.id != id {
			whole = false
			failed = cmp.Or(failed, report(r, fmt.Errorf("the catalog has no manifest of checkpoint %d", id)))
			return nil
		}
		p, err := s.data(at)
		if err == nil {
			var m *Manifest
			if m, err = DecodeManifest(p); err == nil {
				return newEntry(m, at.ref(s.id))
			}
		}
		whole = false
		failed = cmp.Or(failed, report(at, err))
		return nil
	})
	if whole && st.head != 0 && st.entries[st.head] == nil {
		return report(r, fmt.Errorf("the catalog lacks the head, checkpoint %d", st.head))
	}
	return failed
}

// all reads what can be read of all segments, in order.
func (f *found) all(fs disk.FS, dir string) error {
	ends := map[uint64]int64{}
	for _, id := range f.segments {
		s, err := openSegment(fs, dir, id, false)
		if err != nil {
			return err
		}
		report := func(r record, err error) error {
			var d *DamageError
			if err := s.misfit(r, err); !errors.As(err, &d) {
				return err
			}
			f.damage = append(f.damage, d.Damage)
			return nil
		}
		before := len(f.damage)
		for _, g := range s.gaps {
			if g.off < s.flushed {
				f.damage = append(f.damage, s.damage(g.off, g.why).Damage)
			} else {
				f.leave(s, g.off, g.why)
				break
			}
		}
		end := s.end
		for _, r := range s.recs { // what is not known to be durable may be torn
			if r.end() <= s.flushed {
				continue
			}
			torn := slices.ContainsFunc(s.gaps, func(g gap) bool { return g.off < r.off && g.off >= s.flushed })
			if torn || s.check(r) != nil {
				if !torn {
					f.leave(s, r.off, "the record's checksum does not fit")
				}
				end = r.off
				break
			}
		}
		recs := slices.DeleteFunc(slices.Clone(s.recs), func(r record) bool { return r.off >= end })
		limit, settles := f.limit, false
		if slices.ContainsFunc(recs, func(r record) bool { return r.kind == kindCatalog }) {
			f.home, f.flushed, f.end = s.id, s.flushed, end
			limit = 0
			settles = true
		}
		if len(recs) > 0 && recs[0].kind == kindHeader {
			h, err := readHeader(s, recs[0])
			var newer *NeedsNewer
			if errors.As(err, &newer) {
				s.close()
				return err
			}
			if limit > 0 {
				limit = max(limit, h.Limit)
			}
		}
		err = f.fold(s, recs, report)
		s.close()
		if err != nil {
			return err
		}
		if settles && len(f.damage) == before { // what is damaged before it no longer counts
			f.damage = nil
		}
		f.limit = max(f.limit, limit)
		ends[id] = end
	}
	for id := range f.needed() { // the catalog that tells may be lost
		if _, known := f.extents[id]; !known && ends[id] > 0 {
			f.extents[id] = ends[id]
		}
	}
	f.leftOut = slices.DeleteFunc(f.leftOut, func(l LeftOut) bool { // settled since then
		id, _ := parseSegment(filepath.Base(l.File))
		return id < f.home
	})
	if lost := f.lost(dir); lost != nil {
		f.damage, f.leftOut = []Damage{lost.Damage}, nil
	}
	if len(f.damage) > 0 {
		f.limit = max(f.limit, f.last+1) + 1024 // records that reserved more may be lost
	}
	if f.head != 0 && f.entries[f.head] == nil { // what the head was cannot be read
		f.head = 0
		for _, i := range f.list() {
			if i.Branch == f.branch {
				f.head = i.ID
			}
		}
	}
	return nil
}
