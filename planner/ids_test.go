package planner

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// What a source has saved fits only a call that gives the same rows: an element that the text of a long list leaves out
// counts, the rate does not.
func TestFitOfASource(t *testing.T) {
	lib := stdlib.New()
	fit := func(conn string, args map[string]any) string {
		return connFit(&types.ConnArgs{Name: conn, Args: args}, lib.ConnDef(conn))
	}
	paths := func(last string) map[string]any { return map[string]any{"path": []any{"a", "b", "c", "d", last}} }
	require.Equal(t, fit("csv", paths("e")), fit("csv", paths("e")))
	require.NotEqual(t, fit("csv", paths("e")), fit("csv", paths("f")))
	require.Equal(t, fit("nexmark", map[string]any{"kind": "bid", "rate": 5.0}), fit("nexmark", map[string]any{"kind": "bid"}))
	gen := func(kind string, rate float64) map[string]any {
		return map[string]any{"fields": map[string]any{"a": kind}, "rate": rate}
	}
	require.Equal(t, fit("generate", gen("sequence", 5)), fit("generate", gen("sequence", 6)))
	require.NotEqual(t, fit("generate", gen("time", 5)), fit("generate", gen("time", 6)))
}

// A checkpoint is restored at any width: an operator has the same name at each, also where several would have one name. With
// the names in the order of the groups, the encoder of one output took over what that of another had been told, that its
// input had ended.
func TestNamesAtAnyWidth(t *testing.T) {
	for name, script := range map[string]string{
		"limit": `stream b = nexmark("bid", events: 100)
b |> limit 4 |> into csv("first.csv")
b |> where price > 1 |> into csv("out.csv")`,
		"three": `stream b = nexmark("bid", events: 100)
b |> sort by price |> into csv("a.csv")
b |> aggregate n = count() by auction |> into csv("b.csv")
b |> where price > 1 |> into csv("c.csv")`,
		"union": `stream b = nexmark("bid", events: 100)
stream x = b |> where price > 5 |> limit 3
stream y = b |> where price > 7
x |> union y |> derive k = price * 2 |> aggregate n = count() by k |> into csv("a.csv")
x |> union y |> derive k = price * 2 |> into csv("b.csv")`,
		"split": `nexmark("bid", events: 100) |> split {
    when price > 1_000_000 => csv("a.csv")
    else => rest
}
rest |> tee csv("b.csv") |> limit 2 |> into csv("c.csv")`,
	} {
		var want map[string]string
		for _, o := range []Options{{Parallelism: 1}, {Parallelism: 1, Spread: true}, {Parallelism: 2}, {Parallelism: 5}} {
			c, diags, err := Compile("x.ebb", script, stdlib.New(), exec.OS(), o)
			require.NoError(t, err)
			require.NotNil(t, c, "%v", diags)
			got := map[string]string{}
			for op, id := range nameAll(c.Physical).ops {
				if op.Kind != PartialOp { // made only where rows change tasks
					got[id] = fmt.Sprint(op.Kind, " ", op.Node)
				}
			}
			if want == nil {
				want = got
			}
			require.Equal(t, want, got, "%s %+v", name, o)
		}
	}
}

// Checkpoints of earlier versions have these names and texts: they must not become others.
func TestNamesStayWhatTheyAre(t *testing.T) {
	c, diags, err := Compile("x.ebb", `stream b = nexmark("bid", events: 100)
b |> split {
    when price > 10 => rest
    else => csv("a.csv")
}
b |> limit 2 |> into csv("b.csv")
rest |> aggregate n = count() by auction |> into csv("c.csv")
rest |> aggregate n = sum(price) by bidder |> into csv("d.csv")`, stdlib.New(), exec.OS(), Options{Parallelism: 2})
	require.NoError(t, err)
	require.NotNil(t, c, "%v", diags)
	x := nameAll(c.Physical)
	require.Equal(t, []string{"b/csv/limit", "csv/sink", "csv/sink#3", "csv/sink#4", "nexmark", "rest/csv#2/aggregate", "rest/csv/aggregate"},
		slices.Sorted(maps.Values(x.groups)))
	require.Equal(t, []string{"b/csv/limit", "b/split/split", "csv/encode", "csv/encode#2", "csv/encode#3", "csv/encode#4", "csv/sink", "csv/sink#2", "csv/sink#3", "csv/sink#4",
		"rest/csv#2/aggregate", "rest/csv#2/aggregate/partial", "rest/csv#2/aggregate/rows", "rest/csv/aggregate", "rest/csv/aggregate/partial", "rest/csv/aggregate/rows"},
		slices.Sorted(maps.Values(x.ops)))
	require.Equal(t, []string{"csv/encode > csv/sink", "csv/encode#3 > csv/sink#3", "csv/encode#4 > csv/sink#4", "nexmark > b/csv/limit",
		"rest/csv#2/aggregate/partial > rest/csv#2/aggregate", "rest/csv/aggregate/partial > rest/csv/aggregate"},
		slices.Sorted(maps.Values(x.edges)))
	fits := map[string]string{}
	for op, id := range x.ops {
		fits[id] = op.fit()
	}
	require.Equal(t, "aggregate sum(price) by bidder over {bidder: int, price: int}", fits["rest/csv#2/aggregate"])
	require.Equal(t, fits["rest/csv#2/aggregate"], fits["rest/csv#2/aggregate/partial"])
	require.Equal(t, "aggregate count() by auction over {auction: int}", fits["rest/csv/aggregate"])
}
