package conn

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSigns compares both ways of finding signs with a loop over bytes, for every byte and many lengths.
func TestSigns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sets := []signs{
		{eq: [3]byte{',', '\n', '"'}, below: -128},
		{eq: [3]byte{';', '\n', ';'}, below: -128},
		{eq: [3]byte{'"', '\\', '"'}, below: ' '},
		{eq: [3]byte{0, 0x80, 0xff}, below: 1},
		{eq: [3]byte{0x7f, 1, 0}, below: 127},
	}
	for range 20 {
		sets = append(sets, signs{eq: [3]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}, below: int8(1 + r.IntN(127))})
	}
	for _, s := range sets {
		is := func(c byte) bool { return c == s.eq[0] || c == s.eq[1] || c == s.eq[2] || int8(c) < s.below }
		for n := range 400 {
			text := make([]byte, n)
			for i := range text {
				switch {
				case n >= 256:
					text[i] = byte(i)
				case r.IntN(4) == 0:
					text[i] = s.eq[r.IntN(3)] + byte(r.IntN(3)) - 1
				default:
					text[i] = byte(r.Uint32())
				}
			}
			s.mark(text)
			want, count := n, 0
			for p := n; p >= 0; p-- {
				if p < n && is(text[p]) {
					want = p
					count++
				}
				require.Equal(t, want, s.from(p), "%q from %d, signs %q below %d", text, p, s.eq, s.below)
			}
			require.Equal(t, count, s.count(n))
			portable := make([]uint64, n>>6)
			signBlocksPortable(portable, text, s.eq[0], s.eq[1], s.eq[2], s.below)
			require.Equal(t, s.bits[:n>>6], portable)
		}
	}
}

func BenchmarkSigns(b *testing.B) {
	text := make([]byte, 256<<10)
	s := signs{eq: [3]byte{',', '\n', '"'}, below: -128}
	b.Run("machine", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			s.mark(text)
		}
	})
	b.Run("portable", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			signBlocksPortable(s.bits[:len(text)>>6], text, ',', '\n', '"', -128)
		}
	})
}
