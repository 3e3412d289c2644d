package planner

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
	"github.com/ebb-lang/ebb/lang/types"
)

// TestRunSurvives runs the scripts of the golden files at parallelism 1 and 3, with every mode of checkpoints, undisturbed
// and with crashes after which they go on, at the same width and at another one, and after a step back by two checkpoints:
// all must write the same rows. What is printed goes to a file, for what has been printed cannot be taken back.
func TestRunSurvives(t *testing.T) {
	ran := 0
	datadriven.Walk(t, "testdata_run", func(t *testing.T, path string) {
		files := map[string]string{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				files[d.CmdArgs[0].Key] = fileText(d.Input)
			case "run":
				if survives(t, d, files) {
					ran++
				}
			}
			return d.Expected
		})
	})
	require.Greater(t, ran, 100/fewer(), "scripts")
}

// fewer is by how much fewer stories are told on one goroutine under the race detector, which finds little in them.
func fewer() int {
	if testing.Short() {
		return 5
	}
	return 1
}

func survives(t *testing.T, d *datadriven.TestData, files map[string]string) bool {
	set := map[string]string{}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "changes", "large", "at": // how a result came about is left open; too many rows; only at one width
			return false
		case "ordered":
		default:
			set[a.Key] = a.Vals[0]
		}
	}
	h := fnv.New64()
	h.Write([]byte(d.Input))
	if h.Sum64()/2%uint64(fewer()) > 0 {
		return false
	}
	calm := newSurvivor(t, d.Input, files, set, h.Sum64())
	if done, err := calm.live(life{width: 1, mode: "none"}); !done || err != nil {
		return false // the script is wrong, or fails as it should
	}
	want := calm.outputs(files)
	modes := []string{"unaligned", "aligned", "auto"}
	for k, width := range []int{1, 3} {
		if testing.Short() && uint64(k) != h.Sum64()%2 {
			continue // at one of them
		}
		s := newSurvivor(t, d.Input, files, set, h.Sum64()+uint64(k))
		mode := modes[s.rng.IntN(3)]
		for n := 0; ; n++ {
			l := life{width: width, mode: mode}
			switch n {
			case 0, 1:
				l.crash = 1 + s.rng.IntN(400)
			case 2: // at another width
				l.width, l.crash = 4-width, 1+s.rng.IntN(400)
			case 3:
				l.from = "-2"
			}
			done, err := s.live(l)
			require.NoError(t, err, "%s, life %d: %+v\n%s", d.Pos, n, l, d.Input)
			if done {
				break
			}
		}
		require.Equal(t, want, s.outputs(files), "%s, width %d, %s\n%s", d.Pos, width, mode, d.Input)
	}
	return true
}

type life struct {
	width int
	mode  string
	crash int // steps; 0: none
	from  string
	sizes sizes // of the graph
}

type survivor struct {
	t      *testing.T
	fs     *disk.Sim
	clock  *sim.Clock
	rng    *rand.Rand
	script string
	set    map[string]string
}

func newSurvivor(t *testing.T, script string, files, set map[string]string, seed uint64) *survivor {
	s := &survivor{t: t, fs: disk.NewSim(), clock: &sim.Clock{At: 1_700_000_000e9}, rng: rand.New(rand.NewPCG(seed, 5)), script: script, set: set}
	for name, text := range files {
		require.NoError(t, s.fs.MkdirAll(filepath.Dir(name)))
		f, err := s.fs.Create(name)
		require.NoError(t, err)
		f.Write([]byte(text))
		require.NoError(t, errors.Join(f.Sync(), f.Close()))
		for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
			require.NoError(t, s.fs.SyncDir(dir))
			if dir == "." || dir == "/" {
				break
			}
		}
	}
	return s
}

func (s *survivor) live(l life) (done bool, err error) {
	env := exec.OS()
	env.FS, env.Now, env.Stdin, env.Stdout, env.Chunk = s.fs, s.clock.Now, strings.NewReader(""), io.Discard, 40
	env.StepRows = func() int { return 1 + s.rng.IntN(3) }
	c, _, err := Compile("job.ebb", s.script, library(), env, Options{Parallelism: l.width, Set: s.set,
		Print: &types.ConnArgs{Name: "jsonl", Args: map[string]any{"path": "printed.jsonl"}}})
	if err != nil || c == nil {
		return false, err
	}
	printed := 0
	for _, w := range c.Script.Writes {
		if w.Conn == nil {
			printed++
			if w.In.Updating {
				return false, nil
			}
		}
	}
	if printed > 1 {
		return false, nil // they would share the file
	}
	o := Launch{Dir: "kept", Mode: l.mode, Interval: 20_000, From: l.from, Policy: func(p *checkpoint.Policy) { p.AlignTimeout, p.MaxOpen = 10_000, 2 }}
	if _, e := s.fs.Stat("kept"); e != nil {
		o.From = ""
	}
	launched, err := c.Launch("job.ebb", s.script, library(), env, o)
	var refused *RefusedError
	if errors.As(err, &refused) { // there are not that many
		o.From = ""
		launched, err = c.Launch("job.ebb", s.script, library(), env, o)
	}
	if err != nil {
		return false, err
	}
	l.sizes.apply(launched.Graph)
	err = sim.Run(launched.Graph, env, launched.Setup, sim.Options{Seed: s.rng.Uint64(), Clock: s.clock, Crash: l.crash})
	if errors.Is(err, sim.ErrCrash) {
		s.fs = s.fs.Crash(s.rng)
		return false, nil
	}
	return err == nil, errors.Join(err, launched.Close())
}

// outputs returns the rows of all files that were written, sorted.
func (s *survivor) outputs(files map[string]string) string {
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		es, err := s.fs.ReadDir(dir)
		require.NoError(s.t, err)
		for _, e := range es {
			name := filepath.Join(dir, e.Name())
			_, input := files[name]
			switch {
			case e.IsDir() && name != "kept":
				walk(name)
			case !e.IsDir() && !input && !strings.HasPrefix(e.Name(), "."):
				f, err := s.fs.Open(name)
				require.NoError(s.t, err)
				b, err := io.ReadAll(f)
				require.NoError(s.t, err)
				for _, line := range strings.Split(string(b), "\n") {
					out = append(out, fmt.Sprintf("%s: %s", name, line))
				}
			}
		}
	}
	walk(".")
	slices.Sort(out)
	return strings.Join(out, "\n")
}
