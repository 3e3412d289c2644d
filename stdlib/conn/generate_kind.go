package conn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// genKinds are the first words of a field's text.
var genKinds = []struct {
	name, form, text string
	make             func(f *genField, a genWords) error
}{
	{"sequence", "sequence [FROM] [by STEP]", "1, 2, 3, … or from FROM in steps", genSequence},
	{"int", "int LOW..HIGH", "any int of the range, its ends included", genInt},
	{"skewed", "skewed LOW..HIGH", "an int of the range, low ones far more often than high ones: 1 of 1..1000 comes 7 times as often as 9", genSkewed},
	{"float", "float LOW..HIGH [by STEP]", "any number of the range; with a step a multiple of it", genFloat},
	{"normal", "normal MEAN DEVIATION", "a normally distributed float", genNormal},
	{"bool", "bool [SHARE]", "true in that share of the rows, or in half of them", genBool},
	{"string", "string LENGTH | LOW..HIGH", "lower-case letters", genString},
	{"hex", "hex LENGTH", "hexadecimal digits", genHex},
	{"uuid", "uuid", "a random UUID (version 4)", genUUID},
	{"ip", "ip", "an IPv4 address", genIP},
	{"time", "time [FROM..TO]", "the event time of the row; with a range any time of it", genTime},
	{"duration", "duration LOW..HIGH", "any duration of the range, in whole milliseconds if its ends are", genDuration},
}

func genSequence(f *genField, a genWords) error {
	first, step, ok := int64(1), int64(1), true
	if len(a.words) > 1 {
		return a.misfit("it takes one number")
	}
	if len(a.words) == 1 {
		first, ok = decimalInt(a.words[0])
	}
	if a.by != "" && ok {
		step, ok = decimalInt(a.by)
	}
	if !ok {
		return a.misfit("its numbers are ints")
	}
	f.typ = types.T(types.Int)
	f.fill = func(c *vec.Column, from int64, n int, _ uint64, _ *genClock) {
		for i := range n {
			c.Ints[i] = first + (from+int64(i))*step
		}
	}
	return nil
}

// uniform fills whole numbers from low to high, both included, in steps.
func uniform(low, high, step int64) func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
	count := uint64(high-low)/uint64(step) + 1 // 0: all of 2^64
	return func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
		for i := range n {
			d := draw(seed, from+int64(i))
			if count != 0 {
				d = within(d, count)
			}
			c.Ints[i] = low + int64(d*uint64(step))
		}
	}
}

func genInt(f *genField, a genWords) error {
	low, high, err := a.intRange(decimalInt)
	f.typ, f.fill = types.T(types.Int), uniform(low, high, 1)
	return err
}

func genDuration(f *genField, a genWords) error {
	low, high, err := a.intRange(types.ParseDuration)
	step := int64(1)
	if low%int64(time.Millisecond) == 0 && high%int64(time.Millisecond) == 0 {
		step = int64(time.Millisecond)
	}
	f.typ, f.fill = types.T(types.Duration), uniform(low, high, step)
	return err
}

func genTime(f *genField, a genWords) error {
	f.typ = types.T(types.Time)
	if len(a.words) == 0 {
		f.clock = true
		f.fill = func(c *vec.Column, from int64, n int, _ uint64, clock *genClock) {
			for i := range n {
				c.Ints[i] = clock.at(from + int64(i))
			}
		}
		return nil
	}
	low, high, err := a.intRange(types.ParseInstant)
	step := int64(1)
	if low%int64(time.Millisecond) == 0 && high%int64(time.Millisecond) == 0 {
		step = int64(time.Millisecond)
	}
	f.fill = uniform(low, high, step)
	return err
}

func genSkewed(f *genField, a genWords) error {
	low, high, err := a.intRange(decimalInt)
	if err != nil {
		return err
	}
	size := float64(high) - float64(low) + 1
	if size > 1<<53 {
		return a.misfit("the range is too large")
	}
	f.typ = types.T(types.Int)
	spread := math.Log(size + 1)
	f.fill = func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
		for i := range n { // log-uniform: the k-th value has a share of log(1+1/k)
			k := int64(math.Exp(unit(draw(seed, from+int64(i))) * spread))
			c.Ints[i] = low + min(max(k, 1), int64(size)) - 1
		}
	}
	return nil
}

func genFloat(f *genField, a genWords) error {
	x, y, err := a.ends()
	if err != nil {
		return err
	}
	low, err1 := strconv.ParseFloat(x, 64)
	high, err2 := strconv.ParseFloat(y, 64)
	if err1 != nil || err2 != nil || !(low <= high) || math.IsInf(high-low, 0) {
		return a.misfit(fmt.Sprintf("%q is no range of numbers", a.words[0]))
	}
	f.typ = types.T(types.Float)
	if a.by == "" {
		f.fill = func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
			for i := range n {
				c.Floats[i] = low + unit(draw(seed, from+int64(i)))*(high-low)
			}
		}
		return nil
	}
	step, err := strconv.ParseFloat(a.by, 64)
	if err != nil || !(step > 0) || (high-low)/step > 1<<53 {
		return a.misfit(fmt.Sprintf("%q is no step", a.by))
	}
	// Steps such as 0.01 have no exact float: dividing by 100 gives the nearest one, multiplying by 0.01 does not.
	scale := math.Round(1 / step)
	if scale < 1 || math.Abs(scale*step-1) > 1e-9 {
		scale = 0
	}
	count := uint64((high-low)/step+1e-9) + 1
	f.fill = func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
		for i := range n {
			k := float64(within(draw(seed, from+int64(i)), count))
			if scale > 0 {
				c.Floats[i] = (math.Round(low*scale) + k) / scale
			} else {
				c.Floats[i] = low + k*step
			}
		}
	}
	return nil
}

func genNormal(f *genField, a genWords) error {
	if len(a.words) != 2 {
		return a.misfit("two numbers are wanted")
	}
	mean, err1 := strconv.ParseFloat(a.words[0], 64)
	deviation, err2 := strconv.ParseFloat(a.words[1], 64)
	if err1 != nil || err2 != nil || !(deviation >= 0) {
		return a.misfit("two numbers are wanted, the second not below 0")
	}
	f.typ = types.T(types.Float)
	f.fill = func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
		for i := range n { // Box and Muller
			u := 1 - unit(draw(seed, from+int64(i)))
			v := unit(draw(seed^secondSalt, from+int64(i)))
			c.Floats[i] = mean + deviation*math.Sqrt(-2*math.Log(u))*math.Cos(2*math.Pi*v)
		}
	}
	return nil
}

func genBool(f *genField, a genWords) error {
	p, ok := 0.5, len(a.words) <= 1
	if len(a.words) == 1 {
		p, ok = shareOf(a.words[0])
	}
	if !ok {
		return a.misfit("a share from 0 to 1 is wanted")
	}
	f.typ = types.T(types.Bool)
	limit := share(p)
	f.fill = func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
		for i := range n {
			c.Bools[i] = draw(seed, from+int64(i)) < limit
		}
	}
	return nil
}

// longestText bounds the strings that are made, so that a batch of them fits in memory.
const longestText = 4096

func genString(f *genField, a genWords) error {
	if len(a.words) == 1 && !strings.Contains(a.words[0], "..") {
		a.words[0] += ".." + a.words[0]
	}
	low, high, err := a.intRange(decimalInt)
	if err != nil {
		return err
	}
	if low < 0 || high > longestText {
		return a.misfit(fmt.Sprintf("a length is from 0 to %d", longestText))
	}
	f.texts(int(high), func(dst []byte, d *draws) []byte {
		for range low + int64(within(d.next(), uint64(high-low+1))) {
			dst = append(dst, 'a'+byte(within(d.next(), 26)))
		}
		return dst
	})
	return nil
}

func genHex(f *genField, a genWords) error {
	if len(a.words) != 1 {
		return a.misfit("one length is wanted")
	}
	size, ok := decimalInt(a.words[0])
	if !ok || size < 0 || size > longestText {
		return a.misfit(fmt.Sprintf("a length is from 0 to %d", longestText))
	}
	f.texts(int(size), func(dst []byte, d *draws) []byte {
		for range size {
			dst = append(dst, "0123456789abcdef"[d.next()>>60])
		}
		return dst
	})
	return nil
}

func genUUID(f *genField, a genWords) error {
	if len(a.words) > 0 {
		return a.misfit("nothing follows it")
	}
	f.texts(36, func(dst []byte, d *draws) []byte {
		hi, lo := d.next()&^0xf000|0x4000, d.next()&^(3<<62)|2<<62 // version and variant
		for i := range 32 {
			if i == 8 || i == 12 || i == 16 || i == 20 {
				dst = append(dst, '-')
			}
			w := hi
			if i >= 16 {
				w = lo
			}
			dst = append(dst, "0123456789abcdef"[w>>(60-4*(i%16))&15])
		}
		return dst
	})
	return nil
}

func genIP(f *genField, a genWords) error {
	if len(a.words) > 0 {
		return a.misfit("nothing follows it")
	}
	f.texts(15, func(dst []byte, d *draws) []byte {
		w := d.next()
		dst = strconv.AppendUint(dst, 1+within(w<<24, 223), 10) // no network 0, no multicast
		for i := range 3 {
			dst = strconv.AppendUint(append(dst, '.'), w>>(40+8*i)&255, 10)
		}
		return dst
	})
	return nil
}

// texts makes the field a string; the strings of a batch share one block.
func (f *genField) texts(longest int, add func(dst []byte, d *draws) []byte) {
	f.typ = types.T(types.String)
	f.fill = func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
		var block strings.Builder
		block.Grow(longest * n)
		scratch := make([]byte, 0, longest)
		for i := range n {
			d := draws{mix64(seed ^ uint64(from+int64(i))*rowSalt)}
			scratch = add(scratch[:0], &d)
			start := block.Len()
			block.Write(scratch)
			c.Strs[i] = block.String()[start:]
		}
	}
}
