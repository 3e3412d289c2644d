package stdlib

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

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
