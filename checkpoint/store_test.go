package checkpoint

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

// publish publishes a checkpoint of a few blocks and returns its id.
func publish(t *testing.T, s *Store, blocks ...string) ID {
	t.Helper()
	id, err := s.NextID()
	require.NoError(t, err)
	m := &Manifest{ID: id, Parent: s.Head(), Mode: "unaligned", Reason: "interval", Created: int64(id), Durable: int64(id) + 1, Tasks: []Task{{Group: "g", Nodes: []Node{{ID: "n"}}}}}
	for i, b := range blocks {
		r, err := s.Append(uint8(i), []byte(b))
		require.NoError(t, err)
		m.Tasks[0].Nodes[0].Blocks = append(m.Tasks[0].Nodes[0].Blocks, r)
	}
	require.NoError(t, s.Publish(m, nil))
	return id
}

func blocksOf(t *testing.T, s interface {
	Manifest(ID) (*Manifest, error)
	Read(Ref) ([]byte, error)
}, id ID) (out []string) {
	t.Helper()
	m, err := s.Manifest(id)
	require.NoError(t, err)
	m.Refs(func(r Ref) {
		p, err := s.Read(r)
		require.NoError(t, err)
		out = append(out, string(p))
	})
	return out
}

func ids(infos []Info) (out []ID) {
	for _, i := range infos {
		out = append(out, i.ID)
	}
	return out
}

func TestStore(t *testing.T) {
	for name, fs := range map[string]disk.FS{"sim": disk.NewSim(), "os": disk.OS{}} {
		t.Run(name, func(t *testing.T) {
			dir := "ckpt/deep"
			if name == "os" {
				dir = t.TempDir() + "/" + dir
			}
			o := Options{Owner: Owner{PID: 7, Host: "here", What: "a.ebb"}, SegmentBytes: 20000, BufferBytes: 1000, RoomBytes: 8192, Keep: 3}
			s, r, err := Open(fs, dir, o)
			require.NoError(t, err)
			require.Nil(t, r.Newest)
			require.True(t, r.Fresh)
			_, _, err = Open(fs, dir, o)
			require.EqualError(t, err, "checkpoint folder "+dir+" is in use by process 7 (a.ebb) on here; stop that one or use another folder")

			big := string(bytes.Repeat([]byte("big"), 1001))
			one := publish(t, s, "a", big, "")
			require.NoError(t, s.Commit(one, false))
			require.Equal(t, []string{"a", big, ""}, blocksOf(t, s, one))
			require.NoError(t, s.Name(one, "first"))
			for i := range 12 {
				id := publish(t, s, fmt.Sprint(i), big)
				require.NoError(t, s.Commit(id, false))
				require.NoError(t, s.Tidy())
			}
			require.Equal(t, []ID{1, 11, 12, 13}, ids(s.List()))
			require.NoError(t, s.Close())
			require.ErrorIs(t, s.Commit(1, false), errClosed)

			s, r, err = Open(fs, dir, o)
			require.NoError(t, err)
			require.Empty(t, r.LeftOut)
			require.Equal(t, ID(13), r.Newest.ID)
			require.True(t, r.Info.Committed)
			require.Equal(t, []string{"11", big}, blocksOf(t, s, 13))
			require.Equal(t, []string{"a", big, ""}, blocksOf(t, s, 1))
			require.Equal(t, ID(14), publish(t, s, "x"))

			f, err := OpenReader(fs, dir)
			require.NoError(t, err)
			require.Equal(t, s.List(), f.List())
			require.Empty(t, f.Damage())
			require.Equal(t, []string{"a", big, ""}, blocksOf(t, f, 1))
			d := f.Verify(nil)
			require.Empty(t, d)
			w, ok := f.Owner()
			require.True(t, ok)
			require.Equal(t, o.Owner, w)
			require.NoError(t, f.Close())
			require.NoError(t, s.Close())
		})
	}
}
