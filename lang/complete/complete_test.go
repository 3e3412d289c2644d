package complete_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/complete"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// world knows one stream of each kind.
type world struct{ *stdlib.Catalog }

func (world) Named(keyword string) []string {
	return map[string][]string{"stream": {"big"}, "source": {"orders"}, "sink": {"results"}, "let": {"limit_of"}, "fn": {"twice"}, "pipe": {"clean"}}[keyword]
}

func (world) Columns(before string) []types.Field {
	if strings.HasPrefix(before, "rates") {
		return []types.Field{{Name: "price", Type: types.T(types.Float)}}
	}
	return []types.Field{{Name: "amount", Type: types.T(types.Int)}, {Name: "order id", Type: types.T(types.Int)}, {Name: "window", Type: types.WindowType}}
}

func (world) Files(typed string) []string { return []string{"a.csv", "b/"} }

func at(text string) (int, []string) {
	from, items := complete.At(text, world{stdlib.New()})
	var out []string
	for _, x := range items {
		out = append(out, x.Text)
	}
	return from, out
}

// What is offered begins with what is typed, so a few letters show what there is at a place.
func TestAt(t *testing.T) {
	for text, want := range map[string]string{
		"str":                                     "stream",
		"or":                                      "orders",
		"orders |> wh":                            "where",
		"orders |> cl":                            "clean",
		"orders |> left ":                         "join",
		"orders |> where am":                      "amount",
		"orders |> where @":                       "@\"order id\"",
		"orders |> where window.":                 "end start",
		"orders |> where window.st":               "start",
		"orders |> where amount.":                 "",
		"orders |> join rates as r on r.":         "price",
		"orders |> join rates on rat":             "rates",
		"orders |> join rates on rates.pr":        "price",
		"orders |> aggregate n = count() windo":   "window",
		"orders |> where amount > 1 emi":          "",
		"orders |> aggregate n = count() emit c":  "changes",
		"orders |> aggregate n = count() emit d":  "",
		"orders |> where amount > 1 on_error d":   "drop",
		"orders |> top 3 by window win":           "window",
		"orders |> into res":                      "results",
		"orders |> split { when amount > 1 => r":  "results",
		"set checkpoint.i":                        "",
		"set par":                                 "parallelism",
		"param x: fl":                             "float",
		"fn f(a: st":                              "string",
		"source s = csv(\"":                       "a.csv b/",
		"source s = csv(\"a.csv\") schema { a: i": "int",
		"source s = csv(\"a.csv\", fol":           "follow:",
		"orders |> where 1":                       "",
		"orders |> limit 10":                      "",
		"// wh":                                   "",
		"/* wh":                                   "",
		"let x = tw":                              "twice",
	} {
		from, words := at(text)
		require.LessOrEqual(t, from, len(text))
		assert.Equal(t, want, strings.Join(words, " "), text)
	}
}

// Whatever is typed, there is an answer, and it fits what is there.
func FuzzAt(f *testing.F) {
	for _, text := range []string{"a |> join b as c on c.", "x.y.", "source a = csv(", "set ", "fn f(", ")|>(", "a |> where ?.", "test \"x\" { given", "@\"a b\"."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		from, words := at(text)
		require.True(t, from >= 0 && from <= len(text))
		for _, w := range words {
			require.True(t, strings.HasPrefix(w, text[from:]))
		}
	})
}
