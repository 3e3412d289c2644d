package stdlib

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// TestDeprecated: what takes the place of something deprecated is there, is not deprecated, and a function is no aggregate: its
// name would mean that in an `aggregate`. Nothing proposes what is deprecated, and the manual says so.
func TestDeprecated(t *testing.T) {
	c := New()
	n := 0
	for _, k := range kinds {
		for _, d := range c.Docs(k.kind) {
			if d.Deprecated == nil {
				continue
			}
			n++
			require.NotContains(t, c.Names(k.kind), d.Name)
			require.Contains(t, c.Help(d.Name), d.Deprecated.String())
			require.NotEmpty(t, d.Deprecated.Since, d.Name)
			if name := d.Deprecated.Name; name != "" {
				require.Contains(t, c.Names(k.kind), name, "instead of %s", d.Name)
				require.False(t, k.kind == "func" && c.Agg(name) != nil, "%s instead of %s", name, d.Name)
			} else {
				require.NotEmpty(t, d.Deprecated.Instead, d.Name)
			}
		}
	}
	require.Positive(t, n)
	for _, name := range c.names["conn"] {
		def := c.ConnDef(name)
		for _, p := range def.Params {
			if d := p.Deprecated; d != nil && d.Name != "" {
				require.True(t, slices.ContainsFunc(def.Params, func(q types.ConnParam) bool { return q.Name == d.Name && q.Deprecated == nil }), "%s(%s)", name, p.Name)
			}
		}
	}
}

// TestEveryWordIsExplained: the manual has every statement, every clause that a source or some stage takes, and every window.
func TestEveryWordIsExplained(t *testing.T) {
	c := New()
	require.ElementsMatch(t, syntax.Statements, c.Names("statement"))
	clauses := []string{"schema", "time", "lag", "idle", "key", "on_error", "as", "into"}
	for _, name := range c.Names("stage") {
		clauses = append(clauses, c.Stage(name).Clauses...)
	}
	require.Subset(t, c.Names("clause"), clauses)
	for _, label := range syntax.Labels {
		require.Equal(t, slices.Contains(clauses, label), slices.Contains(c.Names("clause"), label), label)
	}
	for kind := types.Tumbling; kind <= types.CountWindow; kind++ {
		name, _, _ := strings.Cut((&types.Window{Kind: kind}).String(), "(")
		require.Contains(t, c.Names("window"), name)
	}
	require.Contains(t, c.Help("every"), "emit changes [every DUR]")
	require.Contains(t, c.Help("every"), "hopping(SIZE, every: DUR)")
	require.Contains(t, c.Help("count"), "window count(N)")
	for _, name := range []string{"now", "event_time", "env"} { // of the language itself
		require.Contains(t, c.Help(name), name+"(")
	}
	require.Regexp(t, `^Windows\n  count .*\n(  .*\n)+$`, c.Help("windows"))
	require.Empty(t, c.Help("dedup"))
	require.Empty(t, c.Help("("))
}
