package testrun

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
)

// mostShown is how many rows of a kind are shown.
const mostShown = 20

// Text shows the difference to people: pairs of rows that are nearly equal, with what differs marked, then those that have
// nothing near.
func (d *Diff) Text() string {
	var b strings.Builder
	b.WriteString(d.Head())
	if d.Order {
		for i, row := range d.Have[:min(len(d.Have), mostShown)] {
			mark := "  "
			if !fits(d.Step, d.Step.Rows[i], row) {
				mark = "~ "
			}
			b.WriteString("\n  " + mark + d.have(row))
		}
		d.more(&b, len(d.Have)-mostShown)
		return b.String()
	}
	var near, far []int
	for _, p := range d.Pairs {
		near, far = append(near, p[0]), append(far, p[1])
	}
	for _, p := range d.Pairs[:min(len(d.Pairs), mostShown)] {
		want, have := d.Missing[p[0]], d.Unexpected[p[1]]
		b.WriteString("\n  - " + d.want(want))
		b.WriteString("\n  + " + d.have(have))
		if m := d.marks(want, have); m != "" {
			b.WriteString("\n    " + m)
		}
	}
	d.more(&b, len(d.Pairs)-mostShown)
	n := 0
	for i, row := range d.Missing {
		if slices.Contains(near, i) {
			continue
		}
		if n++; n <= mostShown {
			b.WriteString("\n  - " + d.want(row))
		}
	}
	d.more(&b, n-mostShown)
	n = 0
	for k, row := range d.Unexpected {
		if slices.Contains(far, k) {
			continue
		}
		if n++; n <= mostShown {
			b.WriteString("\n  + " + d.have(row))
		}
	}
	d.more(&b, n-mostShown)
	return b.String()
}

func (d *Diff) more(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "\n    … and %d more", n)
	}
}

// Head says in one line what is wrong.
func (d *Diff) Head() string {
	name := d.Step.Subject()
	if d.Order {
		return fmt.Sprintf("the rows of %s are right, but stand in another order (~)", name)
	}
	var parts []string
	if n := len(d.Missing); n > 0 {
		parts = append(parts, someOf(n, d.Expected, "expected row", "missing (-)"))
	}
	if n := len(d.Unexpected); n > 0 {
		parts = append(parts, someOf(n, len(d.Have), "row that came", "not expected (+)"))
	}
	return fmt.Sprintf("%s: %s", name, strings.Join(parts, ", "))
}

// someOf says that n of all rows are something.
func someOf(n, all int, row, are string) string {
	head, tail, _ := strings.Cut(row, "row")
	switch {
	case all == 1:
		return fmt.Sprintf("the %srow%s is %s", head, tail, are)
	case n == all:
		return fmt.Sprintf("all %d %srows%s are %s", all, head, tail, are)
	case n == 1:
		return fmt.Sprintf("1 of the %d %srows%s is %s", all, head, tail, are)
	}
	return fmt.Sprintf("%d of the %d %srows%s are %s", n, all, head, tail, are)
}

// want is an expected row as it would be written.
func (d *Diff) want(row check.TestRow) string {
	text, _ := d.write(func(c string) (string, bool) {
		if c == changeColumn {
			return fmt.Sprintf("%q", row.Change), row.Change != ""
		}
		v, ok := row.Values[c]
		return format(d.typeOf(c), v), ok
	})
	return text
}

// have is a row as it would be expected.
func (d *Diff) have(row Row) string {
	text, _ := d.write(d.value(row))
	return text
}

func (d *Diff) value(row Row) func(c string) (string, bool) {
	return func(c string) (string, bool) {
		if c == changeColumn {
			return fmt.Sprintf("%q", row.Change.String()), true
		}
		return format(d.typeOf(c), row.Values[c]), true
	}
}

func (d *Diff) typeOf(column string) types.Type {
	return d.Step.Schema.Fields[d.Step.Schema.Index(column)].Type
}

// write writes a row, and tells where its values stand.
func (d *Diff) write(value func(column string) (string, bool)) (text string, at map[string][2]int) {
	var b strings.Builder
	at = map[string][2]int{}
	b.WriteByte('{')
	for _, c := range d.Columns {
		v, ok := value(c)
		if !ok {
			continue
		}
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		b.WriteString(types.QuoteName(c) + ": ")
		from := utf8.RuneCountInString(b.String())
		b.WriteString(v)
		at[c] = [2]int{from, utf8.RuneCountInString(b.String())}
	}
	b.WriteByte('}')
	return b.String(), at
}

// marks is a line that stands below a row and marks what is not as expected.
func (d *Diff) marks(want check.TestRow, have Row) string {
	text, at := d.write(d.value(have))
	line := []rune(strings.Repeat(" ", utf8.RuneCountInString(text)))
	mark := func(c string) {
		for i := at[c][0]; i < at[c][1]; i++ {
			line[i] = '~'
		}
	}
	if want.Change != "" && want.Change != have.Change.String() {
		mark(changeColumn)
	}
	for _, c := range want.Names {
		if !same(d.typeOf(c), want.Values[c], have.Values[c]) {
			mark(c)
		}
	}
	return strings.TrimRight(string(line), " ")
}

// format writes a value as a script does.
func format(t types.Type, v any) string {
	if v == nil {
		return "nil"
	}
	switch t.Kind {
	case types.Any:
		if text, ok := v.(string); ok {
			return text
		}
	case types.List:
		parts := []string{}
		for _, x := range v.([]any) {
			parts = append(parts, format(*t.Elem, x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case types.Record:
		parts := []string{}
		for _, f := range t.Fields {
			parts = append(parts, types.QuoteName(f.Name)+": "+format(f.Type, v.(map[string]any)[f.Name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return types.FormatConst(t, v)
}
