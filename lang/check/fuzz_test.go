package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkClosed checks that a script without errors speaks of nothing that it does not hold, and that its streams stand in
// an order in which each comes after those that it reads.
func checkClosed(t *testing.T, s *Script) {
	sources := map[*Source]bool{}
	for _, x := range s.Sources {
		sources[x] = true
	}
	streams, names, stages := map[*Stream]bool{}, map[string]bool{"": true}, map[*Stage]bool{}
	node := func(n Node, what string) {
		require.True(t, n.Source != nil && sources[n.Source] || n.Stream != nil && streams[n.Stream], "%s reads what is not there yet", what)
	}
	for _, x := range s.Streams {
		require.False(t, names[x.Name], "two streams are called %s", x.Name)
		require.True(t, len(x.Feeds) > 0 != (x.From != Node{}), x.Name)
		if len(x.Feeds) == 0 {
			node(x.From, x.Name)
		}
		for _, f := range x.Feeds {
			require.True(t, f.Stage == nil || stages[f.Stage], x.Name)
			require.True(t, f.Source == nil || sources[f.Source], x.Name)
			require.True(t, f.Stream == nil || streams[f.Stream], x.Name)
		}
		for _, st := range x.Stages {
			for _, m := range st.More {
				node(m, st.Args.ID)
			}
			stages[st] = true
		}
		require.Empty(t, x.Out.Schema.Duplicate())
		streams[x], names[x.Name] = true, true
	}
	for _, w := range s.Writes {
		node(w.From, w.Name)
	}
	for _, x := range s.Sources {
		require.True(t, names[x.OnError.Target], x.Name)
	}
	for _, x := range s.Streams {
		for _, st := range x.Stages {
			require.True(t, names[st.Args.Late.Target], st.Args.ID)
			require.True(t, names[st.Args.OnError.Target], st.Args.ID)
			for _, b := range st.Args.Branches {
				require.True(t, names[b.Target], st.Args.ID)
			}
		}
	}
}

// FuzzCheck checks that no text makes the parser or the checker panic or hang, that diagnostics point into their texts, and
// that what has none is complete.
func FuzzCheck(f *testing.F) {
	files := map[string]string{}
	paths, err := filepath.Glob("testdata/script/*.txt")
	require.NoError(f, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		for _, part := range strings.Split(string(text), "\n\n") {
			for strings.HasPrefix(part, "#") {
				_, part, _ = strings.Cut(part, "\n")
			}
			head, rest, _ := strings.Cut(part, "\n")
			script, _, _ := strings.Cut(rest, "----")
			if name, is := strings.CutPrefix(head, "file "); is {
				files[name] = script
			} else {
				f.Add(script)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, diags := Text("main.ebb", text, newWorld(files), Options{Set: map[string]string{"must": "1", "base": "2"}})
		checkPlaces(t, diags)
		for _, d := range diags {
			Render(d)
		}
		if len(diags) == 0 {
			dump(script)
			checkClosed(t, script)
		}
	})
}
