package conn

import (
	"math"
	"math/bits"
)

// nexmarkRng is the random generator of one Nexmark event: xoshiro256++, seeded by the event's id through a PCG, with
// the ways of drawing that the reference data was made with. Every event has its own, so that any event can be made
// without the ones before it. Drawing returns the generator as it is afterwards, which keeps it in registers.
type nexmarkRng struct{ s0, s1, s2, s3 uint64 }

// The PCG steps by state = state*pcgMul + pcgAdd; n steps at once are state*pcgMulN + pcgAddN, so that the eight
// words of a seed do not wait for each other.
const (
	pcgMul, pcgAdd   = 6364136223846793005, 11634580027462260723
	pcgMul2, pcgAdd2 = pcgMul * pcgMul % (1 << 64), (pcgMul*pcgAdd + pcgAdd) % (1 << 64)
	pcgMul3, pcgAdd3 = pcgMul * pcgMul2 % (1 << 64), (pcgMul*pcgAdd2 + pcgAdd) % (1 << 64)
	pcgMul4, pcgAdd4 = pcgMul * pcgMul3 % (1 << 64), (pcgMul*pcgAdd3 + pcgAdd) % (1 << 64)
	pcgMul5, pcgAdd5 = pcgMul * pcgMul4 % (1 << 64), (pcgMul*pcgAdd4 + pcgAdd) % (1 << 64)
	pcgMul6, pcgAdd6 = pcgMul * pcgMul5 % (1 << 64), (pcgMul*pcgAdd5 + pcgAdd) % (1 << 64)
	pcgMul7, pcgAdd7 = pcgMul * pcgMul6 % (1 << 64), (pcgMul*pcgAdd6 + pcgAdd) % (1 << 64)
	pcgMul8, pcgAdd8 = pcgMul * pcgMul7 % (1 << 64), (pcgMul*pcgAdd7 + pcgAdd) % (1 << 64)
)

// newNexmarkRng returns the generator of the event id.
func newNexmarkRng(id uint64) nexmarkRng {
	return nexmarkRng{
		pcgWord(id*pcgMul+pcgAdd) | pcgWord(id*pcgMul2+pcgAdd2)<<32,
		pcgWord(id*pcgMul3+pcgAdd3) | pcgWord(id*pcgMul4+pcgAdd4)<<32,
		pcgWord(id*pcgMul5+pcgAdd5) | pcgWord(id*pcgMul6+pcgAdd6)<<32,
		pcgWord(id*pcgMul7+pcgAdd7) | pcgWord(id*pcgMul8+pcgAdd8)<<32,
	}
}

// pcgWord is the 32-bit output of a state.
func pcgWord(state uint64) uint64 {
	return uint64(bits.RotateLeft32(uint32((state>>18^state)>>27), -int(state>>59)))
}

// next draws 64 bits.
func (r nexmarkRng) next() (uint64, nexmarkRng) {
	out := bits.RotateLeft64(r.s0+r.s3, 23) + r.s0
	t := r.s1 << 17
	r.s2 ^= r.s0
	r.s3 ^= r.s1
	r.s1 ^= r.s2
	r.s0 ^= r.s3
	r.s2 ^= t
	r.s3 = bits.RotateLeft64(r.s3, 45)
	return out, r
}

// below draws a number from 0 to n-1 with 64 bits; n is at least 1.
func (r nexmarkRng) below(n int64) (int64, nexmarkRng) {
	zone := uint64(n)<<bits.LeadingZeros64(uint64(n)) - 1
	for {
		var v uint64
		v, r = r.next()
		if hi, lo := bits.Mul64(v, uint64(n)); lo <= zone {
			return int64(hi), r
		}
	}
}

// below32 draws a number from 0 to n-1 with 32 bits; n is at least 1.
func (r nexmarkRng) below32(n uint32) (uint32, nexmarkRng) {
	zone := n<<bits.LeadingZeros32(n) - 1
	for {
		var v uint64
		v, r = r.next()
		if p := v >> 32 * uint64(n); uint32(p) <= zone {
			return uint32(p >> 32), r
		}
	}
}

// lettersZone is up to where the low half of a product makes a letter; above it (5 in 10^9) the letter is drawn again.
const lettersZone = math.MaxUint32 - (1<<32)%26

// letters fills dst with letters from a to z. Most of the time of a run goes here.
func (r nexmarkRng) letters(dst []byte) nexmarkRng {
	for i := range dst {
		v, after := r.next()
		r = after
		p := v >> 32 * 26
		for uint32(p) > lettersZone {
			v, r = r.next()
			p = v >> 32 * 26
		}
		dst[i] = 'a' + byte(p>>32)
	}
	return r
}

// price draws a log-uniform price from 100 to just under 100,000,000.
func (r nexmarkRng) price() (int64, nexmarkRng) {
	v, r := r.next()
	u := float32(v>>40) * (1.0 / (1 << 24))
	return int64(float64(pow10(u*6)*100) + 0.5), r
}

// pow10 is 10 to the power of y, from 0 to 6, rounded to single precision exactly as the C library did when the
// reference data was made: the conversions keep a compiler from fusing multiplications with additions.
func pow10(y float32) float32 {
	const (
		log2of10 = 0x1.a934f0979b227p+1
		shift    = 0x1.8p+52 / 32
	)
	x := float64(float64(y) * log2of10)
	k := x + shift
	i := math.Float64bits(k)
	r := x - (k - shift)
	s := math.Float64frombits(exp2Table[i%32] + i<<47)
	z := float64(0x1.c6af84b912394p-5*r) + 0x1.ebfce50fac4f3p-3
	w := float64(0x1.62e42ff0c52d6p-1*r) + 1
	w = float64(z*float64(r*r)) + w
	return float32(w * s)
}

// exp2Table holds the bits of 2^(i/32), less i<<47.
var exp2Table = [32]uint64{
	0x3ff0000000000000, 0x3fefd9b0d3158574, 0x3fefb5586cf9890f, 0x3fef9301d0125b51,
	0x3fef72b83c7d517b, 0x3fef54873168b9aa, 0x3fef387a6e756238, 0x3fef1e9df51fdee1,
	0x3fef06fe0a31b715, 0x3feef1a7373aa9cb, 0x3feedea64c123422, 0x3feece086061892d,
	0x3feebfdad5362a27, 0x3feeb42b569d4f82, 0x3feeab07dd485429, 0x3feea47eb03a5585,
	0x3feea09e667f3bcd, 0x3fee9f75e8ec5f74, 0x3feea11473eb0187, 0x3feea589994cce13,
	0x3feeace5422aa0db, 0x3feeb737b0cdc5e5, 0x3feec49182a3f090, 0x3feed503b23e255d,
	0x3feee89f995ad3ad, 0x3feeff76f2fb5e47, 0x3fef199bdd85529c, 0x3fef3720dcef9069,
	0x3fef5818dcfba487, 0x3fef7c97337b9b5f, 0x3fefa4afa2a490da, 0x3fefd0765b6e4540,
}
