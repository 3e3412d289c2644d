package planner

import (
	"testing"

	"github.com/stretchr/testify/require"

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
