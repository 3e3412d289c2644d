package fn

import (
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "format", Group: "time", Signature: `format(t: time, layout: string, zone: string = "UTC") -> string`,
		Text: "A time as text. The layout shows how the moment 2006-01-02 15:04:05 would be written: `\"2006-01-02\"` for the date, " +
			"`\"15:04\"` for the minute, `\"Jan 2, 2006\"` for people.",
		Examples: []spec.Example{{Code: `format(@2026-01-31T17:05:09Z, "2006-01-02")`, Want: `"2026-01-31"`}, {Code: `format(@2026-01-31T17:05:09Z, "Mon 15:04", "America/New_York")`, Want: `"Sat 12:05"`}}},
	Overloads: []spec.Overload{
		{Sig: sig(stringT, timeT, stringT), Kernel: formatKernel},
		{Sig: types.Sig{Params: []types.Type{timeT, stringT, stringT}, Infer: zoned(stringT, 2), Rare: true}, Kernel: func(c *eval.Call) {
			layouts := of[string](c.Args[1])
			text := make([]byte, 0, c.N*8)
			inZone(c, 2, func(i int, t time.Time) {
				start := len(text)
				text = t.AppendFormat(text, layouts.at(i))
				c.Out.Strs[i] = view(text[start:])
			})
		}},
	},
})

func formatKernel(c *eval.Call) {
	in, out := c.Args[0].Col.Ints, c.Out.Strs
	layouts := of[string](c.Args[1])
	f, ok := c.Memo.(*layout)
	if !ok {
		f = &layout{}
		c.Memo = f
	}
	b := make([]byte, 0, f.size)
	from, width, text := int64(0), uint64(0), "" // times in [from, from+width) are written as text
	each(c, func(i int) {
		if layouts.mask != 0 || width == 0 {
			if l := layouts.at(i); l != f.text || f.parts == nil && !f.slow {
				*f = newLayout(strings.Clone(l))
				width = 0
			}
		}
		t := in[i]
		if uint64(t-from) >= width {
			start := len(b)
			b = f.append(b, t)
			from, width, text = t-types.FloorMod(t, f.unit), uint64(f.unit), view(b[start:])
		}
		out[i] = text // times that a layout does not tell apart share their text
	})
	f.size = max(f.size, len(b))
}

// layout is a layout of package time, split into what integer arithmetic can write.
type layout struct {
	text  string
	parts []string
	unit  int64 // nanoseconds that the layout does not tell apart
	slow  bool  // only package time can write it
	size  int
}

func newLayout(text string) layout {
	f := layout{text: text, unit: nsDay}
	for s := text; s != ""; {
		switch {
		case strings.HasPrefix(s, "2006"):
			f.parts, s = append(f.parts, "2006"), s[4:]
			continue
		case len(s) >= 2 && (s[:2] == "01" || s[:2] == "02" || s[:2] == "15" || s[:2] == "04" || s[:2] == "05"):
			switch s[:2] {
			case "15":
				f.unit = min(f.unit, nsHour)
			case "04":
				f.unit = min(f.unit, nsMinute)
			case "05":
				f.unit = min(f.unit, nsSecond)
			}
			f.parts, s = append(f.parts, s[:2]), s[2:]
			continue
		case !plainInLayout(s):
			return layout{text: text, unit: 1, slow: true}
		}
		f.parts, s = append(f.parts, s[:1]), s[1:]
	}
	if f.parts == nil {
		f.slow, f.unit = true, 1
	}
	return f
}

// plainInLayout reports whether the first byte of s surely stands for itself.
func plainInLayout(s string) bool {
	switch s[0] {
	case '-', ':', '/', ' ', 'T':
		return !strings.HasPrefix(s[1:], "07") // "-07" is an offset
	case 'Z':
		return len(s) == 1
	}
	return false
}

func (f *layout) append(b []byte, t int64) []byte {
	if f.slow {
		return time.Unix(0, t).UTC().AppendFormat(b, f.text)
	}
	days := daysOf(t)
	clock := int(types.FloorMod(t, nsDay) / nsSecond)
	y, m, d := types.DateOf(days)
	for _, p := range f.parts {
		switch p {
		case "2006":
			b = appendTwo(appendTwo(b, y/100), y%100)
		case "01":
			b = appendTwo(b, m)
		case "02":
			b = appendTwo(b, d)
		case "15":
			b = appendTwo(b, clock/3600)
		case "04":
			b = appendTwo(b, clock/60%60)
		case "05":
			b = appendTwo(b, clock%60)
		default:
			b = append(b, p...)
		}
	}
	return b
}

func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }
