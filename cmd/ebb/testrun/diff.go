package testrun

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
)

// What is shown of rows: how many of a kind, how many runes of a value, and of a row.
const (
	mostShown  = 20
	mostOfCell = 160
	mostOfRow  = 1000
)

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
			b.WriteString("\n  " + mark + d.shown(row))
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
		for _, line := range d.beside(want, have) {
			b.WriteString("\n  " + line)
		}
	}
	d.more(&b, len(d.Pairs)-mostShown)
	n := 0
	for i, row := range d.Missing {
		if slices.Contains(near, i) {
			continue
		}
		if n++; n <= mostShown {
			b.WriteString("\n  - " + clipped(d.row(d.wanted(row), nil).text, mostOfRow))
		}
	}
	d.more(&b, n-mostShown)
	n = 0
	for k, row := range d.Unexpected {
		if slices.Contains(far, k) {
			continue
		}
		if n++; n <= mostShown {
			b.WriteString("\n  + " + d.shown(row))
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

// cells give the value of a column as a script writes it; ok is false where a row says nothing of it.
type cells func(column string) (value string, ok bool)

func (d *Diff) wanted(row check.TestRow) cells {
	return func(c string) (string, bool) {
		if c == changeColumn {
			return fmt.Sprintf("%q", row.Change), row.Change != ""
		}
		v, ok := row.Values[c]
		return format(d.typeOf(c), v), ok
	}
}

func (d *Diff) came(row Row) cells {
	return func(c string) (string, bool) {
		if c == changeColumn {
			return fmt.Sprintf("%q", row.Change.String()), true
		}
		return format(d.typeOf(c), row.Values[c]), true
	}
}

// have is a row as it would be expected, whole.
func (d *Diff) have(row Row) string { return d.row(d.came(row), whole).text }

// shown is a row as people see it.
func (d *Diff) shown(row Row) string { return clipped(d.row(d.came(row), nil).text, mostOfRow) }

func (d *Diff) typeOf(column string) types.Type {
	return d.Step.Schema.Fields[d.Step.Schema.Index(column)].Type
}

// columns measures texts in the columns of a screen.
var columns = &runewidth.Condition{}

// line is a row as it is written, and the columns of the screen at which its values stand.
type line struct {
	text string
	at   map[string][2]int
}

// row writes a row. cut shortens its values; nil: to what people can read.
func (d *Diff) row(of cells, cut func(column, value string) string) line {
	if cut == nil {
		cut = func(_, v string) string { return clipped(v, mostOfCell) }
	}
	var b strings.Builder
	at := map[string][2]int{}
	b.WriteByte('{')
	width := 1
	write := func(s string) {
		b.WriteString(s)
		width += columns.StringWidth(s)
	}
	for _, c := range d.Columns {
		v, ok := of(c)
		if !ok {
			continue
		}
		if b.Len() > 1 {
			write(", ")
		}
		write(types.QuoteName(c) + ": ")
		from := width
		write(cut(c, v))
		at[c] = [2]int{from, width}
	}
	b.WriteByte('}')
	return line{b.String(), at}
}

func whole(_, value string) string { return value }

// clipped is the beginning of a text that is too long for people.
func clipped(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// beside are the lines of a row that is missing and of one that came: both, and marks below what differs. Of long values the
// part is shown where they begin to differ.
func (d *Diff) beside(want check.TestRow, have Row) []string {
	wanted, came := d.wanted(want), d.came(have)
	cut := func(c, v string) string {
		if utf8.RuneCountInString(v) <= mostOfCell {
			return v
		}
		a, named := wanted(c)
		b, _ := came(c)
		if n := common(a, b) - mostOfCell/4; named && a != b && n > 0 {
			return "…" + clipped(string([]rune(v)[min(n, utf8.RuneCountInString(v)):]), mostOfCell)
		}
		return clipped(v, mostOfCell)
	}
	minus, plus := d.row(wanted, cut), d.row(came, cut)
	out := []string{"- " + clipped(minus.text, mostOfRow), "+ " + clipped(plus.text, mostOfRow)}
	marks := []rune(strings.Repeat(" ", columns.StringWidth(plus.text)))
	mark := func(c string) {
		for i := plus.at[c][0]; i < plus.at[c][1]; i++ {
			marks[i] = '~'
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
	if text := strings.TrimRight(string(marks[:min(len(marks), mostOfRow)]), " "); text != "" {
		out = append(out, "  "+text)
	}
	return out
}

// common is how many runes two texts have in common at their beginning.
func common(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
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
