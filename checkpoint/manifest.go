package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"github.com/zeebo/xxh3"
)

// Version is the version of the format that this engine writes. An engine reads every manifest whose MinReader is at
// most its own Version and whose Features it knows.
const Version = 1

// Features that a manifest may require.
const (
	WordDeltas    = "deltas by words"          // what has changed of a state is written by words of 64 units
	SeveralBlocks = "states in several blocks" // Node.Parts is set somewhere
)

// known lists the features of the format that this engine can read.
var known = map[string]bool{WordDeltas: true, SeveralBlocks: true}

// Manifest says what a checkpoint consists of. Those who make a checkpoint fill it, the store keeps it; what is opaque
// to the store is said so. Keys of fields are part of the format: they are never used again for something else.
type Manifest struct {
	Format    int      `cbor:"-"` // version that wrote it; set by Encode
	MinReader int      `cbor:"-"` // the oldest version that can read it; 0: Format
	Features  []string `cbor:"-"` // what a reader must know

	Engine  string `cbor:"1,keyasint,omitempty"` // version of the engine
	Job     string `cbor:"2,keyasint,omitempty"`
	ID      ID     `cbor:"3,keyasint"`
	Parent  ID     `cbor:"4,keyasint,omitempty"`  // the newest checkpoint that was durable when the snapshot began; 0: none
	Branch  uint64 `cbor:"5,keyasint,omitempty"`  // set by Store.Publish
	Name    string `cbor:"6,keyasint,omitempty"`  // given when it was made; Store.Name changes it later
	Created int64  `cbor:"7,keyasint,omitempty"`  // trigger, nanoseconds since 1970 UTC
	Durable int64  `cbor:"8,keyasint,omitempty"`  // just before the flush, nanoseconds since 1970 UTC
	Mode    string `cbor:"9,keyasint,omitempty"`  // aligned, unaligned
	Reason  string `cbor:"10,keyasint,omitempty"` // interval, manual, final…
	Dir     string `cbor:"11,keyasint,omitempty"` // working directory of the job
	Script  Ref    `cbor:"12,keyasint,omitempty"` // text and plan, stored once a run
	Width   int    `cbor:"13,keyasint,omitempty"` // parallelism
	// Finished says that every task had ended: a run that goes on from here has nothing to do.
	Finished bool `cbor:"14,keyasint,omitempty"`

	Tasks    []Task           `cbor:"15,keyasint,omitempty"`
	Channels []Channel        `cbor:"16,keyasint,omitempty"`
	Outputs  []Sealed         `cbor:"17,keyasint,omitempty"`
	Stats    map[string]int64 `cbor:"18,keyasint,omitempty"` // rows in, out…
	Phases   map[string]int64 `cbor:"19,keyasint,omitempty"` // nanoseconds

	StateBytes  int64 `cbor:"20,keyasint,omitempty"`
	FlightBytes int64 `cbor:"21,keyasint,omitempty"`
	FlightRows  int64 `cbor:"22,keyasint,omitempty"`

	Spread  bool   `cbor:"23,keyasint,omitempty"`                   // at Width 1: the tasks were those of a wider run
	Slowest string `cbor:"24,keyasint,omitempty" json:",omitempty"` // GROUP[INDEX] of the task whose part came last
	// Folder is the checkpoint folder of the run, relative to Dir if it lies below it, so that both may be moved. See Home.
	Folder string `cbor:"25,keyasint,omitempty" json:",omitempty"`
}

// Task is what one task had at its snapshot step.
type Task struct {
	Group string `cbor:"1,keyasint,omitempty"`
	Index int    `cbor:"2,keyasint,omitempty"`
	Width int    `cbor:"3,keyasint,omitempty"` // tasks of the group
	Ended bool   `cbor:"4,keyasint,omitempty"`
	Data  []byte `cbor:"5,keyasint,omitempty"` // opaque and small: gate, watermarks
	Nodes []Node `cbor:"6,keyasint,omitempty"`
}

// Node is the state of a source, an operator or a sink within a task.
type Node struct {
	ID     string `cbor:"1,keyasint,omitempty"`
	Kind   string `cbor:"2,keyasint,omitempty"` // what can read it: the connector of a source; opaque
	Fit    string `cbor:"3,keyasint,omitempty"` // what shapes the state; opaque
	Schema []byte `cbor:"4,keyasint,omitempty"` // opaque
	Blocks []Ref  `cbor:"5,keyasint,omitempty"` // a base, then the deltas on it: see Chain
	Rows   int64  `cbor:"6,keyasint,omitempty"`
	Bytes  int64  `cbor:"7,keyasint,omitempty"`
	// Parts is how many of the blocks the base and each delta consist of; nil: one each.
	Parts []int `cbor:"8,keyasint,omitempty" json:",omitempty"`
}

// Chain is a base and the deltas on it, in order: the blocks of each, which follow each other.
type Chain [][]Ref

// Chain returns the chain of a node.
func (n *Node) Chain() (c Chain) {
	blocks := n.Blocks
	if n.Parts == nil {
		for i := range blocks {
			c = append(c, blocks[i:i+1])
		}
		return c
	}
	for _, k := range n.Parts {
		c, blocks = append(c, blocks[:k]), blocks[k:]
	}
	return c
}

// SetChain sets Blocks and Parts.
func (n *Node) SetChain(c Chain) {
	n.Blocks, n.Parts = slices.Concat(c...), nil
	if len(n.Blocks) == len(c) {
		return
	}
	for _, blocks := range c {
		n.Parts = append(n.Parts, len(blocks))
	}
}

// sound reports whether Parts and Blocks fit each other.
func (n *Node) sound() bool {
	left := len(n.Blocks)
	for _, k := range n.Parts {
		if k < 1 || k > left {
			return false
		}
		left -= k
	}
	return left == 0 || n.Parts == nil
}

// Bytes returns how many bytes blocks hold.
func Bytes(blocks []Ref) (n int64) {
	for _, r := range blocks {
		n += int64(r.Length)
	}
	return n
}

// Join returns what blocks hold together.
func Join(read func(Ref) ([]byte, error), blocks []Ref) (data []byte, err error) {
	if len(blocks) == 1 {
		return read(blocks[0])
	}
	for _, r := range blocks {
		p, err := read(r)
		if err != nil {
			return nil, err
		}
		data = append(data, p...)
	}
	return data, nil
}

// Channel is what was in flight in one channel.
type Channel struct {
	Edge      string `cbor:"1,keyasint,omitempty"`
	From      int    `cbor:"2,keyasint,omitempty"`
	To        int    `cbor:"3,keyasint,omitempty"`
	FromWidth int    `cbor:"4,keyasint,omitempty"`
	ToWidth   int    `cbor:"5,keyasint,omitempty"`
	First     uint64 `cbor:"6,keyasint,omitempty"` // number of the first item
	Last      uint64 `cbor:"7,keyasint,omitempty"` // and of the last
	Rows      int64  `cbor:"8,keyasint,omitempty"`
	Blocks    []Ref  `cbor:"9,keyasint,omitempty"`
	Schema    []byte `cbor:"10,keyasint,omitempty"` // opaque
	Old       bool   `cbor:"11,keyasint,omitempty"` // it was in flight already when the run was restored at another width
	Nth       int    `cbor:"12,keyasint,omitempty"` // of those: which one of its task
}

// Ref names a block of the store. The zero Ref names none.
type Ref struct {
	_       struct{} `cbor:",toarray"`
	Segment uint64   // epoch and number of the segment, see segmentID
	Offset  uint64   // of the record in its segment, bytes
	Length  uint64   // of the data, bytes
	Sum     uint64   // xxh3 of the data
	Kind    uint8    // whatever the one who appended it uses it for
}

// IsZero reports whether r names no block.
func (r Ref) IsZero() bool { return r == Ref{} }

// Require notes a feature that a reader must know.
func (m *Manifest) Require(feature string) {
	if !slices.Contains(m.Features, feature) {
		m.Features = append(m.Features, feature)
	}
}

// Refs calls f for every block that the checkpoint needs.
func (m *Manifest) Refs(f func(Ref)) {
	if !m.Script.IsZero() {
		f(m.Script)
	}
	for _, t := range m.Tasks {
		for _, n := range t.Nodes {
			for _, r := range n.Blocks {
				f(r)
			}
		}
	}
	for _, c := range m.Channels {
		for _, r := range c.Blocks {
			f(r)
		}
	}
}

// envelope stands around a manifest, so that a reader of any version can tell whether it may read on.
type envelope struct {
	Format    int      `cbor:"1,keyasint"`
	MinReader int      `cbor:"2,keyasint"`
	Features  []string `cbor:"3,keyasint,omitempty"`
	Sum       uint64   `cbor:"4,keyasint"` // xxh3 of Body
	Body      []byte   `cbor:"5,keyasint"`
}

var encMode, decMode = modes()

func modes() (cbor.EncMode, cbor.DecMode) {
	e, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	d, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		MaxNestedLevels:  16,
		MaxArrayElements: 1 << 24,
		MaxMapPairs:      1 << 20,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return e, d
}

// Encode returns the manifest as bytes, the same ones for the same manifest.
func (m *Manifest) Encode() ([]byte, error) {
	body, err := encMode.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding the manifest of checkpoint %d: %w", m.ID, err)
	}
	e := envelope{Format: Version, MinReader: m.MinReader, Features: m.Features, Sum: xxh3.Hash(body), Body: body}
	if e.MinReader == 0 {
		e.MinReader = Version
	}
	p, err := encMode.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoding the manifest of checkpoint %d: %w", m.ID, err)
	}
	return p, nil
}

// NeedsNewer is the error for a checkpoint or a folder that an older engine cannot read.
type NeedsNewer struct {
	Format, MinReader int
	Features          []string // those that are not known
}

func (e *NeedsNewer) Error() string {
	if len(e.Features) > 0 {
		return fmt.Sprintf("it needs %s, which this version of ebb does not know; use the version that wrote it or a newer one", strings.Join(e.Features, ", "))
	}
	return fmt.Sprintf("it has format %d and needs a reader of format %d, this version of ebb reads up to %d; use the version that wrote it or a newer one", e.Format, e.MinReader, Version)
}

// readable checks that this engine may read what the given version wrote.
func readable(format, minReader int, features []string) error {
	var unknown []string
	for _, f := range features {
		if !known[f] {
			unknown = append(unknown, fmt.Sprintf("%q", f))
		}
	}
	if minReader > Version || len(unknown) > 0 {
		return &NeedsNewer{Format: format, MinReader: minReader, Features: unknown}
	}
	return nil
}

// DecodeManifest reads what Encode wrote. Fields that this version does not know are left out; if one must be known,
// the error is a *NeedsNewer.
func DecodeManifest(p []byte) (*Manifest, error) {
	var e envelope
	if err := decMode.Unmarshal(p, &e); err != nil {
		return nil, fmt.Errorf("decoding a manifest: %w", err)
	}
	if err := readable(e.Format, e.MinReader, e.Features); err != nil {
		return nil, err
	}
	if xxh3.Hash(e.Body) != e.Sum {
		return nil, fmt.Errorf("decoding a manifest: the checksum does not fit")
	}
	m := &Manifest{}
	if err := decMode.Unmarshal(e.Body, m); err != nil {
		return nil, fmt.Errorf("decoding a manifest: %w", err)
	}
	for _, t := range m.Tasks {
		for i := range t.Nodes {
			if !t.Nodes[i].sound() {
				return nil, fmt.Errorf("decoding a manifest: %s does not have as many blocks as it should", t.Nodes[i].ID)
			}
		}
	}
	m.Format, m.MinReader, m.Features = e.Format, e.MinReader, e.Features
	return m, nil
}
