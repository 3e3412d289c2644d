package conn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runOf makes records of the fields, each with a comma behind it but for the last, which has a newline.
func runOf(records [][]string) *plainRun {
	x := &plainRun{signs: []int32{-1}, each: len(records[0]), rows: len(records)}
	for _, r := range records {
		for i, f := range r {
			x.text = append(x.text, f...)
			x.signs = append(x.signs, int32(len(x.text)))
			x.text = append(x.text, ",\n"[(i+1)/len(r)])
		}
	}
	x.text = append(x.text, make([]byte, slack)...)[:len(x.text)]
	return x
}

// digitsByHand is digits as the language has it.
func digitsByHand(fields []string, unit int64, most uint64, strict bool) (out []int64) {
	for _, f := range fields {
		d := strings.TrimPrefix(f, "-")
		v, err := strconv.ParseUint(d, 10, 64)
		if len(d) > 16 || err != nil || v > most || strict && len(d) > 1 && d[0] == '0' {
			return out
		}
		n := int64(v) * unit
		if d != f {
			n = -n
		}
		out = append(out, n)
	}
	return out
}

// TestPlainDigits compares both ways of reading digits with the library's, over values that are right, nearly right and wrong.
func TestPlainDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	draw := func() string {
		n := 1 + r.IntN(16)
		b := []byte(fmt.Sprintf("%020d", r.Uint64()))[20-n:]
		switch r.IntN(40) {
		case 0:
			b[r.IntN(n)] = byte(r.Uint32())
		case 1:
			b[r.IntN(n)] = "/:-. \x80\xff"[r.IntN(7)]
		case 2:
			return ""
		case 3:
			return strings.Repeat("9", 14+r.IntN(10))
		}
		if b[0] == '0' && r.IntN(8) > 0 {
			b[0] = '1'
		}
		if r.IntN(4) == 0 {
			return "-" + string(b)
		}
		return string(b)
	}
	for range 6_000 {
		records := make([][]string, 1+r.IntN(plainRows))
		for i := range records {
			records[i] = []string{"a", draw(), draw()}
		}
		x, at := runOf(records), 1+r.IntN(2)
		from := r.IntN(len(records))
		var fields []string
		for _, r := range records[from:] {
			fields = append(fields, r[at])
		}
		unit, most, strict := int64(1), uint64(math.MaxInt64), r.IntN(2) == 0
		if r.IntN(2) == 0 {
			unit, most = 1e6, math.MaxInt64/1_000_000
		}
		v := between{from: at, start: 1, to: at + 1}
		want := digitsByHand(fields, unit, most, strict)
		for name, read := range map[string]func([]int64, int, between, int64, uint64, bool) int{"machine": x.digits, "portable": x.digitsPortable} {
			have := make([]int64, len(fields))
			n := read(have, from, v, unit, most, strict)
			require.Equal(t, want, append([]int64(nil), have[:n]...), "%s: %q, unit %d, strict %v", name, fields, unit, strict)
		}
	}
	require.Zero(t, runOf([][]string{{"1"}}).digits(nil, 0, between{to: 1, start: 1}, 1, 1, true))
}

// TestPlainAlike compares both ways of comparing records with a byte by byte look.
func TestPlainAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 6_000 {
		lead := strings.Repeat(`"name of the field and more": `, 2)[:1+r.IntN(slack)]
		records := make([][]string, 1+r.IntN(plainRows))
		odd := r.IntN(2) == 0
		for i := range records {
			this := []byte(lead)
			if odd && r.IntN(len(records)) == 0 {
				this[r.IntN(len(this))] ^= 1 << r.IntN(8)
			}
			records[i] = []string{strings.Repeat("x", r.IntN(9)), string(this) + fmt.Sprint(r.IntN(1000)), "y"}
		}
		x := runOf(records)
		var want, mask [slack]byte
		copy(want[:], lead)
		same := true
		for i := range lead {
			mask[i] = 0xff
		}
		for _, r := range records {
			same = same && strings.HasPrefix(r[1], lead)
		}
		require.Equal(t, same, x.alike(1, -1, &want, &mask), "%q %q", lead, records)
		require.Equal(t, same, x.alikePortable(1, -1, &want, &mask), "%q %q", lead, records)

		ends := strings.Repeat(",,\n", len(records))
		if odd {
			p := x.signs[1+r.IntN(len(ends))]
			x.text[p] ^= 1 << r.IntN(8)
		}
		require.Equal(t, !odd, x.have(1, []byte(ends)))
		require.Equal(t, !odd, x.havePortable(1, []byte(ends)))
	}
}
