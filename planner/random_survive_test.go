package planner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRandomPipelinesSurvive lets the random pipelines of TestRandomPipelines live through crashes, at changing widths and in
// every mode of checkpoints, most with sources that fall idle, and go back by two checkpoints: what they have written in the end is
// what an undisturbed run writes.
func TestRandomPipelinesSurvive(t *testing.T) {
	n, ran, rows := max(*seeds/14/fewer(), 1), 0, 0
	for seed := 1; seed <= n; seed++ {
		if *onlySeed != 0 && *onlySeed != seed {
			continue
		}
		p, files := randomPipeline(seed)
		r := p.r
		script := written(p.text.String())
		at := fmt.Sprintf("seed %d:\n%s", seed, script)
		calm := newSurvivor(t, script, files, nil, uint64(seed))
		done, err := calm.live(life{width: 1, mode: "none"})
		if err != nil {
			continue // a row fails, and the run with it
		}
		require.True(t, done, at)
		ran++
		want := calm.net(files)
		rows += len(want)
		s := newSurvivor(t, script, files, nil, uint64(seed)+1<<20)
		for n := 0; ; n++ {
			l := life{width: 1 + r.IntN(4), mode: pick(r, "unaligned", "aligned", "auto"), sizes: sizes{drowsy: uint64(seed%3) * r.Uint64()}}
			if n < 4 {
				l.crash = 1 + r.IntN(600)
			}
			if n == 3 {
				l.from = "-2"
			}
			done, err := s.live(l)
			require.NoError(t, err, "life %d: %+v, %s", n, l, at)
			if done {
				break
			}
		}
		require.Equal(t, want, s.net(files), at)
	}
	if *onlySeed == 0 {
		require.Greater(t, ran, n/2, "pipelines")
		require.Greater(t, rows, 2*ran, "rows")
	}
}

// written has a script write what it would print: what has been printed cannot be taken back.
func written(script string) string {
	var out strings.Builder
	n := 0
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "source "), strings.HasPrefix(line, "stream "), strings.HasPrefix(line, " "), strings.HasPrefix(line, "}"),
			strings.HasSuffix(line, "{"), strings.Contains(line, "|> into "):
		default:
			n++
			line += fmt.Sprintf(` |> into jsonl("printed%d.jsonl", changes: true)`, n)
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// net returns the rows that were written, by file, changes set off against each other.
func (s *survivor) net(files map[string]string) []string {
	var text strings.Builder
	for l := range strings.Lines(s.outputs(files)) {
		if name, row, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ": "); row != "" {
			fmt.Fprintf(&text, "%s,\"file\":%q}\n", strings.TrimSuffix(row, "}"), name)
		}
	}
	return net(s.t, ran{stdout: text.String()})
}
