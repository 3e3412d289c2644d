package conn

import (
	"math"
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// jsonField is a wanted value of the records that a jsonScan reads: its type, and the column that is being filled. For
// a record the fields below it, for a list its element as only one.
type jsonField struct {
	name string
	path string // for messages: `user.tags[]`
	typ  types.Type
	kind types.Kind
	kids []*jsonField
	deep int    // lists and objects around it
	unit int64  // of a time written as number: nanoseconds; 1 of an int; 0 otherwise
	most int64  // where there is a unit: the highest number
	seen uint64 // the last object in which it stood: jsonScan.object

	keys  map[string]*jsonKey // of a record: what names its objects had, as far as they are remembered
	start jsonKey             // of a record: the key before the first one
	end   jsonKey             // of a record: the key after the last one
	other jsonKey             // of a record: any key that is not wanted and not remembered

	// The column. Values are written by row, so that a row that fails or a field that stands twice is just written
	// again; a list's elements of row i start at offs[i] of its kid.
	room   int // rows there is room for
	ints   []int64
	floats []float64
	bools  []bool
	strs   []string
	offs   []int32
	valid  vec.Bitmap    // nil while no row is null
	spare  []*vec.Column // columns that nobody reads any more
}

func newJSONField(name, path string, t types.Type, deep int) *jsonField {
	f := &jsonField{name: name, path: path, typ: t, kind: t.Kind, deep: deep}
	switch t.Kind {
	case types.List:
		f.kids = []*jsonField{newJSONField("", path+"[]", *t.Elem, deep+1)}
	case types.Record:
		f.wants(t.Fields)
	case types.Int:
		f.unit, f.most = 1, math.MaxInt64
	case types.Time:
		f.unit = map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[t.Format]
		f.most = math.MaxInt64 / max(f.unit, 1)
	}
	return f
}

// wants makes f a record of the fields.
func (f *jsonField) wants(fields []types.Field) {
	f.keys = map[string]*jsonKey{}
	prefix := f.path
	if prefix != "" {
		prefix += "."
	}
	for _, k := range fields {
		kid := newJSONField(k.Name, prefix+types.QuoteName(k.Name), k.Type, f.deep+1)
		f.kids = append(f.kids, kid)
		f.keys[k.Name] = &jsonKey{field: kid}
	}
}

// grow makes room for rows rows, keeping those there are.
func (f *jsonField) grow(rows int) {
	var old vec.Column
	if k := len(f.spare) - 1; k >= 0 && f.room == 0 {
		old = *f.spare[k]
		f.spare = f.spare[:k]
	}
	switch f.kind {
	case types.Int, types.Time, types.Duration:
		f.ints = extend(f.ints, old.Ints, rows)
	case types.Float:
		f.floats = extend(f.floats, old.Floats, rows)
	case types.Bool:
		f.bools = extend(f.bools, old.Bools, rows)
	case types.String, types.Bytes, types.Any:
		f.strs = extend(f.strs, old.Strs, rows)
	case types.List:
		f.offs = extend(f.offs, nil, rows+1)
	case types.Record:
		for _, k := range f.kids {
			k.grow(rows)
		}
	}
	if f.valid != nil {
		old := f.valid
		f.valid = vec.FullBitmap(rows)
		copy(f.valid, old)
		if r := f.room & 63; r != 0 {
			f.valid[f.room>>6] |= ^uint64(0) << r
		}
	}
	f.room = rows
}

// extend returns a copy of s with n elements, in the memory of spare if there is enough; those behind s are unspecified.
func extend[T any](s, spare []T, n int) []T {
	if cap(spare) < n {
		spare = make([]T, n)
	}
	copy(spare[:n], s)
	return spare[:n]
}

// recycle takes a column back that nobody reads any more.
func (f *jsonField) recycle(c *vec.Column) {
	if f.kind != types.List && f.kind != types.Record && len(f.spare) < 8 {
		f.spare = append(f.spare, c)
	}
}

// set marks row i as valid.
func (f *jsonField) set(i int) {
	if f.valid != nil {
		f.valid.Set(i)
	}
}

// null makes row i null, and what is below it.
func (f *jsonField) null(i int) {
	f.empty(i)
	if f.valid == nil {
		f.valid = vec.FullBitmap(f.room)
	}
	f.valid.Clear(i)
}

// empty gives row i the zero value; what is below it is null.
func (f *jsonField) empty(i int) {
	switch f.kind {
	case types.Int, types.Time, types.Duration:
		f.ints[i] = 0
	case types.Float:
		f.floats[i] = 0
	case types.Bool:
		f.bools[i] = false
	case types.String, types.Bytes, types.Any:
		f.strs[i] = ""
	case types.List:
		f.offs[i+1] = f.offs[i]
	case types.Record:
		for _, k := range f.kids {
			k.null(i)
		}
	}
	f.set(i)
}

// take returns the first n rows as a column and forgets them.
func (f *jsonField) take(n int) *vec.Column {
	c := &vec.Column{Type: f.typ}
	switch f.kind {
	case types.Int, types.Time, types.Duration:
		c.Ints, f.ints = f.ints[:n], nil
	case types.Float:
		c.Floats, f.floats = f.floats[:n], nil
	case types.Bool:
		c.Bools, f.bools = f.bools[:n], nil
	case types.String, types.Bytes, types.Any:
		c.Strs, f.strs = f.strs[:n], nil
	case types.List:
		kid := f.kids[0]
		if f.offs == nil { // room was never made: a text without a whole record
			f.offs = make([]int32, 1)
		}
		elems := int(f.offs[n])
		if kid.room < elems || kid.room == 0 {
			kid.grow(elems)
		}
		c.Offs, f.offs = f.offs[:n+1:n+1], nil
		c.Kids = []*vec.Column{kid.take(elems)}
	case types.Record:
		for _, k := range f.kids {
			c.Kids = append(c.Kids, k.take(n))
		}
		if len(f.kids) == 0 && f.valid == nil {
			c.Valid = vec.FullBitmap(n)
		}
	}
	if f.valid != nil {
		c.Valid = f.valid[: (n+63)/64 : (n+63)/64]
		if r := n & 63; r != 0 {
			c.Valid[n>>6] &= 1<<r - 1
		}
	}
	f.valid, f.room = nil, 0
	return c
}

// jsonKey is a name that objects have, and what stood behind its value when it was last met: objects of one source
// mostly have the same names in the same order and notation, so that the text up to the next value can be foretold.
type jsonKey struct {
	field *jsonField // nil if its value is skipped
	next  [2]jsonGuess
}

// jsonGuess is text that may come, and the key it leads to. The first 16 bytes are compared as two words.
type jsonGuess struct {
	words, masks [2]uint64
	len          int // 0: none
	text         [48]byte
	key          *jsonKey
}

// learn puts what came behind k first among its guesses.
func (k *jsonKey) learn(text []byte, key *jsonKey) {
	for i := range k.next { // near the end of a text guesses are not even looked at
		if g := &k.next[i]; string(g.text[:min(g.len, len(g.text))]) == string(text) {
			return
		}
	}
	g := jsonGuess{key: key}
	if g.set(text) {
		k.next[1] = k.next[0]
		k.next[0] = g
	}
}

// set makes g the guess that text comes, if that is not too long.
func (g *jsonGuess) set(text []byte) bool {
	g.len = len(text)
	for i := range min(len(text), 16) {
		g.words[i>>3] |= uint64(text[i]) << (i & 7 * 8)
		g.masks[i>>3] |= 0xff << (i & 7 * 8)
	}
	return copy(g.text[:], text) == len(text)
}

// rememberedKeys bounds the names that are remembered besides the wanted ones.
const rememberedKeys = 256

// key finds a name of an object of the record f.
func (f *jsonField) key(name []byte) *jsonKey {
	k := f.keys[string(name)]
	if k == nil {
		if len(f.keys) >= len(f.kids)+rememberedKeys || len(name) > len(jsonGuess{}.text) {
			return &f.other
		}
		k = &jsonKey{}
		f.keys[strings.Clone(view(name))] = k
	}
	return k
}
