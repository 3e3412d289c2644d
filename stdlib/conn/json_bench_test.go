package conn

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"math/bits"
	"os"
	"testing"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/stretchr/testify/require"
)

var bidColumns = jsonColumns("auction: int; bidder: int; price: int; channel: string; url: string; date_time: time ms; extra: string")

// bidLines returns bids as JSON lines: made of a case's file where it is there, else up.
func bidLines(t testing.TB, spaced bool) []byte {
	var rows [][]string
	if f, err := os.Open("../../../shared/cases/nexmark/bid-10k.csv"); err == nil {
		defer f.Close()
		rows, err = csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		rows = rows[1:]
	} else {
		for i := range 10_000 {
			rows = append(rows, []string{fmt.Sprint(1000 + i/9), fmt.Sprint(1000 + i%977), fmt.Sprint(100 + i*7919%1_000_003), fmt.Sprintf("channel-%d", i%10_000),
				fmt.Sprintf("https://www.nexmark.com/abc/def/g%d/item.htm?query=1&channel_id=%d", i, i*31), fmt.Sprint(1_700_000_000_000 + i), "xbsadfuerkajskcxnvasudfas"[:5+i%20]})
		}
	}
	form := `{"auction":%s,"bidder":%s,"price":%s,"channel":%q,"url":%q,"date_time":%s,"extra":%q}` + "\n"
	if spaced {
		form = `{"auction": %s, "bidder": %s, "price": %s, "channel": %q, "url": %q, "date_time": %s, "extra": %q}` + "\n"
	}
	var b bytes.Buffer
	for len(rows) < 20_000 {
		rows = append(rows, rows...)
	}
	for _, r := range rows {
		fmt.Fprintf(&b, form, r[0], r[1], r[2], r[3], r[4], r[5], r[6])
	}
	return append(b.Bytes(), make([]byte, slack)...)[:b.Len()]
}

// bareBids is the least that reading bids takes: a loop for this one schema, notation and order, which checks next to
// nothing. b ends in slack.
func bareBids(b []byte, ints [4][]int64, strs [3][]string) (n, used int) {
	number := func(p int, lit string) (int64, int) {
		if string(b[p:p+len(lit)]) != lit {
			return 0, -1
		}
		p += len(lit)
		w := binary.LittleEndian.Uint64(b[p:]) ^ '0'*lowBits
		d := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
		u := foldDigits(w << (64 - 8*uint(d)))
		p += d
		for d >= 8 && b[p]-'0' <= 9 {
			u = u*10 + uint64(b[p]-'0')
			p++
		}
		return int64(u), p
	}
	text := func(p int, lit string) (string, int) {
		if string(b[p:p+len(lit)]) != lit {
			return "", -1
		}
		p += len(lit)
		from := p
		for {
			w := binary.LittleEndian.Uint64(b[p:])
			q, e := w^('"'*lowBits), w^('\\'*lowBits)
			if m := ((q-lowBits)&^q | (e-lowBits)&^e) & highBits; m != 0 {
				p += bits.TrailingZeros64(m) >> 3
				if b[p] != '"' {
					return "", -1
				}
				return view(b[from:p]), p + 1
			}
			p += 8
		}
	}
	p := 0
	for n < len(ints[0]) && p < len(b)-slack {
		if ints[0][n], p = number(p, `{"auction":`); p < 0 {
			return n, p
		}
		if ints[1][n], p = number(p, `,"bidder":`); p < 0 {
			return n, p
		}
		if ints[2][n], p = number(p, `,"price":`); p < 0 {
			return n, p
		}
		if strs[0][n], p = text(p, `,"channel":"`); p < 0 {
			return n, p
		}
		if strs[1][n], p = text(p, `,"url":"`); p < 0 {
			return n, p
		}
		if ints[3][n], p = number(p, `,"date_time":`); p < 0 {
			return n, p
		}
		ints[3][n] *= 1e6
		if strs[2][n], p = text(p, `,"extra":"`); p < 0 {
			return n, p
		}
		if string(b[p:p+2]) != "}\n" {
			return n, -1
		}
		p += 2
		n++
	}
	return n, p
}

func benchJSONDecode(b *testing.B, text []byte, fields []types.Field) {
	f := &jsonFormat{columns: fields}
	l, err := f.open("x", text, true)
	require.NoError(b, err)
	dec := l.decoder()
	rows := bytes.Count(text, []byte("\n"))
	const chunk = 1 << 20
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for from := 0; from < len(text); {
			var out parts
			used, err := dec.decode(text[from:min(from+chunk, len(text))], from+chunk >= len(text), &out)
			if err != nil {
				b.Fatal(err)
			}
			from += used
			for _, p := range out.list {
				n += p.n
				if len(p.failed) > 0 {
					b.Fatal(p.failed[0].err)
				}
			}
		}
		if n != rows {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func BenchmarkJSONDecode(b *testing.B) {
	plain := bidLines(b, false)
	rows := bytes.Count(plain, []byte("\n"))
	b.Run("bare", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		b.ReportAllocs()
		for b.Loop() {
			for from := 0; from < len(plain); {
				var ints [4][]int64
				var strs [3][]string
				for i := range ints {
					ints[i] = make([]int64, vec.MaxRows)
				}
				for i := range strs {
					strs[i] = make([]string, vec.MaxRows)
				}
				n, used := bareBids(plain[from:len(plain)+slack], ints, strs)
				if n == 0 || used < 0 {
					b.Fatal(n, used)
				}
				from += used
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
	})
	b.Run("all", func(b *testing.B) { benchJSONDecode(b, plain, bidColumns) })
	b.Run("two", func(b *testing.B) { benchJSONDecode(b, plain, []types.Field{bidColumns[0], bidColumns[2]}) })
	spaced := bidLines(b, true)
	b.Run("spaced", func(b *testing.B) { benchJSONDecode(b, spaced, bidColumns) })
}

// Nothing may be allocated for a row: only columns for a part.
func TestJSONDecodeAllocs(t *testing.T) {
	text := bidLines(t, false)
	l, err := (&jsonFormat{columns: bidColumns}).open("x", text, true)
	require.NoError(t, err)
	dec := l.decoder()
	rows := bytes.Count(text, []byte("\n"))
	allocs := testing.AllocsPerRun(3, func() {
		var out parts
		_, err := dec.decode(text, true, &out)
		require.NoError(t, err)
	})
	require.Less(t, allocs, float64(rows)/50)
}
