package checkpoint

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

var writeGolden = flag.Bool("write-golden", false, "write those folders of testdata/v* that are missing")

// TestGolden reads the folders that the first engine of each format version, and of each feature, wrote: they must be readable
// for ever.
func TestGolden(t *testing.T) {
	current := []string{fmt.Sprintf("testdata/v%d", Version), fmt.Sprintf("testdata/v%d-several-blocks", Version)}
	var written []string
	for i, dir := range current {
		if _, err := os.Stat(dir); err != nil && *writeGolden {
			makeGolden(t, dir, i == 1)
			written = append(written, dir)
		}
	}
	dirs, err := filepath.Glob("testdata/v*")
	require.NoError(t, err)
	require.Subset(t, dirs, current)
	for _, dir := range dirs {
		files, err := filepath.Glob(dir + "/*.seg")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		sim := disk.NewSim()
		require.NoError(t, sim.MkdirAll("c"))
		for _, f := range files {
			p, err := os.ReadFile(f)
			require.NoError(t, err)
			x, err := sim.Create("c/" + filepath.Base(f))
			require.NoError(t, err)
			_, err = x.Write(p)
			require.NoError(t, err)
		}
		f, err := OpenReader(sim, "c")
		require.NoError(t, err)
		require.Empty(t, f.Verify(nil))
		got := describe(t, f)
		require.NoError(t, f.Close())
		if slices.Contains(written, dir) {
			require.NoError(t, os.WriteFile(dir+"/content.txt", []byte(got), 0o666))
		}
		want, err := os.ReadFile(dir + "/content.txt")
		require.NoError(t, err)
		require.Equal(t, string(want), got)

		s, r, err := Open(sim, "c", Options{RoomBytes: -1})
		require.NoError(t, err)
		require.Empty(t, r.LeftOut)
		require.Equal(t, string(want), describe(t, s))
		require.NoError(t, s.Close())
	}
}

// describe prints all that a folder holds.
func describe(t *testing.T, s interface {
	List() []Info
	Manifest(ID) (*Manifest, error)
	Read(Ref) ([]byte, error)
}) string {
	var b strings.Builder
	for _, i := range s.List() {
		b.WriteString(line(i))
		m, err := s.Manifest(i.ID)
		require.NoError(t, err)
		m.Refs(func(r Ref) {
			p, err := s.Read(r)
			require.NoError(t, err)
			fmt.Fprintf(&b, "  block kind %d: %d bytes %.20q\n", r.Kind, len(p), p)
		})
		m.Script = Ref{} // where blocks stand is no matter
		for i := range m.Tasks {
			for j := range m.Tasks[i].Nodes {
				m.Tasks[i].Nodes[j].Blocks = nil
			}
		}
		for i := range m.Channels {
			m.Channels[i].Blocks = nil
		}
		p, err := json.Marshal(m)
		require.NoError(t, err)
		fmt.Fprintf(&b, "  %s\n", p)
	}
	return b.String()
}

func makeGolden(t *testing.T, dir string, several bool) {
	sim := disk.NewSim()
	o := Options{RoomBytes: -1, SegmentBytes: 9000, Keep: 2}
	s, _, err := Open(sim, "c", o)
	require.NoError(t, err)
	put := func(name string) {
		id, err := s.NextID()
		require.NoError(t, err)
		m := fullManifest()
		m.ID, m.Parent, m.Name, m.Finished = id, s.Head(), name, false
		add := func(kind uint8, text string) Ref {
			r, err := s.Append(kind, []byte(text))
			require.NoError(t, err)
			return r
		}
		m.Script = add(1, "from file('a.csv')")
		m.Tasks[0].Nodes[0].Blocks = []Ref{add(2, strings.Repeat("state ", 500)), add(3, fmt.Sprint("delta ", id))}
		if several {
			m.Tasks[0].Nodes[0].SetChain(Chain{m.Tasks[0].Nodes[0].Blocks, {add(3, fmt.Sprint("another delta of ", id)), add(3, "")}})
			m.Require(SeveralBlocks)
		}
		m.Channels[0].Blocks = []Ref{add(4, fmt.Sprint("rows ", id))}
		require.NoError(t, s.Publish(m, nil))
		require.NoError(t, s.Commit(id, false))
		require.NoError(t, s.Tidy())
	}
	put("begin")
	put("")
	put("")
	put("")
	require.NoError(t, s.Rollback(3))
	put("")
	require.NoError(t, s.Name(5, "five"))
	require.NoError(t, s.Close())
	s, _, err = Open(sim, "c", o)
	require.NoError(t, err)
	put("")
	require.NoError(t, s.Delete(3))
	require.NoError(t, s.Commit(6, true))
	require.NoError(t, s.Fresh())
	put("fresh")
	for range 20 { // more ids than were reserved
		_, err := s.NextID()
		require.NoError(t, err)
	}
	put("")
	require.NoError(t, s.Close())
	require.NoError(t, os.MkdirAll(dir, 0o777))
	names, err := sim.Glob("c/*.seg")
	require.NoError(t, err)
	for _, n := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(n)), content(t, sim, n), 0o666))
	}
}
