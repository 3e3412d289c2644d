package conn

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSigns compares both ways of finding signs with a loop over bytes, for every byte and many lengths.
func TestSigns(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
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

// TestPlaces compares the places of signs with a search from each place on, in texts of few and of many signs, of which
// some are passed over.
func TestPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := signs{eq: [3]byte{',', '\n', '"'}, below: -128}
	var x places
	for range 300 {
		text := make([]byte, r.IntN(20_000))
		for i, rare := 0, 1+r.IntN(200); i < len(text); i++ {
			if text[i] = 'a'; r.IntN(rare) == 0 {
				text[i] = s.eq[r.IntN(3)]
			}
		}
		s.mark(text)
		least := 1 + r.IntN(2000)
		x.start(&s, least)
		for p := 0; p < len(text); {
			have := x.from(p, least)
			require.EqualValues(t, p-1, have[0])
			q := p
			for _, at := range have[1:] {
				q = s.from(q)
				require.EqualValues(t, q, at)
				q++
			}
			if len(have) <= least {
				require.Equal(t, len(text), s.from(q), "there are more")
			}
			p += 1 + r.IntN(max(1, 2*(q-p)))
		}
	}
}

// TestBits compares both ways of listing bits.
func TestBits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 200 {
		words := make([]uint64, 1+n%17)
		for i := range words {
			words[i] = ^uint64(0)
			for range r.IntN(8) {
				words[i] &= r.Uint64()
			}
		}
		want, have := make([]int32, len(words)<<6), make([]int32, len(words)<<6)
		k := listBitsPortable(want, words, 640)
		require.Equal(t, k, listBits(&have[0], &words[0], len(words), 640))
		require.Equal(t, want[:k], have[:k])
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
