package exec

import (
	"encoding/binary"
	"fmt"

	"github.com/ebb-lang/ebb/exec/vec"
)

// What is in flight is stored as a run of items: kind, port + 1, W and N as varints, and of rows a block of vec.

// appendItems appends items; ports, if not nil, are where they were emitted to.
func appendItems(p []byte, its []Item, ports []int) []byte {
	for i, it := range its {
		port := 0
		if ports != nil {
			port = ports[i]
		}
		p = append(p, byte(it.Kind))
		p = binary.AppendVarint(p, int64(port))
		p = binary.AppendVarint(p, it.W)
		p = binary.AppendVarint(p, it.N)
		if it.Kind == Rows {
			p = vec.AppendBlock(p, it.Batch)
		}
	}
	return p
}

// DecodeItems reads what a checkpoint holds of a channel. The bytes may be damaged.
func DecodeItems(p []byte) (its []Item, ports []int, err error) {
	number := func() int64 {
		v, n := binary.Varint(p)
		if n <= 0 {
			err, p = fmt.Errorf("items in flight: the data ends too early"), nil
			return 0
		}
		p = p[n:]
		return v
	}
	for len(p) > 0 {
		it := Item{Kind: ItemKind(p[0])}
		p = p[1:]
		port := number()
		it.W, it.N = number(), number()
		if err != nil {
			return nil, nil, err
		}
		switch {
		case it.Kind > End:
			return nil, nil, fmt.Errorf("items in flight: an item of kind %d", it.Kind)
		case it.Kind == Rows:
			if it.Batch, p, err = vec.DecodeBlock(p); err != nil {
				return nil, nil, fmt.Errorf("items in flight: %w", err)
			}
		}
		its, ports = append(its, it), append(ports, int(port))
	}
	return its, ports, nil
}
