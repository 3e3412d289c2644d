package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func put(t *testing.T, f FS, name, text string) {
	t.Helper()
	x, err := f.Create(name)
	require.NoError(t, err)
	_, err = x.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, x.Close())
}

func get(f FS, name string) (string, error) {
	x, err := f.Open(name)
	if err != nil {
		return "", err
	}
	defer x.Close()
	p, err := io.ReadAll(x)
	return string(p), err
}

// TestSame does the same with files of the machine and with those of a Sim: what is seen is the same.
func TestSame(t *testing.T) {
	do := func(f FS, root string) string {
		var b strings.Builder
		at := func(s string) string { return filepath.Join(root, s) }
		say := func(what string, err error) {
			for _, e := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrClosed, ErrLocked, syscall.EISDIR, syscall.ENOTDIR, syscall.ENOTEMPTY, io.EOF} {
				if errors.Is(err, e) {
					err = e
				}
			}
			fmt.Fprintf(&b, "%s: %v\n", what, err)
		}
		say("mkdir", f.MkdirAll(at("d/e/f")))
		say("mkdir", f.MkdirAll(at("d/e")))
		put(t, f, at("d/one.csv"), "hello world")
		put(t, f, at("d/two.csv"), "")
		put(t, f, at("d/e/three.csv"), "3")
		say("mkdir over file", f.MkdirAll(at("d/one.csv/x")))
		_, err := f.Create(at("none/x"))
		say("create", err)
		_, err = f.Create(at("d/e"))
		say("create over folder", err)
		_, err = f.Open(at("d/none"))
		say("open", err)

		x, err := f.Edit(at("d/one.csv"))
		say("edit", err)
		_, err = x.WriteAt([]byte("HELL"), 0)
		say("write at", err)
		_, err = x.WriteAt([]byte("end"), 20)
		say("write behind", err)
		p := make([]byte, 6)
		n, err := x.ReadAt(p, 18)
		say(fmt.Sprintf("read at end %q", p[:n]), err)
		say("truncate", x.Truncate(22))
		say("sync", x.Sync())
		info, err := x.Stat()
		say(fmt.Sprint(info.Name(), info.Size(), info.Mode().IsRegular()), err)
		say("close", x.Close())
		say("close", x.Close())
		y, err := f.Append(at("d/one.csv"))
		say("append", err)
		say("truncate", y.Truncate(5))
		_, err = y.Write([]byte("!"))
		say("write", err)
		y.Close()
		text, err := get(f, at("d/one.csv"))
		say(fmt.Sprintf("%q", text), err)

		names, err := f.Glob(at("d/*.csv"))
		say(strings.ReplaceAll(fmt.Sprint(names), filepath.Join(root, "d"), "d"), err)
		names, err = f.Glob(at("d/*/t*.csv"))
		say(strings.ReplaceAll(fmt.Sprint(names), filepath.Join(root, "d"), "d"), err)
		names, err = f.Glob(at("d/one.csv"))
		say(strings.ReplaceAll(fmt.Sprint(names), filepath.Join(root, "d"), "d"), err)
		_, err = f.Glob(at("d/[x"))
		say("glob", err)
		entries, err := f.ReadDir(at("d"))
		say(fmt.Sprint(entries), err)
		for _, e := range entries {
			say(fmt.Sprint(e.Name(), e.IsDir(), e.Type()), nil)
		}
		_, err = f.ReadDir(at("d/one.csv"))
		say("read file as folder", err)
		_, err = f.Stat(at("d/one.csv/x"))
		say("stat", err)

		say("link", f.Link(at("d/one.csv"), at("d/link")))
		say("link", f.Link(at("d/one.csv"), at("d/two.csv")))
		say("link", f.Link(at("d/none"), at("d/x")))
		a, _ := f.Stat(at("d/link"))
		c, _ := f.Stat(at("d/one.csv"))
		e, _ := f.Stat(at("d/two.csv"))
		say(fmt.Sprint(SameFile(a, c), SameFile(a, e)), nil)
		say("rename", f.Rename(at("d/link"), at("d/two.csv")))
		say("rename", f.Rename(at("d/none"), at("d/x")))
		say("rename", f.Rename(at("d/e/three.csv"), at("d/three.csv")))
		say("rename folder", f.Rename(at("d/e"), at("g")))
		say("remove", f.Remove(at("d")))
		say("remove", f.Remove(at("d/none")))
		say("remove", f.Remove(at("d/three.csv")))
		say("remove", f.Remove(at("g/f")))
		z, err := f.Open(at("d/two.csv"))
		say("open", err)
		say("remove open", f.Remove(at("d/two.csv")))
		text2, err := io.ReadAll(z)
		say(string(text2), err)
		z.Close()
		say("syncdir", f.SyncDir(at("d")))
		say("syncdir", f.SyncDir(at("none")))

		unlock, err := f.(Locker).Lock(at("LOCK"))
		say("lock", err)
		_, err = f.(Locker).Lock(at("LOCK"))
		say("lock", err)
		say("unlock", unlock())
		unlock, err = f.(Locker).Lock(at("LOCK"))
		say("lock", err)
		say("unlock", unlock())
		return b.String()
	}
	require.Equal(t, do(OS{}, t.TempDir()), do(NewSim(), ""))
	s := NewSim()
	require.NoError(t, s.MkdirAll("/a/b"))
	require.Equal(t, do(OS{}, t.TempDir()), do(s, "/a/b"))
}

func TestCrashContent(t *testing.T) {
	s := NewSim()
	f, err := s.Create("x")
	require.NoError(t, err)
	require.NoError(t, s.SyncDir(""))
	old := bytes.Repeat([]byte("a"), 4*sector)
	f.Write(old)
	require.NoError(t, f.Sync())
	_, err = f.WriteAt(bytes.Repeat([]byte("b"), 2*sector), sector)
	require.NoError(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte("c"), 3*sector), 2*sector)
	require.NoError(t, err)

	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[string]int{}
	for range 3000 {
		text, err := get(s.Crash(rng), "x")
		require.NoError(t, err)
		require.Zero(t, len(text)%sector)
		word := ""
		for i := 0; i < len(text); i += sector {
			require.Equal(t, strings.Repeat(text[i:i+1], sector), text[i:i+sector])
			word += text[i : i+1]
		}
		seen[word]++
	}
	for w := range seen {
		require.Regexp(t, `^a[ab][abc][ac][c\x00]?$`, w)
	}
	require.Len(t, seen, 2*3*2*3) // whole or short, and with zeros where the new size came without the bytes
	text, _ := get(s.Kill(), "x")
	require.Equal(t, "ccc", text[len(text)-3:])
	require.Len(t, text, 5*sector)
	_, err = get(s.Kill().Crash(rng), "x")
	require.NoError(t, err)

	require.NoError(t, f.Sync())
	want, _ := get(s, "x")
	for range 10 {
		text, _ := get(s.Crash(rng), "x")
		require.Equal(t, want, text)
	}
}

func TestFailedSync(t *testing.T) {
	s := NewSim()
	fail := error(nil)
	s.Before = func(op, name string) error {
		if op == "sync" {
			return fail
		}
		return nil
	}
	f, _ := s.Create("x")
	s.SyncDir("")
	f.Write(make([]byte, 2*sector))
	require.NoError(t, f.Sync())
	f.WriteAt([]byte("lost"), 0)
	fail = syscall.EIO
	require.ErrorIs(t, f.Sync(), syscall.EIO)
	fail = nil
	f.WriteAt([]byte("kept"), sector)
	require.NoError(t, f.Sync())
	rng := rand.New(rand.NewPCG(1, 1))
	lost := 0
	for range 100 {
		text, err := get(s.Crash(rng), "x")
		require.NoError(t, err)
		require.Equal(t, "kept", text[sector:sector+4])
		if text[:4] != "lost" {
			lost++
		}
	}
	require.NotZero(t, lost)
	require.NotEqual(t, 100, lost)
	f.WriteAt([]byte("lost"), 0)
	require.NoError(t, f.Sync())
	for range 100 {
		text, _ := get(s.Crash(rng), "x")
		require.Equal(t, "lost", text[:4])
	}
}

func TestCrashNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := NewSim()
	require.NoError(t, s.MkdirAll("d/e"))
	require.NoError(t, s.SyncDir(""))
	require.NoError(t, s.SyncDir("d"))
	put(t, s, "d/a", "")
	put(t, s, "d/b", "")
	require.NoError(t, s.SyncDir("d"))
	require.NoError(t, s.Rename("d/a", "d/c"))
	require.NoError(t, s.Rename("d/b", "d/e/b"))
	require.NoError(t, s.Remove("d/c"))
	require.NoError(t, s.Link("d/e/b", "d/e/x"))
	seen := map[string]bool{}
	for range 300 {
		seen[strings.ReplaceAll(s.Crash(rng).String(), "\n", ",")] = true
	}
	require.Equal(t, map[string]bool{
		"/d/,/d/a 0,/d/b 0,/d/e/,":     true,
		"/d/,/d/b 0,/d/c 0,/d/e/,":     true,
		"/d/,/d/c 0,/d/e/,/d/e/b 0,":   true,
		"/d/,/d/e/,/d/e/b 0,":          true,
		"/d/,/d/e/,/d/e/b 0,/d/e/x 0,": true, "/d/,/d/c 0,/d/e/,/d/e/b 0,/d/e/x 0,": true,
	}, seen)
	require.NoError(t, s.SyncDir("d/e")) // and with it the renames from d that lead there
	for range 100 {
		require.Regexp(t, `^/d/\n(/d/c 0\n)?/d/e/\n/d/e/b 0\n/d/e/x 0\n$`, s.Crash(rng).String())
	}
	// A new folder whose name was not flushed goes with all that is in it.
	require.NoError(t, s.MkdirAll("new"))
	put(t, s, "new/x", "")
	require.NoError(t, s.SyncDir("new"))
	gone := 0
	for range 100 {
		if _, err := s.Crash(rng).Stat("new/x"); err != nil {
			gone++
		}
	}
	require.NotZero(t, gone)
	require.NotEqual(t, 100, gone)
}

func TestHooks(t *testing.T) {
	s := NewSim()
	var calls []string
	full := false
	s.Before = func(op, name string) error {
		calls = append(calls, op+" "+name)
		s.Kill() // a hook may look
		if full && op == "write" {
			return &Partial{N: 3, Err: syscall.ENOSPC}
		}
		return nil
	}
	put(t, s, "a", "x")
	s.Rename("a", "b")
	s.Link("b", "c")
	s.Remove("b")
	s.MkdirAll("d")
	s.SyncDir("d")
	f, _ := s.Append("c")
	full = true
	n, err := f.Write([]byte("12345"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 3, n)
	f.Truncate(1)
	f.Sync()
	require.Equal(t, "create a,write a,rename a,link c,remove b,mkdir d,syncdir d,append c,write c,truncate c,sync c", strings.Join(calls, ","))
	s.Before = func(op, name string) error { return os.ErrPermission }
	_, err = s.Create("y")
	require.ErrorIs(t, err, os.ErrPermission)
	_, err = s.Stat("y")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestGoroutines(t *testing.T) {
	s := NewSim()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				name := fmt.Sprintf("%d-%d", i, j)
				put(t, s, name, name)
				s.Kill()
				s.Rename(name, "x"+name)
				text, err := get(s, "x"+name)
				if err != nil || text != name {
					t.Error(text, err)
				}
				s.SyncDir("")
			}
		})
	}
	wg.Wait()
	names, err := s.Glob("x*")
	require.NoError(t, err)
	require.Len(t, names, 400)
}
