package checkpoint

import (
	"fmt"
)

// What the records of a segment hold besides blocks and manifests, as CBOR. Numbers of fields are never used again.

// headerRecord begins a segment.
type headerRecord struct {
	Format    int      `cbor:"1,keyasint"`
	MinReader int      `cbor:"2,keyasint"`
	Features  []string `cbor:"3,keyasint,omitempty"`
	Limit     ID       `cbor:"4,keyasint"` // no id from here on has been given to anyone
}

// catalogRecord is the state of the store.
type catalogRecord struct {
	Limit    ID              `cbor:"1,keyasint"`
	Last     ID              `cbor:"2,keyasint,omitempty"` // the largest id that was ever published
	Head     ID              `cbor:"3,keyasint,omitempty"`
	Branch   uint64          `cbor:"4,keyasint"` // of the head
	Begun    bool            `cbor:"5,keyasint,omitempty"`
	Branches []branchRecord  `cbor:"6,keyasint,omitempty"`
	Entries  []catalogEntry  `cbor:"7,keyasint,omitempty"`
	Segments []segmentExtent `cbor:"8,keyasint,omitempty"` // those that are needed, but for the one it stands in
}

// catalogEntry is a checkpoint of a catalog; its manifest is a copy that stands before it.
type catalogEntry struct {
	ID        ID     `cbor:"1,keyasint"`
	Name      string `cbor:"2,keyasint,omitempty"`
	Committed bool   `cbor:"3,keyasint,omitempty"`
	Finished  bool   `cbor:"4,keyasint,omitempty"`
	Offset    int64  `cbor:"5,keyasint"` // of the copy
	Foreign   bool   `cbor:"6,keyasint,omitempty"`
}

// segmentExtent says how much of a segment is durable.
type segmentExtent struct {
	Segment uint64 `cbor:"1,keyasint"`
	End     int64  `cbor:"2,keyasint"`
}

// branchRecord begins a branch: the head is At, on a branch of that number.
type branchRecord struct {
	Number uint64 `cbor:"1,keyasint"`
	Parent uint64 `cbor:"2,keyasint,omitempty"` // the branch of At
	At     ID     `cbor:"3,keyasint,omitempty"` // 0: it starts from nothing
	Last   ID     `cbor:"4,keyasint,omitempty"` // the largest id that was published before
	Run    uint64 `cbor:"5,keyasint,omitempty"` // how many fresh starts there were
}

type commitRecord struct {
	Finished bool `cbor:"1,keyasint,omitempty"`
}

type nameRecord struct {
	Name string `cbor:"1,keyasint,omitempty"`
}

type dropRecord struct {
	IDs []ID `cbor:"1,keyasint"`
}

// limitRecord is that of kindIDs and kindEnd.
type limitRecord struct {
	Limit ID `cbor:"1,keyasint"`
}

// encodeRecord returns v as bytes. It cannot fail: the types are those above.
func encodeRecord(v any) []byte {
	p, err := encMode.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("checkpoint: encoding a record: %v", err))
	}
	return p
}

func decodeRecord(p []byte, v any) error {
	if err := decMode.Unmarshal(p, v); err != nil {
		return fmt.Errorf("decoding a record: %w", err)
	}
	return nil
}
