package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/repl"
)

const prompt, more = "ebb> ", "...> "

// showSessions tells to print what the sessions of the pages show instead of comparing it, for whoever writes a page.
var showSessions = os.Getenv("EBB_SHOW_SESSIONS") != ""

// TestSessions runs the `session` blocks of README.md and docs/*.md: all blocks of a page are one session, up to a .quit. What a line
// after the prompt shows must be the lines below it. In those, … stands for any text of a line, and a line of … alone for
// any lines: what depends on the clock. Blocks with a file name are written when the session comes to them, the commands
// of console blocks are run there.
func TestSessions(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	bin := ebbDir(t)
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		if !strings.Contains(string(text), "\n```session\n") {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Setenv("NO_COLOR", "1")
			dir := t.TempDir()
			t.Chdir(dir)
			require.NoError(t, os.Symlink(filepath.Join(root, "examples"), "examples"))
			screen := &recorder{}
			s := begin(screen)
			defer func() { end(t, s) }()
			for _, b := range fence.FindAllStringSubmatch(string(text), -1) {
				switch kind, name, body := b[1], b[2], b[3]; {
				case name != "":
					require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
					require.NoError(t, os.WriteFile(name, []byte(body), 0o666))
				case kind == "session":
					if told(t, s, screen, body) {
						s = begin(screen)
					}
				case kind == "console" && filepath.Base(page) != "README.md":
					if showSessions {
						line, _, _ := strings.Cut(strings.TrimPrefix(body, "$ "), "\n")
						fmt.Printf("$ %s\n%s", line, shell(t, dir, root, bin, line))
						continue
					}
					console(t, body, dir, root, bin)
				}
			}
		})
	}
}

func begin(screen *recorder) *repl.Session {
	return repl.New(screen, exec.OS, repl.Options{Output: "append"})
}

// end ends a session as .quit does.
func end(t *testing.T, s *repl.Session) {
	err := s.Eval(".quit")
	require.True(t, errors.Is(err, repl.ErrQuit), "%v", err)
	require.NoError(t, s.Close())
}

// told evaluates what is typed in a block and compares what is shown. A command that looks at a job is asked again for
// some seconds: the job needs a moment to come to where the page finds it. Quit tells that the session has ended.
func told(t *testing.T, s *repl.Session, screen *recorder, body string) (quit bool) {
	t.Helper()
	for _, part := range strings.Split("\n"+body, "\n"+prompt)[1:] {
		lines := strings.Split(strings.TrimRight(part, "\n"), "\n")
		input := lines[0]
		for lines = lines[1:]; len(lines) > 0 && strings.HasPrefix(lines[0], more); lines = lines[1:] {
			input += "\n" + lines[0][len(prompt):]
		}
		want := strings.Join(lines, "\n")
		got := ""
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			screen.take()
			err := s.Eval(input)
			if errors.Is(err, repl.ErrQuit) {
				quit, err = true, s.Close()
			}
			if err != nil {
				screen.Note(err.Error())
			}
			if got = strings.TrimRight(screen.take(), "\n"); shows(got, want) || !looks.MatchString(input) || showSessions || time.Now().After(deadline) {
				break
			}
		}
		if showSessions {
			fmt.Printf("%s%s\n%s\n", prompt, input, got)
			continue
		}
		require.True(t, shows(got, want), "%s%s\nshows\n%s\nand not\n%s", prompt, input, got, want)
	}
	return quit
}

// looks are the commands that change nothing.
var looks = regexp.MustCompile(`^\.(jobs|watermark|errors|late|checkpoints|compare|state|inflight)\b`)

// shows reports whether a text is what a page expects.
func shows(got, want string) bool {
	var re strings.Builder
	re.WriteString(`^`)
	for _, line := range strings.Split(want, "\n") {
		if strings.TrimSpace(line) == "…" {
			re.WriteString(`(\n.*)*`)
			continue
		}
		re.WriteString(`\n` + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), "…", ".*") + " *")
	}
	ok, err := regexp.MatchString(re.String()+"$", "\n"+got)
	return err == nil && ok
}

// recorder is a screen that keeps what is shown.
type recorder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *recorder) Note(text string) { fmt.Fprintln(r, text) }

// take returns what has been shown since the last time.
func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.text.String()
	r.text.Reset()
	return text
}

func (r *recorder) Ask(string) bool             { return true }
func (r *recorder) Size() (int, int)            { return 0, 0 }
func (r *recorder) Interrupts() <-chan struct{} { return nil }
