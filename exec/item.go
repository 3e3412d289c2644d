package exec

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// ItemKind says what an Item is.
type ItemKind uint8

// The items of a channel. Their numbers are part of the format of checkpoints.
const (
	Rows       ItemKind = iota // of chunk N
	Watermark                  // W
	WentIdle                   // the producer no longer holds event time back
	WentActive                 // it does again
	ChunkEnd                   // chunk N of the source is complete
	End                        // nothing follows; N is 1 if the run was stopped
	markItem                   // snapshot N must come first: only what Next returns
)

// Item is what travels between tasks.
type Item struct {
	Kind    ItemKind
	Aligned bool // markItem
	Batch   *vec.Batch
	W       types.Instant
	N       int64
}
