package grid

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

func TestCells(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		strings.Repeat("x", 80):             strings.Repeat("x", 80),
		strings.Repeat("x", 81):             strings.Repeat("x", 79) + "…",
		strings.Repeat("x", 1e6):            strings.Repeat("x", 79) + "…",
		strings.Repeat("é", 80):             strings.Repeat("é", 80),
		strings.Repeat("漢", 41):             strings.Repeat("漢", 39) + "…",
		strings.Repeat("\n", 50):            strings.Repeat(`\n`, 39) + `\…`,
		"right\u202eleft":                   `right\u{202e}left`,
		"a\x00b\x7fc\u0085d":                `a\x00b\x7fc\u{85}d`,
		"e" + strings.Repeat("\u0301", 500): "",
		// Signs of several parts are shown as they are, but for what would not be seen.
		"👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 👍🏽": "👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 👍🏽",
		strings.Repeat("👩\u200d💻", 41):             strings.Repeat("👩\u200d💻", 39) + "…",
		"क्\u200dष":                                "क्\u200dष",
		"a\u200db\u200d":                           `a\u{200d}b\u{200d}`,
		"👩\u200d":                                  `👩\u{200d}`,
		"👩\u200d\u202e👩":                           `👩\u{200d}\u{202e}👩`,
		strings.Repeat("👩\u200d", 500):             "",
	} {
		got := string(AppendCell(nil, []byte(in)))
		if want != "" && got != want || strings.ContainsAny(got, "\t\n\x1b\u202e") || Width(got) > WidestCell || len(got) > 8*WidestCell {
			t.Errorf("%.100q: %q", in, got)
		}
	}
}

var schema = types.NewSchema(
	types.Field{Name: "name", Type: types.T(types.String).Null()},
	types.Field{Name: "n", Type: types.T(types.Int).Null()},
	types.Field{Name: "ratio", Type: types.T(types.Float)},
	types.Field{Name: "at", Type: types.T(types.Time)},
	types.Field{Name: "tags", Type: types.ListOf(types.T(types.String))},
)

func TestFit(t *testing.T) {
	g := New(schema, false)
	g.width, g.limit = []int{40, 8, 7, 30, 9}, make([]int, 5)
	g.fit(60)
	require.Equal(t, "[14 8 7 14 9] [14 0 0 14 0]", fmt.Sprint(g.width, g.limit))
	whole := New(schema, false)
	whole.Whole, whole.width, whole.limit = 1, []int{30, 8, 7, 30, 20}, make([]int, 5)
	whole.fit(60)
	require.Equal(t, "[30 8 7 8 8] 2", fmt.Sprint(whole.width, whole.Hidden()))
	got := string(g.AppendLine(nil, "a name that is far too long to stand there\t1\t2\tx\ty\n"))
	require.Equal(t, "a name that i…         1        2  x               y\n", got)
}

// A null is told from the text "null" by its colour.
func TestNulls(t *testing.T) {
	s := types.NewSchema(types.Field{Name: "city", Type: types.T(types.String).Null()}, types.Field{Name: "n", Type: types.T(types.Int).Null()})
	b := vec.FromRows(s, [][]any{{nil, nil}, {"null", int64(12345)}})
	var lines []string
	for i := range b.Rows() {
		lines = append(lines, string(AppendCells(nil, b, i, false)))
	}
	g := New(s, false)
	g.Decide(lines, 0)
	draw := func() string { return string(g.AppendLine(g.AppendLine(g.AppendHeader(nil), lines[0]), lines[1])) }
	require.Equal(t, "city      n\n────  ─────\nnull   null\nnull  12345\n", draw())
	g.Color = true
	require.Equal(t, "city      n\n────  ─────\n\x1b[2mnull\x1b[22m   \x1b[2mnull\x1b[22m\nnull  12345\n", draw())
}

// Where the terminal is too narrow for all columns the last ones are left out.
func TestHidden(t *testing.T) {
	var fields []types.Field
	line := ""
	for i := range 6 {
		fields = append(fields, types.Field{Name: fmt.Sprintf("column_%d", i), Type: types.T(types.Int)})
		line += fmt.Sprintf("%d\t", 1000*i)
	}
	g := New(types.NewSchema(fields...), false)
	g.Decide([]string{strings.TrimSuffix(line, "\t") + "\n"}, 40)
	require.Equal(t, 3, g.Hidden())
	require.Equal(t, "column_0  column_1  column_2  …\n────────  ────────  ────────  …\n", string(g.AppendHeader(nil)))
	g.Decide(nil, 3)
	require.Equal(t, 5, g.Hidden())
	g.Decide(nil, 58)
	require.Equal(t, 0, g.Hidden())
}
