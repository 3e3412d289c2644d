package conn

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"os"
	"path/filepath"
	"testing"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/require"
)

var bidSchema = types.NewSchema(field("auction", types.T(types.Int)), field("bidder", types.T(types.Int)), field("price", types.T(types.Int)), field("channel", types.T(types.String)),
	field("url", types.T(types.String)), field("date_time", types.Type{Kind: types.Time, Format: "ms"}), field("extra", types.T(types.String)))

// bidText returns bids as CSV, times over, with a header.
func bidText(b testing.TB, times int) []byte {
	text, err := os.ReadFile(filepath.Join(casesDir(b, "nexmark"), "bid-10k.csv"))
	require.NoError(b, err)
	i := bytes.IndexByte(text, '\n') + 1
	return append(text[:i:i], bytes.Repeat(text[i:], times)...)
}

// baseline is the bare loop: it knows the columns, expects no surprise and checks next to nothing.
func baseline(b []byte, end int, ints [4][]int64, strs [3][]string) int {
	const delim = ',' * lowBits
	num := func(p int) (int64, int) {
		w := binary.LittleEndian.Uint64(b[p:]) ^ '0'*lowBits
		n := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
		u := foldDigits(w << (64 - 8*uint(n)))
		if n == 8 {
			w = binary.LittleEndian.Uint64(b[p+8:]) ^ '0'*lowBits
			m := bits.TrailingZeros64((w+0x76*lowBits|w)&highBits) >> 3
			return int64(u*powersOf10[m] + foldDigits(w<<(64-8*uint(m)))), p + 8 + m + 1
		}
		return int64(u), p + n + 1
	}
	text := func(p int, what uint64) (string, int) {
		from := p
		for ; ; p += 8 {
			x := binary.LittleEndian.Uint64(b[p:]) ^ what
			if m := (x - lowBits) & ^x & highBits; m != 0 {
				p += bits.TrailingZeros64(m) >> 3
				return view(b[from:p]), p + 1
			}
		}
	}
	row := 0
	for p := 0; p < end; row++ {
		ints[0][row], p = num(p)
		ints[1][row], p = num(p)
		ints[2][row], p = num(p)
		strs[0][row], p = text(p, delim)
		strs[1][row], p = text(p, delim)
		ints[3][row], p = num(p)
		ints[3][row] *= 1e6
		strs[2][row], p = text(p, '\n'*lowBits)
	}
	return row
}

func BenchmarkCSVBaseline(b *testing.B) {
	text := bidText(b, 1)
	text = text[bytes.IndexByte(text, '\n')+1:]
	n := bytes.Count(text, []byte{'\n'})
	text = append(text, make([]byte, slack)...)
	b.SetBytes(int64(len(text) - slack))
	for b.Loop() {
		var ints [4][]int64
		var strs [3][]string
		for i := range ints {
			ints[i] = make([]int64, n)
		}
		for i := range strs {
			strs[i] = make([]string, n)
		}
		if baseline(text, len(text)-slack, ints, strs) != n {
			b.Fatal("wrong")
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func benchDecode(b *testing.B, schema types.Schema, columns []int, text []byte) {
	form := &csvFormat{csvDialect: csvDialect{delim: ',', quote: '"', header: true}, columns: schema.Fields, wanted: columns}
	l, err := form.open("a.csv", text, true)
	require.NoError(b, err)
	skip, _ := l.skip()
	n := bytes.Count(text[skip:], []byte{'\n'})
	text = append(append(make([]byte, 0, len(text)-skip+slack), text[skip:]...), make([]byte, slack)...)[:len(text)-skip]
	d := l.decoder()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var ps parts
		d.decode(text, true, &ps)
		rows := 0
		for _, p := range ps.list {
			rows += p.n
			if len(p.failed) > 0 {
				b.Fatal(p.failed[0].err)
			}
		}
		if rows != n {
			b.Fatal("wrong")
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkCSVDecode(b *testing.B) {
	text := bidText(b, 1)
	nullable := types.Schema{}
	for _, f := range bidSchema.Fields {
		nullable.Fields = append(nullable.Fields, field(f.Name, f.Type.Null()))
	}
	all := []int{0, 1, 2, 3, 4, 5, 6}
	b.Run("all", func(b *testing.B) { benchDecode(b, bidSchema, all, text) })
	b.Run("nullable", func(b *testing.B) { benchDecode(b, nullable, all, text) })
	b.Run("two", func(b *testing.B) { benchDecode(b, bidSchema, []int{0, 2}, text) })
	b.Run("none", func(b *testing.B) { benchDecode(b, bidSchema, []int{}, text) })
	quoted := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(","), []byte(`","`)), []byte("\n"), []byte("\"\n\""))
	quoted = append([]byte{'"'}, quoted[:len(quoted)-1]...)
	b.Run("quoted", func(b *testing.B) { benchDecode(b, bidSchema, all, quoted) })
	weather := []byte("date,precipitation,temp_max,temp_min,wind,weather\n")
	weather = append(weather, bytes.Repeat([]byte("2012-01-01,0.0,12.8,5.0,4.7,drizzle\n2012-01-02,10.9,10.6,2.8,4.5,rain\n"), 5000)...)
	b.Run("weather", func(b *testing.B) {
		benchDecode(b, types.NewSchema(field("date", types.T(types.Time)), field("precipitation", types.T(types.Float)), field("temp_max", types.T(types.Float)), field("temp_min", types.T(types.Float)), field("wind", types.T(types.Float)), field("weather", types.T(types.String))), []int{0, 1, 2, 3, 4, 5}, weather)
	})
}

// The whole way from a file in the page cache to emitted batches, with event time.
func BenchmarkCSVSource(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bid.csv")
	text := bidText(b, 50)
	require.NoError(b, os.WriteFile(path, text, 0o666))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	out := exec.NewTap(func(int, exec.Item) {})
	for b.Loop() {
		s := read{args: map[string]any{"path": path}, schema: bidSchema, time: "date_time", lag: 1e9}.scanOf(exec.OS())
		s.Time = func(b *vec.Batch, _ func(int, error)) { b.Time = b.Cols[5].Ints }
		sources, err := csvOpen(s)
		require.NoError(b, err)
		for st := exec.More; st != exec.Done; {
			if st, err = sources[0].Poll(out); err != nil {
				b.Fatal(err)
			}
		}
		sources[0].Close()
	}
	b.ReportMetric(500_000*0.92*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkCSVEncode(b *testing.B) {
	text := bidText(b, 1)
	g := read{args: map[string]any{"path": "a.csv"}, schema: bidSchema}.run(b, memEnv(map[string]string{"a.csv": string(text)}), csvOpen)
	e, err := newCSVEncoder(&spec.Write{Args: &types.ConnArgs{Args: map[string]any{}}, Schema: bidSchema})
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = 0
		for _, x := range g.batch {
			out, err := e.Encode(x)
			if err != nil {
				b.Fatal(err)
			}
			n += out.N
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
