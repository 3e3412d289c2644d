package eval

import (
	"strings"
	"unsafe"

	"github.com/ebb-lang/ebb/exec/vec"
)

// textTest is contains, startsWith and endsWith: false where a side is null.
type textTest struct {
	test func(s, x string) bool
	a, b operand
}

func (o *textTest) kids() []*node { return operandKids(o.a, o.b) }

func (o operand) text(v value, i uint32) string {
	if o.n == nil {
		s, _ := o.val.(string)
		return s
	}
	return v.Strs[i]
}

func (o *textTest) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	valid := vec.And(a.valid(), b.valid())
	for _, i := range r.rows(sel) {
		out.Bools[i] = (valid == nil || valid.Get(int(i))) && o.test(o.a.text(a, i), o.b.text(b, i))
	}
	r.drop(a)
	r.drop(b)
	return out
}

// matches is `matches` with a constant pattern, or one that is compiled where it changes.
type matches struct {
	a, b  operand
	re    *Regexp // of a constant pattern
	cache map[string]*Regexp
}

// maxPatterns bounds the patterns that a program keeps compiled.
const maxPatterns = 64

func (o *matches) kids() []*node { return operandKids(o.a, o.b) }

func (o *matches) eval(r *run, n *node, sel []uint32) value {
	a, b := r.get(o.a, sel), r.get(o.b, sel)
	out := r.new(n.typ)
	valid := vec.And(a.valid(), b.valid())
	re, last := o.re, ""
	for _, i := range r.rows(sel) {
		out.Bools[i] = false
		if valid != nil && !valid.Get(int(i)) {
			continue
		}
		if o.re == nil {
			if p := b.Strs[i]; re == nil || p != last {
				var err error
				if re, err = o.compiled(p); err != nil {
					r.fail(n, int(i), err)
					re = nil
					continue
				}
				last = p
			}
		}
		out.Bools[i] = re.Match(o.a.text(a, i))
	}
	r.drop(a)
	r.drop(b)
	return out
}

func (o *matches) compiled(p string) (*Regexp, error) {
	if re := o.cache[p]; re != nil {
		return re, nil
	}
	re, err := CompileRegexp(p)
	if err != nil {
		return nil, err
	}
	if o.cache == nil || len(o.cache) >= maxPatterns {
		o.cache = map[string]*Regexp{}
	}
	o.cache[strings.Clone(p)] = re
	return re, nil
}

// concat is a chain of + over strings: the rows of a batch share one block of memory.
type concat struct{ parts []operand }

func (o *concat) kids() []*node { return operandKids(o.parts...) }

func (o *concat) eval(r *run, n *node, sel []uint32) value {
	vals := make([]value, len(o.parts))
	var valid vec.Bitmap
	for k, p := range o.parts {
		vals[k] = r.get(p, sel)
		valid = vec.And(valid, vals[k].valid())
	}
	rows := r.rows(sel)
	var buf []uint32
	if valid != nil {
		buf = r.sel()
		rows = validRows(valid, rows, buf)
	}
	size := 0
	for k, p := range o.parts {
		if p.n == nil {
			size += len(p.text(value{}, 0)) * len(rows)
			continue
		}
		for _, i := range rows {
			size += len(vals[k].Strs[i])
		}
	}
	if size > vec.MaxValue { // rare: a row of its own may be too long
		keep := rows[:0:0]
		size = 0
		for _, i := range rows {
			long := 0
			for k, p := range o.parts {
				long += len(p.text(vals[k], i))
			}
			if long > vec.MaxValue {
				r.fail(n, int(i), vec.TooLarge("text", long))
				continue
			}
			size += long
			keep = append(keep, i)
		}
		rows = keep
	}
	out := r.new(n.typ)
	out.Valid = valid
	block := make([]byte, 0, size)
	for _, i := range rows {
		start := len(block)
		for k, p := range o.parts {
			block = append(block, p.text(vals[k], i)...)
		}
		out.Strs[i] = view(block[start:])
	}
	if buf != nil {
		r.freeSel(buf)
	}
	for _, v := range vals {
		r.drop(v)
	}
	return out
}

// view returns a string over b, which nobody changes any more.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
