//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
)

// typist is a session on a pseudo terminal, with what its screen shows.
type typist struct {
	t   *testing.T
	cmd *exec.Cmd
	pty *os.File
	dir string

	mu      sync.Mutex
	screen  vt10x.Terminal
	raw     bytes.Buffer
	last    time.Time     // when something came last
	changed chan struct{} // gets something when something has come
	ended   chan struct{}
}

func startTyping(t *testing.T, dir string) *typist {
	t.Helper()
	c := &typist{t: t, dir: dir, screen: vt10x.New(vt10x.WithSize(80, 24)), changed: make(chan struct{}, 1), ended: make(chan struct{})}
	c.cmd = exec.Command(filepath.Join(ebbDir(t), "ebb"))
	c.cmd.Dir = dir
	c.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "EBB_HISTORY="+filepath.Join(dir, "history"))
	var err error
	c.pty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(t, err)
	go func() {
		defer close(c.ended)
		buf := make([]byte, 32<<10)
		for {
			n, err := c.pty.Read(buf)
			at := time.Now()
			c.mu.Lock()
			c.raw.Write(buf[:n])
			c.screen.Write(buf[:n])
			c.last = at
			c.mu.Unlock()
			select {
			case c.changed <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.cmd.Wait()
		c.pty.Close()
	})
	c.prompt()
	return c
}

func (c *typist) keys(s string) {
	c.t.Helper()
	_, err := c.pty.WriteString(s)
	require.NoError(c.t, err)
}

// lines are those of the screen, up to the cursor.
func (c *typist) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Split(c.screen.String(), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " ")
	}
	return all[:min(c.screen.Cursor().Y+1, len(all))]
}

func (c *typist) wait(what string, ok func(lines []string) bool) {
	c.t.Helper()
	end := time.After(20 * time.Second)
	for {
		lines := c.lines()
		if ok(lines) {
			return
		}
		select {
		case <-c.changed:
		case <-end:
			c.t.Fatalf("the screen does not show %s:\n%s", what, strings.Join(lines, "\n"))
		}
	}
}

// prompt waits for an empty line to type on.
func (c *typist) prompt() {
	c.t.Helper()
	c.wait("a prompt", func(l []string) bool { return l[len(l)-1] == "ebb>" })
}

// typing waits for what is typed on the last line.
func (c *typist) typing(line string) {
	c.t.Helper()
	c.wait(fmt.Sprintf("%q on the last line", line), func(l []string) bool { return l[len(l)-1] == line })
}

func (c *typist) shows(text string) {
	c.t.Helper()
	c.wait(fmt.Sprintf("%q", text), func([]string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return strings.Contains(c.screen.String(), text)
	})
}

// run types a line and waits until it is done.
func (c *typist) run(line string) {
	c.t.Helper()
	c.keys(line)
	c.wait("the typed line", func(l []string) bool { return strings.HasSuffix(l[len(l)-1], line[max(0, len(line)-4):]) })
	c.keys("\r")
	c.prompt()
}

// leaves waits for the end of the process.
func (c *typist) leaves() {
	c.t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	select {
	case err := <-done:
		require.NoError(c.t, err, strings.Join(c.lines(), "\n"))
	case <-time.After(time.Minute):
		c.t.Fatalf("the session does not end:\n%s", strings.Join(c.lines(), "\n"))
	}
}

func typingDir(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "orders.csv"), []byte("id,customer,amount\n1,ann,5\n2,bob,7\n3,晴,9\n"), 0o666))
	return dir
}

func TestTerminalEditing(t *testing.T) {
	c := startTyping(t, typingDir(t))
	// What is incomplete goes on in the next line; a line that begins with |> goes on with the statement before it.
	c.keys("csv(\"orders.csv\") |>\r")
	c.typing("...>")
	c.run("where amount > 5")
	c.shows("bob")
	c.run("|> select double = amount * 2")
	c.shows("18")
	// Editing keys: Home, End, Ctrl-W, Delete, and Delete on an empty line does nothing.
	c.keys("\x1b[3~xlet a = 5 6\x17\x1b[1~\x1b[3~\x1b[F")
	c.typing("ebb> let a = 5")
	c.keys("\r")
	c.prompt()
	// A single | is mended.
	c.run("csv(\"orders.csv\") | where customer == \"ann\"")
	c.shows("was read as that")
	// History: one entry for a statement of several lines.
	c.keys("\x1b[A\x1b[A\x1b[A\x1b[A")
	c.typing("ebb> csv(\"orders.csv\") |>↵  where amount > 5")
	c.keys("\x03")
	c.prompt()
	// Ctrl-C clears what is typed, Ctrl-Z and Ctrl-L do no harm.
	c.keys("nonsense (\r")
	c.typing("...>")
	c.keys("more\x03")
	c.prompt()
	c.keys("ab\x1a\x0cc")
	c.wait("a screen with one line", func(l []string) bool { return len(l) == 1 && l[0] == "ebb> abc" })
	c.keys("\x03")
	c.prompt()
	// Search.
	c.keys("\x12double")
	c.shows("bck-i-search: double")
	c.keys("\r")
	c.shows("10")
	c.prompt()
	c.keys("\x04")
	c.leaves()
	// The history is there in the next session.
	c = startTyping(t, c.dir)
	c.keys("\x1b[A")
	c.typing("ebb> |> select double = amount * 2")
	c.keys("\x03")
	c.prompt()
	c.keys("\x03")
	c.shows("ends the session")
	c.prompt() // between two lines the terminal is not ours
	c.keys("\x03")
	c.leaves()
}

func TestTerminalCompletion(t *testing.T) {
	c := startTyping(t, typingDir(t))
	c.keys("csv(\"ord\t")
	c.typing("ebb> csv(\"orders.csv")
	c.keys("\") |> whe\t cus\t")
	c.typing("ebb> csv(\"orders.csv\") |> where customer")
	c.keys("\x15.s\t")
	c.shows(".schema")
	c.typing("ebb> .s")
	c.keys("che\t")
	c.typing("ebb> .schema")
}

func TestTerminalPaste(t *testing.T) {
	c := startTyping(t, typingDir(t))
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "stream s%d = csv(\"orders.csv\")\n|> where amount > %d\n", i, i)
	}
	paste := func(text string) time.Duration {
		start := time.Now()
		go c.pty.WriteString("\x1b[200~" + strings.ReplaceAll(text, "\n", "\r") + "\x1b[201~")
		c.typing("ebb> ▤")
		return time.Since(start)
	}
	paste(text.String())
	c.keys("\r")
	c.prompt()
	c.run("s49 |> limit 1")
	c.shows("0 rows")
	// A large one is quick, too.
	large := "let list = [\n" + strings.Repeat("  1, 2, 3, 4, 5, 6, 7, 8,\n", 60<<10/27) + "]\n"
	took := paste(large)
	t.Logf("%d bytes took %s", len(large), took)
	require.Less(t, took, 20*time.Second)
	c.keys("\x03")
	c.prompt()
	// A short one is text like any other.
	c.keys("let a \x1b[200~= 5\x1b[201~ + 1")
	c.typing("ebb> let a = 5 + 1")
}

func TestTerminalInterrupt(t *testing.T) {
	c := startTyping(t, typingDir(t))
	c.keys("generate(rate: 1000) |> where false\r")
	time.Sleep(300 * time.Millisecond)
	c.keys("\x03")
	c.prompt()
	c.run("csv(\"orders.csv\") |> where amount == 7")
	c.shows("bob")
}

func TestTerminalResizing(t *testing.T) {
	c := startTyping(t, typingDir(t))
	c.keys("let a = 1")
	c.typing("ebb> let a = 1")
	c.mu.Lock()
	c.screen.Resize(40, 20)
	c.mu.Unlock()
	require.NoError(t, pty.Setsize(c.pty, &pty.Winsize{Rows: 20, Cols: 40}))
	time.Sleep(100 * time.Millisecond)
	c.keys(" + 222222222222222222222222222222222222")
	c.wait("a wrapped line", func(l []string) bool {
		return len(l) > 1 && strings.HasPrefix(l[len(l)-2], "ebb> let a = 1 + 2222") && strings.HasPrefix(l[len(l)-1], "2222")
	})
}

// What runs in the background does not tear the line that is typed, and a key is seen soon.
func TestTerminalEcho(t *testing.T) {
	c := startTyping(t, typingDir(t))
	c.run("nexmark(\"bid\") |> aggregate n = count(), s = sum(price) by auction |> into blackhole()")
	c.run(".run")
	const keys = 100
	took := make([]time.Duration, keys)
	line := "ebb> "
	for i := range took {
		if i%60 == 0 {
			c.keys("\x15")
			line = "ebb> "
			c.typing("ebb>")
		}
		key := string(rune('a' + i%26))
		line += key
		start := time.Now()
		c.keys(key)
		c.typing(line)
		c.mu.Lock()
		took[i] = c.last.Sub(start)
		c.mu.Unlock()
		time.Sleep(time.Duration(3+i%17) * time.Millisecond) // in no step with what the job does
	}
	slices.Sort(took)
	t.Logf("a key is seen after %s (half of them), %s (of 100 all but 5), %s (at the latest)", took[keys/2], took[keys*95/100], took[keys-1])
	require.Less(t, took[keys/2], 200*time.Millisecond) // 1 ms on an idle machine
	c.keys("\x03")
	c.prompt()
	c.keys("\x04")
	c.shows("[y/N]")
	c.keys("n\r")
	c.prompt()
	c.keys(".quit\r")
	c.shows("[y/N]")
	c.keys("y\r")
	c.leaves()
}

// A terminal that is gone ends the session with final checkpoints.
func TestTerminalLost(t *testing.T) {
	for _, how := range []string{"hangup", "killed"} {
		t.Run(how, func(t *testing.T) {
			c := startTyping(t, typingDir(t))
			c.run("nexmark(\"bid\", rate: 1000) |> aggregate n = count() by auction |> into blackhole()")
			c.run(".run")
			c.keys("csv(\"orders.csv\") |> into csv(\"never.csv\")") // not run
			time.Sleep(200 * time.Millisecond)
			c.cmd.Process.Signal(map[string]os.Signal{"hangup": syscall.SIGHUP, "killed": syscall.SIGTERM}[how])
			c.leaves()
			require.NoFileExists(t, filepath.Join(c.dir, "never.csv"))
			found, err := os.ReadDir(filepath.Join(c.dir, ".ebb", "repl"))
			require.NoError(t, err)
			require.NotEmpty(t, found)
		})
	}
}

// What is said of a job while a line is typed appears above it.
func TestTerminalOutputAboveTheLine(t *testing.T) {
	c := startTyping(t, typingDir(t))
	c.run("nexmark(\"bid\", rate: 1000, events: 1000) |> into blackhole()")
	c.run(".run")
	c.keys("let half = 1")
	c.shows("has finished")
	c.typing("ebb> let half = 1")
	c.keys(" + 1\r")
	c.prompt()
	c.keys("\x04")
	c.leaves()
}
