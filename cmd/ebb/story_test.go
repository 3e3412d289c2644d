package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// builtDir is the folder of the binary that all stories share, once one of them has asked for it.
var builtDir string

var built = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "ebb"); err != nil {
		return "", err
	}
	builtDir = dir
	// As it is given to people, but for the paths in it: without them all packages would be compiled again.
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+"/ebb", ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return dir, nil
})

// waiting is how many tests run at a time of those that may: most of them wait for programs that wait for a clock.
const waiting = "4"

func TestMain(m *testing.M) {
	flag.Set("test.parallel", waiting)
	debug.SetGCPercent(400) // what tests make is garbage at once
	code := m.Run()
	os.RemoveAll(builtDir)
	os.Exit(code)
}

// ebbDir returns the folder of the binary under test. It has no race detector: `make race`, which asks for short tests, leaves
// out what starts it.
func ebbDir(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts programs that have no race detector")
	}
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestStories runs the command lines of testdata/*.txtar. `exits CODE COMMAND…` is `exec` with the exit status that is
// expected; `damage DIR ID` damages a state that only that
// checkpoint needs, `damage DIR ID manifest` its manifest and all copies of that.
func TestStories(t *testing.T) {
	dir := ebbDir(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			return binaryFiles(e.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"damage": func(ts *testscript.TestScript, not bool, args []string) {
				if not || len(args) < 2 || len(args) > 3 || len(args) == 3 && args[2] != "manifest" {
					ts.Fatalf("usage: damage DIR ID [manifest]")
				}
				ts.Check(damage(ts.MkAbs(args[0]), args[1], len(args) == 3))
			},
			"exits": func(ts *testscript.TestScript, not bool, args []string) {
				if not || len(args) < 2 {
					ts.Fatalf("usage: exits CODE COMMAND…")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec(args[1], args[2:]...)
				code := 0
				if e, ok := errors.AsType[*exec.ExitError](err); ok {
					code = e.ExitCode()
				} else {
					ts.Check(err)
				}
				if code != want {
					ts.Fatalf("exit status %d, not %d", code, want)
				}
			},
		},
	})
}

// damage turns a byte of the first state of a checkpoint, or of its manifest.
func damage(dir, word string, manifest bool) error {
	f, err := checkpoint.OpenReader(disk.OS{}, dir)
	if err != nil {
		return err
	}
	defer f.Close()
	i, err := checkpoint.Find(f.List(), word)
	if err != nil {
		return err
	}
	m, err := f.Manifest(i.ID)
	if err != nil {
		return err
	}
	if manifest {
		return damageManifest(dir, m)
	}
	path := filepath.Join(dir, "0001-000.seg")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[m.Tasks[0].Nodes[0].Blocks[0].Offset+50] ^= 0xff
	return os.WriteFile(path, data, 0o666)
}

func damageManifest(dir string, m *checkpoint.Manifest) error {
	m.Name = "" // that comes from elsewhere
	text, err := m.Encode()
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		return err
	}
	found := false
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if i := bytes.Index(data, text); i >= 0 {
			data[i+len(text)/2] ^= 0xff
			found = true
			if err := os.WriteFile(path, data, 0o666); err != nil {
				return err
			}
		}
	}
	if !found {
		return errors.New("there is no such manifest")
	}
	return nil
}

// binaryFiles writes the inputs that cannot stand in a text: random.bin, wide.csv (UTF-16), cut.csv.gz (its end is
// missing), unended.csv (the last line has no newline).
func binaryFiles(dir string) error {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 100_000)
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	var zip bytes.Buffer
	z := gzip.NewWriter(&zip)
	z.Write([]byte("a\n1\n2\n3\n" + strings.Repeat("4\n", 100)))
	z.Close()
	for name, text := range map[string][]byte{
		"random.bin":  random,
		"unended.csv": []byte("a,b\n1,2\n3,4"),
		"wide.csv":    []byte("\xff\xfea\x00\n\x001\x00\n\x00"),
		"cut.csv.gz":  zip.Bytes()[:zip.Len()-12],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
