package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChains checks that long scripts end, and that definitions in the worst order do not exhaust the stack.
func TestChains(t *testing.T) {
	const n = 6000
	var streams, lets, fns []string
	for i := 1; i <= n; i++ {
		streams = append(streams, fmt.Sprintf("stream s%d = s%d |> where id > 0\n", i, i-1))
		lets = append(lets, fmt.Sprintf("let v%d = v%d\n", i, i-1))
		fns = append(fns, fmt.Sprintf("fn f%d(x: int) = f%d(x)\n", i, i-1))
	}
	head := "stream s0 = csv(\"x.csv\")\nlet v0 = 1\nfn f0(x: int) = x\n"
	check := func(text string) []Diagnostic {
		_, diags := Text("main.ebb", text, newWorld(nil), Options{})
		return diags
	}
	require.Empty(t, check(head+strings.Join(streams, "")+strings.Join(lets, "")))
	slices.Reverse(streams)
	slices.Reverse(lets)
	codes := map[string]int{}
	for _, d := range check(head + strings.Join(streams, "") + strings.Join(lets, "")) {
		codes[d.Code]++
	}
	require.Equal(t, map[string]int{"N111": 2}, codes)
	for _, order := range []bool{false, true} {
		if order {
			slices.Reverse(fns)
		}
		for _, d := range check(head + strings.Join(fns, "") + "let y = f6000(1)\n") {
			require.Contains(t, []string{"N161", "T229"}, d.Code, d.Message) // nested too deeply
		}
	}
}

// TestReached checks that inputs of files that are used are opened only where something reads them.
func TestReached(t *testing.T) {
	w := newWorld(map[string]string{"lib.ebb": "source a = csv(\"a.csv\")\nsource b = csv(\"b.csv\")\nstream c = b |> limit 1\n"})
	script, diags := Text("main.ebb", "use \"lib.ebb\"\na |> limit 3\na |> limit 4\n", w, Options{})
	require.Empty(t, diags)
	require.Equal(t, 1, w.opens)
	require.Len(t, script.Sources, 1)
	require.Len(t, script.Writes, 2)
}
