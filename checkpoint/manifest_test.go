package checkpoint

import (
	"math"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
)

func fullManifest() *Manifest {
	return &Manifest{
		Engine: "1.2.3", Job: "job", ID: 7, Parent: 6, Branch: 2, Name: "seven", Created: 1e18, Durable: 1e18 + 5, Mode: "unaligned", Reason: "interval", Dir: "/home/x", Folder: ".ebb/job",
		Script: Ref{Segment: 1 << 20, Offset: 48, Length: 10, Sum: math.MaxUint64, Kind: 3}, Width: 2, Finished: true,
		Tasks: []Task{{Group: "count", Index: 1, Width: 2, Ended: true, Data: []byte{1, 2}, Nodes: []Node{
			{ID: "count#1", Kind: "aggregate", Fit: "by key", Schema: []byte("s"), Rows: 5, Bytes: 99, Blocks: []Ref{{Segment: 1 << 20, Offset: 104, Length: 5}, {Segment: 2 << 20, Offset: 8}}}}}},
		Channels: []Channel{{Edge: "e", From: 1, To: 0, FromWidth: 2, ToWidth: 1, First: 10, Last: 12, Rows: 2, Schema: []byte("t"), Blocks: []Ref{{Segment: 2 << 20, Offset: 64, Length: 1}}}},
		Outputs:  []Sealed{{Path: "out.csv", Offset: 5, Length: 6, Sum: 7}},
		Stats:    map[string]int64{"in": 1, "out": 2}, Phases: map[string]int64{"fsync": 3},
		StateBytes: 1, FlightBytes: 2, FlightRows: 3,
	}
}

func TestManifest(t *testing.T) {
	m := fullManifest()
	p, err := m.Encode()
	require.NoError(t, err)
	again, err := m.Encode()
	require.NoError(t, err)
	require.Equal(t, p, again)
	got, err := DecodeManifest(p)
	require.NoError(t, err)
	m.Format, m.MinReader = Version, Version
	require.Equal(t, m, got)
	var refs []uint64
	m.Refs(func(r Ref) { refs = append(refs, r.Offset) })
	require.Equal(t, []uint64{48, 104, 8, 64}, refs)
	for i := range p {
		p[i] ^= 4
		if got, err := DecodeManifest(p); err == nil {
			require.NotEqual(t, m, got, "byte %d", i) // the envelope: guarded by the checksum of the record around it
		}
		p[i] ^= 4
		_, err = DecodeManifest(p[:i])
		require.Error(t, err)
	}
}

// TestChain makes chains of blocks and finds them again; what does not add up is no manifest.
func TestChain(t *testing.T) {
	ref := func(n uint64) Ref { return Ref{Segment: 1 << 20, Offset: n, Length: n} }
	for _, c := range []struct {
		chain Chain
		parts []int
	}{
		{nil, nil},
		{Chain{{ref(1)}}, nil},
		{Chain{{ref(1)}, {ref(2)}}, nil},
		{Chain{{ref(1), ref(2)}}, []int{2}},
		{Chain{{ref(1)}, {ref(2), ref(3), ref(4)}, {ref(5)}}, []int{1, 3, 1}},
	} {
		var n Node
		n.SetChain(c.chain)
		require.Equal(t, c.parts, n.Parts)
		p, err := (&Manifest{ID: 1, Tasks: []Task{{Nodes: []Node{n}}}}).Encode()
		require.NoError(t, err)
		m, err := DecodeManifest(p)
		require.NoError(t, err)
		require.Equal(t, c.chain, m.Tasks[0].Nodes[0].Chain())
	}
	for _, parts := range [][]int{{}, {1}, {1, 2}, {3}, {2, 0}, {-1, 3}, {3, -1}} {
		n := Node{Blocks: []Ref{ref(1), ref(2)}, Parts: parts}
		p, err := (&Manifest{ID: 1, Tasks: []Task{{Nodes: []Node{n}}}}).Encode()
		require.NoError(t, err)
		m, err := DecodeManifest(p)
		if len(parts) == 0 { // is as good as none
			require.NoError(t, err)
			require.Len(t, m.Tasks[0].Nodes[0].Chain(), 2)
			continue
		}
		require.ErrorContains(t, err, "does not have as many blocks as it should", "%v", parts)
	}
}

// TestManifestVersions reads what newer versions may write.
func TestManifestVersions(t *testing.T) {
	enc := func(e any) []byte {
		p, err := encMode.Marshal(e)
		require.NoError(t, err)
		return p
	}
	body := enc(map[int]any{3: 9, 13: 2, 99: "new", 15: []any{map[int]any{1: "g", 77: []int{1}}}})
	m, err := DecodeManifest(enc(map[int]any{1: 5, 2: 1, 4: xxh3.Hash(body), 5: body, 50: "unknown"}))
	require.NoError(t, err)
	require.Equal(t, &Manifest{Format: 5, MinReader: 1, ID: 9, Width: 2, Tasks: []Task{{Group: "g"}}}, m)

	_, err = DecodeManifest(enc(map[int]any{1: 5, 2: 3, 4: xxh3.Hash(body), 5: body}))
	require.EqualError(t, err, "it has format 5 and needs a reader of format 3, this version of ebb reads up to 1; use the version that wrote it or a newer one")
	_, err = DecodeManifest(enc(map[int]any{1: 5, 2: 1, 3: []string{"columns", "more"}, 4: xxh3.Hash(body), 5: body}))
	require.EqualError(t, err, `it needs "columns", "more", which this version of ebb does not know; use the version that wrote it or a newer one`)
	var newer *NeedsNewer
	require.ErrorAs(t, err, &newer)

	_, err = DecodeManifest(enc(map[int]any{1: 1, 2: 1, 4: 1, 5: body}))
	require.EqualError(t, err, "decoding a manifest: the checksum does not fit")
	twice := cbor.RawMessage{0xa2, 0x03, 0x01, 0x03, 0x02}
	_, err = DecodeManifest(enc(map[int]any{1: 1, 2: 1, 4: xxh3.Hash(twice), 5: []byte(twice)}))
	require.Error(t, err)
	many := append([]byte{0xa1, 0x0f, 0x9b, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff}, make([]byte, 100)...) // 2^39 tasks
	_, err = DecodeManifest(enc(map[int]any{1: 1, 2: 1, 4: xxh3.Hash(many), 5: many}))
	require.Error(t, err)
}

func FuzzManifest(f *testing.F) {
	p, err := fullManifest().Encode()
	require.NoError(f, err)
	f.Add(p, true)
	var e envelope
	require.NoError(f, decMode.Unmarshal(p, &e))
	f.Add(e.Body, false)
	f.Fuzz(func(t *testing.T, p []byte, whole bool) {
		if !whole { // with a checksum that fits
			p, _ = encMode.Marshal(envelope{Format: 1, MinReader: 1, Sum: xxh3.Hash(p), Body: p})
		}
		m, err := DecodeManifest(p)
		if err != nil {
			return
		}
		m.Refs(func(Ref) {})
		q, err := m.Encode()
		require.NoError(t, err)
		n, err := DecodeManifest(q)
		require.NoError(t, err)
		m.Format = n.Format
		if m.MinReader == 0 {
			m.MinReader = n.MinReader
		}
		r, err := n.Encode()
		require.NoError(t, err)
		require.Equal(t, q, r)
	})
}
