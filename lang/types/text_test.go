package types

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTimeText(t *testing.T) {
	for _, c := range []struct{ text, format, want string }{
		{"2026-01-31", "", "2026-01-31T00:00:00Z"},
		{"2026/01/31", "", "2026-01-31T00:00:00Z"},
		{"2001/01/01 06:55", "", "2001-01-01T06:55:00Z"},
		{"2026-01-31T10:00:00Z", "", "2026-01-31T10:00:00Z"},
		{"2026-01-31t10:00:00z", "", "2026-01-31T10:00:00Z"},
		{"2026-01-31 10:00:00.5", "", "2026-01-31T10:00:00.500Z"},
		{"2026-01-31 10:00:00,123456", "", "2026-01-31T10:00:00.123456Z"},
		{"2026-01-31T10:00:00.1234567891+02:00", "", "2026-01-31T08:00:00.123456789Z"},
		{"2026-01-31 10:00:00-0130", "", "2026-01-31T11:30:00Z"},
		{"2026-01-31 10:00:00 +02", "", "2026-01-31T08:00:00Z"},
		{"2026-01-31 10:00:00 UTC", "", "2026-01-31T10:00:00Z"},
		{"1969-12-31T23:59:59.999Z", "", "1969-12-31T23:59:59.999Z"},
		{"2024-02-29", "", "2024-02-29T00:00:00Z"},
		{"1700005900001", "ms", "2023-11-14T23:51:40.001Z"},
		{"-1", "ms", "1969-12-31T23:59:59.999Z"},
		{"1.5e9", "s", "2017-07-14T02:40:00Z"},
		{"1517363399.65", "s", "2018-01-31T01:49:59.650Z"},
		{"12345", "us", "1970-01-01T00:00:00.012345Z"},
		{"7", "ns", "1970-01-01T00:00:00.000000007Z"},
		{"02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05 -0700", "2006-01-02T22:04:05Z"},

		{"", "", ""}, {"2026-1-31", "", ""}, {"2023-02-29", "", ""}, {"2026-13-01", "", ""}, {"2026-01-31T24:00:00Z", "", ""},
		{"2026-01-31T10:00:60Z", "", ""}, {"2026-01-31T10:00:00.Z", "", ""}, {"2026-01-31T10:00:00+24:00", "", ""}, {"2026-01-31 ", "", ""},
		{"2026-01-31T10:00:00 ", "", ""}, {"2026-01/31", "", ""}, {"9999-01-01", "", ""}, {"hello world", "", ""}, {"2026-01-31T1x:00", "", ""},
		{"9223372036854775807", "ms", ""}, {"x", "s", ""}, {"", "ms", ""}, {"1e999999999", "s", ""}, {"2006-13-01", "2006-01-02", ""},
	} {
		ns, ok := ParseTime(c.text, c.format)
		if c.want == "" {
			assert.False(t, ok, "%q %q gave %d", c.text, c.format, ns)
			continue
		}
		if assert.True(t, ok, "%q %q", c.text, c.format) {
			assert.Equal(t, c.want, string(AppendTime(nil, ns, "")), c.text)
		}
	}
}

func TestTimeTextIsGos(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		ns := rnd.Int64() >> rnd.IntN(40)
		if rnd.IntN(2) == 0 {
			ns = -ns
		}
		at := time.Unix(0, ns).UTC()
		text := string(AppendTime(nil, ns, ""))
		back, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		require.Equal(t, ns, back.UnixNano(), text)
		got, ok := ParseTime(at.Format(time.RFC3339Nano), "")
		require.True(t, ok)
		require.Equal(t, ns, got, text)
		zone := time.FixedZone("", (rnd.IntN(48)-24)*1800)
		got, ok = ParseTime(at.In(zone).Format(time.RFC3339Nano), "")
		require.True(t, ok)
		require.Equal(t, ns, got, text)
		for _, f := range []string{"ns", "us", "ms", "s"} {
			unit := map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[f]
			got, ok = ParseTime(string(AppendTime(nil, ns, f)), f)
			require.True(t, ok || ns < math.MinInt64+1e9)
			require.True(t, !ok || got <= ns && ns-got < unit, "%s %d %d", f, ns, got)
		}
	}
}

func TestNumberText(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		v := rnd.Int64() >> rnd.IntN(64)
		if rnd.IntN(2) == 0 {
			v = -v
		}
		require.Equal(t, strconv.FormatInt(v, 10), string(AppendInt(nil, v)))
		d, ok := ParseDecimal(strconv.FormatInt(v, 10))
		require.True(t, ok)
		back, ok := d.Integer(0, false)
		require.True(t, ok)
		require.Equal(t, v, back)
		f := math.Float64frombits(rnd.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		g, err := strconv.ParseFloat(string(AppendFloat(nil, f)), 64)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(f), math.Float64bits(g))
	}
	for u := uint64(1); u < 1<<63; u *= 10 {
		for _, v := range []int64{int64(u), int64(u - 1), int64(u + 1), -int64(u), 1 - int64(u)} {
			require.Equal(t, strconv.FormatInt(v, 10), string(AppendInt(nil, v)))
		}
	}
	for in, want := range map[string]string{"1.0": "1", "1e3": "1000", "-12.50e1": "-125", "9223372036854775807": "9223372036854775807",
		"-9223372036854775808": "-9223372036854775808", "1000000000000000000000e-3": "1000000000000000000", "0.0000000000000000000000000": "0",
		"0e999999999": "0", "9223372036854775808": "", "1.5": "", "1e19": "", "1e-1": "", "": "", "-": "", "1x": "", ".": "", "1e": "", "1.2.3": ""} {
		got := ""
		if d, ok := ParseDecimal(in); ok {
			if v, ok := d.Integer(0, false); ok {
				got = strconv.FormatInt(v, 10)
			}
		}
		assert.Equal(t, want, got, in)
	}
	for f, want := range map[float64]string{0: "0", math.Copysign(0, -1): "-0", 1: "1", 1e21: "1e+21", 1e-7: "1e-7", 0.1: "0.1", 1e20: "100000000000000000000", 5e-324: "5e-324", 123.25: "123.25"} {
		assert.Equal(t, want, string(AppendFloat(nil, f)))
	}
}

func TestCalendar(t *testing.T) {
	for day := MinInstant/(secondsPerDay*1e9) - 1; day <= MaxInstant/(secondsPerDay*1e9)+1; day++ {
		y, m, d := DateOf(day)
		want := time.Unix(day*secondsPerDay, 0).UTC()
		if y != want.Year() || m != int(want.Month()) || d != want.Day() || DayOf(y, m, d) != day {
			t.Fatalf("day %d: %d-%d-%d, and back %d", day, y, m, d, DayOf(y, m, d))
		}
	}
	for _, y := range []int{-401, -1, 0, 1, 9999} {
		require.Equal(t, time.Date(y, 2, 3, 0, 0, 0, 0, time.UTC).Unix()/secondsPerDay, DayOf(y, 2, 3))
	}
	require.Equal(t, []int64{-2, 1, 0, 1}, []int64{FloorDiv(-3, 2), FloorMod(-3, 2), FloorMod(-4, 2), FloorMod(3, 2)})
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{"1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "7d": 7 * 24 * time.Hour, "-2w": -14 * 24 * time.Hour,
		"1.5d": 36 * time.Hour, "1w2d3h": (9*24 + 3) * time.Hour, "0": 0, "+1d": 24 * time.Hour, "1d500us": 24*time.Hour + 500*time.Microsecond} {
		got, ok := ParseDuration(in)
		assert.True(t, ok, in)
		assert.Equal(t, int64(want), got, in)
	}
	for _, in := range []string{"", "d", "5", "1 day", "1d-2h", "200000d", "99999w", "1x", "d1", "--1d"} {
		_, ok := ParseDuration(in)
		assert.False(t, ok, in)
	}
}
