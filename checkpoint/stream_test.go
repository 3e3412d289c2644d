package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

// values is a run of values of all kinds and sizes, and what reads them.
func values(rng *rand.Rand, n int) (data []byte, load func(r *Reader) error) {
	w := NewWriter(1, 0)
	var reads []func(r *Reader) bool
	for range n {
		size := rng.IntN([]int{4, 100, 2 * fillBytes, 3 * streamBytes}[max(rng.IntN(12)-8, 0)])
		p := make([]byte, size)
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
		ws := make([]uint64, size/8)
		for i := range ws {
			ws[i] = rng.Uint64()
		}
		v := rng.Uint64() >> rng.IntN(64)
		switch rng.IntN(8) {
		case 0:
			w.Uint(v)
			reads = append(reads, func(r *Reader) bool { return r.Uint() == v })
		case 1:
			w.Int(-int64(v))
			reads = append(reads, func(r *Reader) bool { return r.Int() == -int64(v) })
		case 2:
			w.Float(float64(v))
			w.Bool(v&1 == 1)
			reads = append(reads, func(r *Reader) bool { return r.Float() == float64(v) && r.Bool() == (v&1 == 1) })
		case 3:
			w.Bytes(p)
			var view []byte
			reads = append(reads, func(r *Reader) bool { view = r.Bytes(); return bytes.Equal(view, p) })
			defer func() { // a view stays what it is
				reads = append(reads, func(*Reader) bool { return bytes.Equal(view, p) })
			}()
		case 4:
			w.String(string(p))
			reads = append(reads, func(r *Reader) bool { return r.String() == string(p) })
		case 5:
			w.Words(ws)
			reads = append(reads, func(r *Reader) bool { return slices.Equal(r.Words(), ws) })
		case 6:
			w.RawWords(ws)
			reads = append(reads, func(r *Reader) bool {
				got := make([]uint64, len(ws))
				r.RawWords(got)
				return slices.Equal(got, ws)
			})
		case 7:
			w.Append(func(to []byte) []byte { return append(to, p...) })
			reads = append(reads, func(r *Reader) bool {
				got := make([]byte, len(p))
				r.Fill(got)
				return bytes.Equal(got, p)
			})
		}
	}
	data, _, _ = w.Output()
	return data, func(r *Reader) error {
		for i, read := range reads {
			if !read(r) {
				return fmt.Errorf("value %d is another one", i)
			}
		}
		return r.Done()
	}
}

// TestStream reads many values piece by piece, of one block or of several, whole ones and damaged ones.
func TestStream(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		fs := disk.OS{}
		s, _, err := Open(fs, filepath.Join(t.TempDir(), "c"), Options{RoomBytes: -1})
		require.NoError(t, err)
		data, load := values(rng, rng.IntN(40))
		require.NoError(t, load(NewReader(1, data)))
		var refs []Ref
		for rest, n := data, rng.IntN(4); n >= 0; n-- {
			k := len(rest)
			if n > 0 {
				k = rng.IntN(k + 1)
			}
			ref, err := s.Append(1, rest[:k])
			require.NoError(t, err)
			refs, rest = append(refs, ref), rest[k:]
		}
		r, err := s.Stream(1, refs)
		require.NoError(t, err)
		require.Equal(t, len(data), r.Left())
		require.NoError(t, r.Check(load(r)), "seed %d", seed)
		require.Zero(t, r.Left())

		for range 3 {
			ref := refs[rng.IntN(len(refs))]
			at := int64(ref.Offset) + rng.Int64N(headerBytes+int64(ref.Length))
			f, err := fs.Edit(s.seg.path)
			require.NoError(t, err)
			var b [1]byte
			_, err = f.ReadAt(b[:], at)
			require.NoError(t, err)
			_, err = f.WriteAt([]byte{b[0] ^ 1<<rng.IntN(8)}, at)
			require.NoError(t, err)
			r, err := s.Stream(1, refs)
			if err == nil {
				err = r.Check(load(r))
			}
			var damage *DamageError
			require.True(t, errors.As(err, &damage), "seed %d, byte %d: %v", seed, at, err)
			require.Equal(t, s.seg.path, damage.File)
			require.EqualValues(t, ref.Offset, damage.Offset)
			_, err = s.Read(ref)
			require.True(t, errors.As(err, &damage))
			_, err = f.WriteAt(b[:], at)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
		require.NoError(t, s.Close())
	}
}
