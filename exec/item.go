package exec

import (
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// ItemKind says what an Item is.
type ItemKind uint8

// The items of a channel.
const (
	Rows       ItemKind = iota
	Watermark           // W
	WentIdle            // the producer no longer holds event time back
	WentActive          // it does again
	ChunkEnd            // chunk N of the source is complete
	End                 // nothing follows
)

// Item is what travels between tasks.
type Item struct {
	Kind  ItemKind
	Batch *vec.Batch
	W     types.Instant
	N     int64
}
