package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

func content(t *testing.T, fs disk.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	require.NoError(t, err)
	defer f.Close()
	p, err := io.ReadAll(f)
	require.NoError(t, err)
	return p
}

func overwrite(t *testing.T, fs disk.FS, name string, off int64, p []byte) {
	t.Helper()
	f, err := fs.Edit(name)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteAt(p, off)
	require.NoError(t, err)
}

// smallFolder makes a folder with checkpoints of two runs; the last one of it is left as kill leaves it, with nothing
// behind the newest checkpoint unless proven.
func smallFolder(t *testing.T, proven bool) (*disk.Sim, map[ID][]string) {
	sim := disk.NewSim()
	o := Options{Owner: Owner{PID: 1}, RoomBytes: -1}
	s, _, err := Open(sim, "c", o)
	require.NoError(t, err)
	want := map[ID][]string{}
	for i := range 2 {
		want[publish(t, s, fmt.Sprint("one", i), "xx")] = []string{fmt.Sprint("one", i), "xx"}
		require.NoError(t, s.Commit(ID(i+1), false))
	}
	require.NoError(t, s.Name(1, "first"))
	require.NoError(t, s.Close())
	s, _, err = Open(sim, "c", o)
	require.NoError(t, err)
	var unproven *disk.Sim
	for i := range 2 {
		flushed := false
		sim.Before = func(op, _ string) error {
			switch {
			case op == "sync":
				flushed = true
			case op == "write" && flushed: // what is written in the knowledge of it
				unproven, flushed = sim.Kill(), false
			}
			return nil
		}
		id := publish(t, s, fmt.Sprint("two", i))
		want[id] = []string{fmt.Sprint("two", i)}
	}
	if proven {
		return sim.Kill(), want
	}
	return unproven, want
}

// damaged opens a folder in which something was damaged in file, and checks that it says so or goes on rightly.
func damaged(t *testing.T, sim *disk.Sim, want map[ID][]string, file, what string) (word string) {
	t.Helper()
	about := func(err error) {
		var d *DamageError
		if !errors.As(err, &d) || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	right := func(s interface {
		List() []Info
		Manifest(ID) (*Manifest, error)
		Read(Ref) ([]byte, error)
	}) (whole bool) {
		whole = true
		for _, i := range s.List() {
			m, err := s.Manifest(i.ID)
			if err != nil {
				about(err)
				whole = false
				continue
			}
			n := 0
			m.Refs(func(r Ref) {
				p, err := s.Read(r)
				if err != nil {
					about(err)
					whole = false
				} else if string(p) != want[i.ID][n] {
					t.Fatalf("%s: checkpoint %d: %q", what, i.ID, p)
				}
				n++
			})
		}
		return whole
	}

	f, err := OpenReader(sim, "c")
	if err != nil {
		require.ErrorContains(t, err, "no checkpoint", what)
		word = err.Error()
	} else {
		whole := right(f)
		d := f.Verify(nil)
		if (!whole || len(f.List()) < len(want)) && len(d) == 0 && len(f.LeftOut()) == 0 {
			t.Fatalf("%s: %d checkpoints and not a word", what, len(f.List()))
		}
		for _, x := range d {
			require.Equal(t, filepath.Base(file), filepath.Base(x.File), what)
		}
		f.Close()
	}

	s, r, err := Open(sim, "c", Options{RoomBytes: -1})
	if err != nil {
		about(err)
		return "error"
	}
	if len(r.Damage) > 0 { // there is no doubt about the head
		require.NotEmpty(t, r.Damage[0].String(), what)
		require.Equal(t, ID(len(want)), s.Head(), what)
		next, err := s.NextID()
		require.NoError(t, err)
		require.Greater(t, next, s.Head(), what)
		s.Close()
		return "sure"
	}
	whole := right(s)
	if !whole {
		word = "block"
	}
	if len(s.List()) < len(want) || s.Head() != ID(len(want)) {
		require.NotEmpty(t, r.LeftOut, what)
		require.GreaterOrEqual(t, s.Head(), ID(len(want)-1), what)
		require.Contains(t, r.LeftOut[0].String(), filepath.Base(file), what)
		word = "left out"
	}
	id, err := s.NextID()
	require.NoError(t, err)
	require.Greater(t, id, ID(len(want)), what)
	s.Close()
	return word
}

// TestFlip changes each byte of a small folder in turn; one in fourteen without -stride 1.
func TestFlip(t *testing.T) {
	for _, proven := range []bool{false, true} {
		sim, want := smallFolder(t, proven)
		names, err := sim.Glob("c/*.seg")
		require.NoError(t, err)
		words := map[string]int{}
		for _, name := range names {
			p := content(t, sim, name)
			for i := range p {
				if *crashStride > 1 && i%(2*(*crashStride)) != 3 && i > 48 {
					continue
				}
				if i%page > 1200 && p[i] == 0 && i%64 != 0 {
					continue // the middle of a pad
				}
				s := sim.Kill()
				overwrite(t, s, name, int64(i), []byte{p[i] ^ byte(1+i%255)})
				words[damaged(t, s, want, name, fmt.Sprintf("%s byte %d", name, i))]++
			}
		}
		t.Log(proven, words)
		require.NotZero(t, words["sure"])
		require.Equal(t, proven, words["left out"] == 0)
	}
}

// TestHoles sets each sector to zeros in turn, and cuts the file off.
func TestHoles(t *testing.T) {
	sim, want := smallFolder(t, true)
	name := "c/0002-000.seg"
	p := content(t, sim, name)
	for i := 0; i < len(p); i += 512 {
		s := sim.Kill()
		overwrite(t, s, name, int64(i), make([]byte, 512))
		damaged(t, s, want, name, fmt.Sprintf("zeros at %d", i))
	}
	for i := len(p) - 8; i > 0; i -= 104 {
		s := sim.Kill()
		f, err := s.Edit(name)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(int64(i)))
		f.Close()
		r, _, err := Open(s, "c", Options{RoomBytes: -1})
		if err != nil {
			require.ErrorContains(t, err, "c", i)
			continue
		}
		r.Close()
	}
}

// TestLost looks at folders of which no file tells what checkpoints there are: a run and those who look judge them alike.
func TestLost(t *testing.T) {
	sim, _ := smallFolder(t, true)
	first, second := content(t, sim, "c/0001-000.seg"), content(t, sim, "c/0002-000.seg")
	for what, with := range map[string][]byte{"whole": second, "empty": nil, "the copy of another one": first, "zeros": make([]byte, len(second)), "cut": second[:headerBytes]} {
		sim, _ := smallFolder(t, true)
		require.NoError(t, sim.Remove("c/0001-000.seg"))
		f, err := sim.Create("c/0002-000.seg")
		require.NoError(t, err)
		_, err = f.Write(with)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		r, err := OpenReader(sim, "c")
		require.NoError(t, err)
		if what == "whole" {
			require.NoError(t, r.Lost())
			require.NoError(t, r.Close())
			continue
		}
		require.Empty(t, r.List(), what)
		require.Len(t, r.Damage(), 1, what)
		require.Contains(t, r.Damage()[0].String(), "c/0002-000.seg", what)
		require.Empty(t, r.LeftOut(), what)
		_, _, err = Open(sim, "c", Options{})
		require.EqualError(t, err, "c/0002-000.seg is damaged at byte 0: it should begin with the list of checkpoints, and no older segment has one; "+
			"bring the file back from a copy, or remove c: the next run then starts afresh", what)
		require.EqualError(t, r.Lost(), err.Error(), what)
		require.NoError(t, r.Close())
	}
}
