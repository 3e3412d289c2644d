package repl

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
)

// session is a session on a paper; say evaluates a line and returns what it shows, and its notes.
type session struct {
	*Session
	t *testing.T
	p *paper
}

func newSession(t *testing.T, width int, o Options) *session {
	p := &paper{width: width, interrupt: make(chan struct{}, 1)}
	return &session{Session: New(p, exec.OS, o), t: t, p: p}
}

func (s *session) say(line string) (out, notes string) {
	s.t.Helper()
	out, notes, err := s.try(line)
	require.NoError(s.t, err, line)
	return out, notes
}

func (s *session) try(line string) (out, notes string, err error) {
	s.p.Reset()
	s.p.notes.Reset()
	err = s.Eval(line)
	return s.p.String(), s.p.notes.String(), err
}

// refused evaluates a line that must fail.
func (s *session) refused(line string, want ...string) {
	s.t.Helper()
	_, _, err := s.try(line)
	require.Error(s.t, err, line)
	for _, w := range want {
		require.Contains(s.t, err.Error(), w, line)
	}
}

const visits = `source visits = rows([{city: "Rome", n: 12}, {city: "Oslo", n: nil}, {city: "Rome", n: 3}])`

func TestPreview(t *testing.T) {
	s := newSession(t, 0, Options{})
	s.say(visits)
	out, notes := s.say(`visits |> where n > 5`)
	require.Equal(t, "{\"city\":\"Rome\",\"n\":12}\n", out)
	require.Empty(t, notes, "without a terminal nothing is said of a preview")
	out, _ = s.say(`_ |> select city`)
	require.Equal(t, "{\"city\":\"Rome\"}\n", out, "_ is the last result")
	out, _ = s.say(`|> derive m = 1`)
	require.Equal(t, "{\"city\":\"Rome\",\"m\":1}\n", out, "a stage goes on with the last pipeline")
	require.Equal(t, "visits |> where n > 5\n    |> select city\n|> derive m = 1", s.last)
	out, _ = s.say(`visits |> where false`)
	require.Empty(t, out)
	out, _ = s.say(`visits |> aggregate n = count() by city emit changes |> where city == "Oslo"`)
	require.Contains(t, out, `"_change":"+I"`)

	s = newSession(t, 80, Options{})
	s.say(visits)
	out, notes = s.say("visits")
	require.Contains(t, out, "city     n\n────  ────\nRome    12\nOslo  \x1b[2mnull\x1b[22m\nRome     3\n")
	require.Regexp(t, `^3 rows in [0-9.]+(ms|µs|s)\n$`, notes)
	out, _ = s.say(`visits |> aggregate n = count() by city emit changes`)
	require.True(t, strings.HasSuffix(out, "city  n\n────  ─\nOslo  1\nRome  2\n"), "%q", out)
	t.Setenv("NO_COLOR", "1")
	out, _ = s.say("visits |> where n == nil")
	require.NotContains(t, out, "\x1b[2m")
}

// A preview runs what was typed: not the outputs of the session's streams, but those that stand in it.
func TestPreviewWrites(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSession(t, 0, Options{})
	s.say(visits)
	s.say(`stream all = visits |> tee csv("all.csv")`)
	s.say(`all |> into csv("into.csv")`)
	s.say(`all |> where n > 5`)
	files, _ := os.ReadDir(".")
	require.Empty(t, files)
	s.say(`all |> tee csv("typed.csv") |> where n > 5`)
	text, err := os.ReadFile("typed.csv")
	require.NoError(t, err)
	require.Equal(t, "city,n\nRome,12\nOslo,\nRome,3\n", string(text))
	_, err = os.Stat("all.csv")
	require.Error(t, err)
	_, err = os.Stat(".ebb")
	require.Error(t, err)
	// A side output that nothing reads is dropped.
	out, _ := s.say(`visits |> tee big |> where n == 3`)
	require.Equal(t, "{\"city\":\"Rome\",\"n\":3}\n", out)
}

func TestPreviewFails(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("a,b\n1,2\n3,0\n"), 0o666))
	s := newSession(t, 0, Options{})
	s.refused("visits |> where n > 5", "<session>:1:1: error[N100]")
	s.refused("_ |> where n > 5", "none yet")
	s.say(`source a = csv("a.csv")`)
	out, _, err := s.try(`a |> derive c = a % b`)
	require.ErrorContains(t, err, "row 2")
	require.ErrorContains(t, err, "a.csv")
	require.Equal(t, "", strings.TrimSpace(strings.TrimPrefix(out, "{\"a\":1,\"b\":2,\"c\":1}\n")))
	s.refused(`csv("-") |> where true`, "the standard input belongs to the session")
}

// Ctrl-C ends an endless preview, the session goes on. The rows are there before it is pressed.
func TestPreviewInterrupted(t *testing.T) {
	for _, width := range []int{0, 80} {
		s := newSession(t, width, Options{})
		time.AfterFunc(300*time.Millisecond, func() { s.p.interrupt <- struct{}{} })
		start := time.Now()
		out, notes, err := s.try(`nexmark("bid", rate: 200) |> select auction, price`)
		require.NoError(t, err)
		require.Less(t, time.Since(start), 5*time.Second)
		require.Contains(t, out, "price")
		if width > 0 {
			require.Contains(t, notes, "stopped")
		}
		s.say(visits)
	}
}

// The first row of a file is on the screen at once.
func TestFirstRow(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("big.csv", []byte("a,b\n"+strings.Repeat("1,some text\n", 3_000_000)), 0o666))
	s := newSession(t, 0, Options{})
	w := &firstWrite{paper: s.p}
	s.Screen = w
	s.say(`source big = csv("big.csv")`)
	start := time.Now()
	w.hit = func() {
		t.Logf("first row after %v", time.Since(start))
		require.Less(t, time.Since(start), 10*time.Second) // 0.1 s on an idle machine
		s.p.interrupt <- struct{}{}
	}
	s.say(`big |> where a == 1`)
}

type firstWrite struct {
	*paper
	hit func()
}

func (w *firstWrite) Write(b []byte) (int, error) {
	if w.hit != nil {
		w.hit()
		w.hit = nil
	}
	return w.paper.Write(b[:0])
}

func TestDefinitions(t *testing.T) {
	s := newSession(t, 0, Options{})
	_, notes := s.say(visits)
	require.Equal(t, "source visits: 2 columns\n", notes)
	_, notes = s.say("stream hot = visits |> where n > 5\n\nstream few = hot |> aggregate n = count() by city emit changes")
	require.Equal(t, "stream hot: 2 columns\nstream few: 2 columns, updating\n", notes)
	_, notes = s.say("few |> into console()")
	require.Contains(t, notes, "the pipeline into console()")
	_, notes = s.say("stream hot = visits |> where n > 5")
	require.Equal(t, "stream hot is the same as before\n", notes)
	_, notes = s.say("stream hot = visits |> where n > 6")
	require.Equal(t, "stream hot: 2 columns (changed; 2 others use it and are still right)\n", notes)

	// What uses it would be wrong: refused, nothing changes.
	s.refused("stream hot = visits |> select n", "stream hot does not suit what uses it; nothing was changed",
		"<stream few>:1:", "unknown column `city`", "stream few = hot", "help: change both in one go")
	out, _ := s.say("hot")
	require.Contains(t, out, `"city":"Rome"`)
	// Lines are those of what was typed.
	s.refused("\nstream more = visits\n    |> where m > 1", "<session>:3:14: error[N150]: unknown column `m`")
	newSession(t, 0, Options{}).refused("stream kept = _", "none yet", "`_`")
	// Both in one go, in any order.
	_, notes = s.say("stream few = hot |> aggregate n = count() emit changes\nstream hot = visits |> select n")
	require.Contains(t, notes, "stream hot: 1 column")
	// A result becomes a stream.
	s.say("visits\n    |> where n > 2")
	_, notes = s.say("stream kept = _ |> limit 1")
	require.Equal(t, "stream kept: 2 columns\n", notes)
	require.Contains(t, s.script.text(), "stream kept = visits\n        |> where n > 2\n    |> limit 1\n")
	// An output is replaced by another pipeline into it.
	_, notes = s.say("kept |> into console()")
	require.Contains(t, notes, "it replaces the one before")
	require.Equal(t, 1, strings.Count(s.script.text(), "into console()"))
}

func TestUsesOfFunctions(t *testing.T) {
	s := newSession(t, 0, Options{})
	s.say("fn twice(x: int) = 2 * x\nlet most = 5\n" + visits)
	s.say("stream a = visits |> where n != nil |> derive m = twice(n ?? 0)\nstream b = visits |> where n > most")
	_, notes := s.say("fn twice(x: int) = x + x")
	require.Contains(t, notes, "1 other uses it")
	_, notes = s.say("let most = 6")
	require.Contains(t, notes, "1 other uses it")
	s.refused(`let most = "six"`, "let most does not suit what uses it", "<stream b>:1:")
	s.refused("fn visits(x: int) = x", "does not suit")
}

// A pager that takes no rows holds the source back, and one that is left ends the run.
func TestPagerHoldsBack(t *testing.T) {
	p := &stuckPager{left: make(chan struct{})}
	s := newSession(t, 80, Options{Pager: func(int) (io.WriteCloser, error) { return p, nil }})
	done := make(chan error)
	go func() {
		_, _, err := s.try(`nexmark("bid", events: 50_000_000) |> select price`)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatal("it did not wait for the pager", err)
	case <-time.After(500 * time.Millisecond):
	}
	close(p.left)
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the run goes on though the pager was left")
	}
	require.True(t, p.closed)
	notes := s.p.notes.String()
	require.Regexp(t, `^[0-9.]+k? rows in .*, stopped\n$`, notes, "the source was held back")
}

type stuckPager struct {
	left   chan struct{}
	closed bool
}

func (p *stuckPager) Write([]byte) (int, error) { <-p.left; return 0, io.ErrClosedPipe }
func (p *stuckPager) Close() error              { p.closed = true; return nil }

// Whatever is typed, the session answers and goes on.
func TestOddInput(t *testing.T) {
	s := newSession(t, 80, Options{})
	s.say(visits)
	s.say("visits |> limit 1")
	s.refused("stream _ = visits", "give it another name")
	for _, line := range []string{"_", "|>", "|> |> limit 1", "  ", "\t", "// only a remark", "/* open", "_ |> union _", "stream a = a", "stream b = _ |> tee",
		"\x00", "\xff\xfe", "visits |> into _", "visits |> tee _ |> limit 1", ".schema @", ".schema _", ".schema \"a b\"", ".edit _", ".", "..", ".\"", "visits visits", "use \"\"",
		"visits |> split { when n > 3 => big else => few }", "big", "_ |> limit", "visits |> limit 1 // remark", "|> select city", "test \"x\" { }", "set _ = 1",
		strings.Repeat("(", 300), "visits |> where " + strings.Repeat("not ", 5000) + "true", "|> limit 2 |> into"} {
		require.NotPanics(t, func() { s.try(line) }, line)
		out, _, err := s.try("visits |> select city |> limit 1")
		require.NoError(t, err, "after %q", line)
		require.Contains(t, out, "Rome", "after %q", line)
	}
}
