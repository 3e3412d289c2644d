package state

// ListWords is the number of words that a list has in its owner's row.
const ListWords = 2

const perNode = 7

// Lists keeps an append-only list of entries of a few words for each of many owners. An owner holds ListWords words,
// zero for an empty list: the first and last node, and the number of entries.
type Lists struct {
	width int
	nodes *Rows // next node+1, then perNode entries
}

// NewLists returns lists of entries of width words.
func NewLists(width int) *Lists {
	return &Lists{width: width, nodes: NewRows(1 + perNode*width)}
}

// Append adds an entry of zeros to the list of own and returns its words, good until the next Append.
func (l *Lists) Append(own []uint64) []uint64 {
	n := own[1]
	at := int(n % perNode)
	if at == 0 {
		id := uint64(l.nodes.Add()) + 1
		if n == 0 {
			own[0] = id<<32 | id
		} else {
			l.nodes.Touch(uint32(own[0]) - 1)
			l.nodes.At(uint32(own[0]) - 1)[0] = id
			own[0] = own[0]&^0xffffffff | id
		}
	}
	own[1]++
	l.nodes.Touch(uint32(own[0]) - 1)
	w := l.nodes.At(uint32(own[0]) - 1)
	return w[1+at*l.width : 1+(at+1)*l.width]
}

// Len returns the number of entries.
func (l *Lists) Len(own []uint64) int { return int(own[1]) }

// Each calls f for each entry in the order of Append. f must not change it.
func (l *Lists) Each(own []uint64, f func(entry []uint64)) {
	id, left := uint32(own[0]>>32), int(own[1])
	for left > 0 {
		w := l.nodes.At(id - 1)
		l.entries(w, left, f)
		left -= perNode
		id = uint32(w[0])
	}
}

// entries calls f for the entries of a node, of which left are in it and behind it.
func (l *Lists) entries(node []uint64, left int, f func(entry []uint64)) {
	for k := range min(left, perNode) {
		f(node[1+k*l.width : 1+(k+1)*l.width])
	}
}

// Free empties the list. drop, if not nil, is called for each entry, whose own texts it frees.
func (l *Lists) Free(own []uint64, drop func(entry []uint64)) {
	id, left := uint32(own[0]>>32), int(own[1])
	for left > 0 {
		w := l.nodes.At(id - 1)
		next := uint32(w[0])
		l.nodes.Delete(id - 1) // touches what drop changes
		if drop != nil {
			l.entries(w, left, drop)
		}
		id = next
		left -= perNode
	}
	own[0], own[1] = 0, 0
}

// Bytes returns how much memory the lists hold.
func (l *Lists) Bytes() int { return l.nodes.Bytes() }
