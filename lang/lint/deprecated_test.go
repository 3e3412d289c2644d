package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// old are the facts of a catalog in which more is deprecated than in ours.
type old struct {
	lint.Facts
	names map[string]*types.Deprecated // by kind, name and option
}

func (o old) Deprecated(kind, name, option string) *types.Deprecated {
	return o.names[kind+" "+name+" "+option]
}

// TestDeprecated: X310 of every kind of thing.
func TestDeprecated(t *testing.T) {
	t.Chdir("testdata/files")
	names := map[string]*types.Deprecated{
		"agg avg ":           {Since: "0.2", Name: "median"},
		"func upper ":        {Since: "0.2", Instead: "`lower(x)` and compare with that"},
		"stage drop ":        {Since: "0.3", Name: "select"},
		"conn jsonl ":        {Since: "0.2", Name: "csv"},
		"conn csv delimiter": {Since: "0.2", Name: "quote"},
	}
	lib, env := stdlib.New(), exec.OS().ReadOnly()
	find := func(text string) []lint.Finding {
		facts := planner.Facts(lib, env)
		r := lint.Lint([]lint.Text{{Name: caseName, Text: text, Env: &planner.World{Catalog: lib, Env: env},
			Facts: func(s *check.Script) lint.Facts { return old{facts(s), names} }}})
		return with("X310", r[0].Found)
	}
	for _, x := range []struct{ text, at, message, help, fixed string }{
		{"csv(\"orders.csv\") |> aggregate m = avg(amount) by id\n", "avg", "`avg` is deprecated since 0.2", "write `median`",
			"csv(\"orders.csv\") |> aggregate m = median(amount) by id\n"},
		{"csv(\"orders.csv\") |> select u = upper(customer)\n", "upper", "`upper` is deprecated since 0.2", "write `lower(x)` and compare with that", ""},
		{"pipe p() = drop amount\ncsv(\"orders.csv\") |> p() |> limit 2\ncsv(\"orders.csv\") |> p()\n", "drop", "`drop` is deprecated since 0.3", "write `select`",
			"pipe p() = select amount\ncsv(\"orders.csv\") |> p() |> limit 2\ncsv(\"orders.csv\") |> p()\n"},
		{"csv(\"orders.csv\") |> into jsonl(\"x\")\n", "jsonl", "`jsonl` is deprecated since 0.2", "write `csv`", "csv(\"orders.csv\") |> into csv(\"x\")\n"},
		{"sink s = jsonl(\"x\")\ncsv(\"orders.csv\") |> into s\n", "jsonl", "`jsonl` is deprecated since 0.2", "write `csv`", "sink s = csv(\"x\")\ncsv(\"orders.csv\") |> into s\n"},
		{"csv(\"orders.csv\", delimiter: \";\") |> limit 2\n", "delimiter", "`delimiter` is deprecated since 0.2", "write `quote`", "csv(\"orders.csv\", quote: \";\") |> limit 2\n"},
	} {
		found := find(x.text)
		require.Len(t, found, 1, x.text)
		f := found[0]
		require.Equal(t, [3]string{x.at, x.message, x.help}, [3]string{f.Source.Slice(f.Span), f.Message, f.Help})
		if x.fixed == "" {
			require.Nil(t, f.Fix)
			continue
		}
		require.Equal(t, lint.Safe, f.Fix.Applicability)
		require.Equal(t, x.fixed, lint.Apply(x.text, f.Fix.Edits))
	}
	require.Empty(t, find("fn upper(s: string) = lower(s)\ncsv(\"orders.csv\") |> select u = upper(customer), avg = amount\n"))
}
