package conn

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/zeebo/xxh3"
)

// What `generate` makes of one field: a text such as "int 1..100 null 0.1", a list to choose from, a record of fields, or
// a constant. Every value is a function of the seed, the field's name and the row's number, so that rows come out the
// same however they are dealt to tasks, and a field does not change when another one is added.

// genField makes the values of one field.
type genField struct {
	typ   types.Type
	seed  uint64
	nulls float64 // share of nulls
	fill  func(c *vec.Column, from int64, n int, seed uint64, clock *genClock)
	clock bool // the row's event time
}

// newGenField reads what a script says of a field. t is the type of v, Invalid if it is not known.
func newGenField(path string, v any, t types.Type, seed uint64) (*genField, error) {
	f := &genField{seed: mix64(seed ^ xxh3.HashString(path))}
	switch x := v.(type) {
	case string:
		if err := f.read(x); err != nil {
			return nil, fmt.Errorf("field %s: %w", path, err)
		}
		f.typ = f.typ.OrNull(f.nulls > 0)
		return f, nil
	case []any:
		return f, f.choose(path, x, t)
	case map[string]any:
		fields, err := genFields(path+".", x, t, seed)
		if err != nil {
			return nil, err
		}
		f.record(fields)
		return f, nil
	case nil:
		return nil, fmt.Errorf("field %s: nil is no kind of value; write for example \"int 1..100 null 0.1\"", path)
	}
	return f, f.choose(path, []any{v}, types.ListOf(t))
}

// genFields reads the fields of a record, in the order in which they were written where that is known.
func genFields(prefix string, m map[string]any, t types.Type, seed uint64) ([]genNamed, error) {
	var out []genNamed
	for _, name := range orderedNames(m, t) {
		var ft types.Type
		if i := t.Field(name); i >= 0 {
			ft = t.Fields[i].Type
		}
		f, err := newGenField(prefix+name, m[name], ft, seed)
		if err != nil {
			return nil, err
		}
		out = append(out, genNamed{name, f})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf(`generate makes rows of at least one field, as in generate({id: "sequence", price: "float 1..100"})`)
	}
	return out, nil
}

type genNamed struct {
	name  string
	field *genField
}

// column makes the values of n rows from row number from on.
func (f *genField) column(from int64, n int, clock *genClock) *vec.Column {
	c := vec.New(f.typ, n)
	f.fill(c, from, n, f.seed, clock)
	if f.nulls > 0 {
		limit := share(f.nulls)
		c.Valid = vec.FullBitmap(n)
		for i := range n {
			if draw(f.seed^nullSalt, from+int64(i)) < limit {
				c.Valid.Clear(i)
			}
		}
	}
	return c
}

func (f *genField) record(fields []genNamed) {
	for _, k := range fields {
		f.typ.Fields = append(f.typ.Fields, types.Field{Name: k.name, Type: k.field.typ})
	}
	f.typ.Kind = types.Record
	f.fill = func(c *vec.Column, from int64, n int, _ uint64, clock *genClock) {
		for i, k := range fields {
			c.Kids[i] = k.field.column(from, n, clock)
		}
	}
}

// choose makes the field one of the values; a value that stands twice comes twice as often.
func (f *genField) choose(path string, values []any, t types.Type) error {
	var err error
	if f.typ, err = listElem(values, t); err != nil {
		return fmt.Errorf("field %s: %w", path, err)
	}
	if len(values) == 0 || f.typ.Kind == types.Null || f.typ.Kind == types.Invalid {
		return fmt.Errorf(`field %s: a list to choose from has at least one value, as in ["Rome", "Oslo"]`, path)
	}
	b := vec.NewBuilder(f.typ)
	for _, v := range values {
		b.Append(v)
	}
	choices := b.Column()
	f.fill = func(c *vec.Column, from int64, n int, seed uint64, _ *genClock) {
		rows := make([]uint32, n)
		if len(values) > 1 {
			for i := range rows {
				rows[i] = uint32(within(draw(seed, from+int64(i)), uint64(len(values))))
			}
		}
		*c = *choices.Gather(rows)
	}
	return nil
}

// read reads a field's text.
func (f *genField) read(text string) error {
	words := strings.Fields(text)
	a := genWords{text: text}
	for i := 1; i < len(words); i++ {
		to := &a.by
		switch words[i] {
		case "null":
			to = &a.null
		case "by":
		default:
			a.words = append(a.words, words[i])
			continue
		}
		if i++; i == len(words) || *to != "" {
			return a.misfit("a value follows `" + words[i-1] + "`, which comes once")
		}
		*to = words[i]
	}
	if a.null != "" {
		var ok bool
		if f.nulls, ok = shareOf(a.null); !ok {
			return a.misfit(fmt.Sprintf("%q is no share of nulls, from 0 to 1", a.null))
		}
	}
	var names []string
	for _, k := range genKinds {
		if names = append(names, k.name); len(words) > 0 && words[0] == k.name {
			a.form = k.form
			if a.by != "" && !strings.Contains(k.form, " by ") && !strings.Contains(k.form, "by STEP") {
				return a.misfit("it takes no `by`")
			}
			return k.make(f, a)
		}
	}
	hint := ""
	if len(words) > 0 {
		if near := nearest(words[0], names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
	}
	return fmt.Errorf("%q is no kind of value%s; there are %s. A constant text is a list of one: [%q]", text, hint, strings.Join(names, " "), text)
}

// genWords are the words behind the kind.
type genWords struct {
	text, form, by, null string
	words                []string
}

func (a genWords) misfit(why string) error {
	if a.form == "" {
		return fmt.Errorf("%q: %s", a.text, why)
	}
	return fmt.Errorf("%q: %s; the form is %q", a.text, why, a.form)
}

// ends reads the one range LOW..HIGH that there must be.
func (a genWords) ends() (low, high string, err error) {
	if len(a.words) != 1 {
		return "", "", a.misfit("one range is wanted")
	}
	low, high, ok := strings.Cut(a.words[0], "..")
	if !ok || low == "" || high == "" {
		return "", "", a.misfit(fmt.Sprintf("%q is no range", a.words[0]))
	}
	return low, high, nil
}

// intRange reads a range of what parse takes.
func (a genWords) intRange(parse func(string) (int64, bool)) (low, high int64, err error) {
	x, y, err := a.ends()
	if err != nil {
		return 0, 0, err
	}
	low, ok := parse(x)
	if !ok {
		return 0, 0, a.misfit(fmt.Sprintf("%q does not fit", x))
	}
	if high, ok = parse(y); !ok {
		return 0, 0, a.misfit(fmt.Sprintf("%q does not fit", y))
	}
	if low > high {
		return 0, 0, a.misfit("the range is empty")
	}
	return low, high, nil
}

func shareOf(s string) (float64, bool) {
	p, err := strconv.ParseFloat(s, 64)
	return p, err == nil && p >= 0 && p <= 1
}

func decimalInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	return n, err == nil
}
