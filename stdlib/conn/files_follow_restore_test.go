package conn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/require"
)

// followedOn drives a source that follows files through restarts.
type followedOn struct {
	t     *testing.T
	args  map[string]any
	src   exec.Source
	state []byte
	rows  []string
	out   *exec.Out
}

func (f *followedOn) start() error {
	s := read{args: f.args, schema: numberSchema, time: "n", lag: 1}.scanOf(testEnv())
	if f.state != nil {
		s.Restore = []*checkpoint.Reader{checkpoint.NewReader(1, f.state)}
	}
	sources, err := csvOpen(s)
	if err != nil {
		return err
	}
	f.src = sources[0]
	f.out = exec.NewTap(func(port int, it exec.Item) {
		if it.Kind == exec.Rows && port == 0 {
			for _, e := range emissions(it.Batch) {
				v := strings.Split(e.text, "\"")
				f.rows = append(f.rows, v[1])
			}
		}
	})
	return nil
}

// want polls until so many rows have come.
func (f *followedOn) want(rows string) {
	f.t.Helper()
	end := time.Now().Add(20 * time.Second)
	for len(f.rows) < len(strings.Fields(rows)) && time.Now().Before(end) {
		st, err := f.src.Poll(f.out)
		require.NoError(f.t, err)
		if st == exec.Idle {
			time.Sleep(time.Millisecond)
		}
	}
	require.Equal(f.t, rows, strings.Join(f.rows, " "))
}

// crash saves and restarts; meanwhile something happens.
func (f *followedOn) crash(meanwhile func()) {
	f.t.Helper()
	w := checkpoint.NewWriter(1, 0)
	require.NoError(f.t, f.src.(*followTask).Save(w))
	f.state, _, _ = w.Output()
	require.NoError(f.t, f.src.Close())
	meanwhile()
	require.NoError(f.t, f.start())
}

func TestFollowGoesOn(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.csv")
	add := func(name, text string) {
		x, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		require.NoError(t, err)
		_, err = x.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, x.Close())
	}
	add(name, "\ufeffn,s\n1,a\n2,b\n3,")
	f := &followedOn{t: t, args: map[string]any{"path": name, "follow": true}}
	require.NoError(t, f.start())
	f.want("a b")
	f.crash(func() { add(name, "c\n4,d\n") })
	f.want("a b c d")
	f.crash(func() { // rotated, with a last line that came late
		require.NoError(t, os.Rename(name, name+".1"))
		add(name+".1", "5,e\n")
		add(name, "n,s\n6,f\n")
	})
	f.want("a b c d e f")
	f.crash(func() { // rotated, and nothing in its place for a while
		add(name, "7,g\n")
		require.NoError(t, os.Rename(name, name+".2"))
	})
	f.want("a b c d e f g")
	add(name, "n,s\n8,h\n")
	f.want("a b c d e f g h")
	f.crash(func() { // written anew in its place
		require.NoError(t, os.WriteFile(name, []byte("n,s\n9,i\n"), 0o666))
	})
	f.want("a b c d e f g h i")
	f.crash(func() { // copied away and cut
		add(name, "10,j\n")
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.Remove(name))
		require.NoError(t, os.WriteFile(name+".3", text, 0o666))
	})
	f.want("a b c d e f g h i j")

	w := checkpoint.NewWriter(1, 0)
	require.NoError(t, f.src.(*followTask).Save(w))
	f.state, _, _ = w.Output()
	at, err := filesReached([]*checkpoint.Reader{checkpoint.NewReader(1, f.state)})
	require.NoError(t, err)
	require.Equal(t, spec.Reached{Rows: 10, Text: "row 2 of " + name + ", byte 13"}, at)
	require.NoError(t, f.src.Close())
	require.NoError(t, os.Remove(name+".3"))
	require.ErrorContains(t, f.start(), "cannot go on with "+name+": the file that was being read, up to its byte 13, is not there any more")
}

// What a followed file had told of event time it tells again after a restart: those that listen may be others.
func TestFollowTellsEventTimeAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(name, []byte("n,s\n7,a\n"), 0o666))
	env := testEnv()
	now := int64(1)
	env.Now = func() int64 { return now }
	s := read{args: map[string]any{"path": name, "follow": true}, schema: numberSchema, time: "n", lag: 1}.scanOf(env)
	s.Idle = 1e9
	var told []exec.Item
	out := exec.NewTap(func(_ int, it exec.Item) {
		if it.Kind == exec.Watermark || it.Kind == exec.WentIdle {
			told = append(told, it)
		}
	})
	sources, err := csvOpen(s)
	require.NoError(t, err)
	f := sources[0].(*followTask)
	for end := time.Now().Add(20 * time.Second); len(told) < 2 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_, err := f.Poll(out)
		require.NoError(t, err)
		if len(told) > 0 {
			now += 1e9
		}
	}
	require.Equal(t, []exec.Item{{Kind: exec.Watermark, W: 6}, {Kind: exec.WentIdle}}, told)
	w := checkpoint.NewWriter(1, 0)
	require.NoError(t, f.Save(w))
	require.NoError(t, f.Close())
	data, _, _ := w.Output()
	s.Restore = []*checkpoint.Reader{checkpoint.NewReader(1, data)}
	sources, err = csvOpen(s)
	require.NoError(t, err)
	told = nil
	_, err = sources[0].Poll(out)
	require.NoError(t, err)
	require.NoError(t, sources[0].Close())
	require.Equal(t, []exec.Item{{Kind: exec.Watermark, W: 6}, {Kind: exec.WentIdle}}, told)
}

// A checkpoint between two pieces of what was decoded at once goes on in the middle.
func TestFollowGoesOnInside(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.csv")
	var text, want strings.Builder
	text.WriteString("n,s\n")
	for i := range 10_000 {
		text.WriteString("1," + string(rune('a'+i%26)) + "\n")
		want.WriteString(" " + string(rune('a'+i%26)))
	}
	require.NoError(t, os.WriteFile(name, []byte(text.String()), 0o666))
	f := &followedOn{t: t, args: map[string]any{"path": name, "follow": true}}
	require.NoError(t, f.start())
	for len(f.rows) < 10_000 {
		for had := len(f.rows); len(f.rows) == had; {
			st, err := f.src.Poll(f.out)
			require.NoError(t, err)
			if st == exec.Idle {
				time.Sleep(time.Millisecond)
			}
		}
		f.crash(func() {})
	}
	f.want(want.String()[1:])
	f.src.Close()
}
