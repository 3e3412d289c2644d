package checkpoint

import (
	"encoding/binary"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
)

func TestSegmentNames(t *testing.T) {
	for _, id := range []uint64{segmentID(1, 0), segmentID(9999, 999), segmentID(12345, 1234), segmentID(1<<43-1, 1<<20-1)} {
		got, ok := parseSegment(segmentName(id))
		require.True(t, ok, segmentName(id))
		require.Equal(t, id, got)
	}
	require.Equal(t, "0003-001.seg", segmentName(segmentID(3, 1)))
	for _, s := range []string{"", "LOCK", "0001.seg", "1-1.seg", "0001-000.seg.part", "0001-1048576.seg", "-001-000.seg", "99999999999999999999-000.seg"} {
		_, ok := parseSegment(s)
		require.False(t, ok, s)
	}
}

// FuzzSegment opens a folder with a segment of any bytes; places where a header is meant get one that fits.
func FuzzSegment(f *testing.F) {
	sim := disk.NewSim()
	s, _, err := Open(sim, "c", Options{RoomBytes: -1})
	require.NoError(f, err)
	for i := range 3 {
		id, err := s.NextID()
		require.NoError(f, err)
		r, err := s.Append(1, []byte("some bytes"))
		require.NoError(f, err)
		require.NoError(f, s.Publish(&Manifest{ID: id, Tasks: []Task{{Nodes: []Node{{Blocks: []Ref{r}}}}}}, nil))
		require.NoError(f, s.Commit(id, false))
		if i == 1 {
			require.NoError(f, s.Name(1, "one"))
			require.NoError(f, s.Rollback(1))
		}
	}
	x, err := sim.Open("c/0001-000.seg")
	require.NoError(f, err)
	p := make([]byte, 20000)
	n, _ := x.ReadAt(p, 0)
	f.Add(p[:n], true)
	f.Add(p[:n], false)
	f.Add(p[:n/2], true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, p []byte, mend bool) {
		if len(p) > 1<<16 {
			return
		}
		id := segmentID(1, 0)
		for off := 0; mend && off+headerBytes <= len(p); { // checksums that fit, as if a writer had gone mad
			binary.LittleEndian.PutUint32(p[off:], magic)
			length := binary.LittleEndian.Uint64(p[off+8:])
			if length < uint64(len(p)-off-headerBytes) {
				binary.LittleEndian.PutUint64(p[off+32:], xxh3.Hash(p[off+headerBytes:][:length]))
			}
			binary.LittleEndian.PutUint64(p[off+40:], headSum(p[off:off+40], id, int64(off)))
			if length >= uint64(len(p)-off-headerBytes) {
				break
			}
			off += headerBytes + int(padded(int64(length)))
		}
		sim := disk.NewSim()
		require.NoError(t, sim.MkdirAll("c"))
		x, err := sim.Create("c/0001-000.seg")
		require.NoError(t, err)
		_, err = x.Write(p)
		require.NoError(t, err)
		if f, err := OpenReader(sim, "c"); err == nil {
			for _, i := range f.List() {
				if m, err := f.Manifest(i.ID); err == nil {
					m.Refs(func(r Ref) { f.Read(r) })
				}
			}
			f.Verify(nil)
			f.Close()
		}
		s, r, err := Open(sim, "c", Options{RoomBytes: -1})
		if err != nil {
			return
		}
		if id, err := s.NextID(); err == nil {
			require.NoError(t, s.Publish(&Manifest{ID: id}, nil))
		}
		require.NoError(t, s.Close())
		if r.Newest != nil {
			require.Equal(t, r.Info.ID, r.Newest.ID)
		}
		_, _, err = Open(sim, "c", Options{RoomBytes: -1})
		require.NoError(t, err)
	})
}
