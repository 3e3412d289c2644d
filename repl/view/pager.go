package view

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"

	"golang.org/x/term"
)

// OpenPager starts what shows long results on the terminal: $PAGER, else less, else a stop after each screenful. height is
// that of the terminal. The pager holds back whoever writes to it, and its Write fails once whoever looks has seen enough.
// With an empty $PAGER there is none: it returns nil.
func OpenPager(terminal io.Writer, height int) (io.WriteCloser, error) {
	command, set := os.LookupEnv("PAGER")
	switch {
	case set && command == "":
		return nil, nil
	case !set:
		path, err := exec.LookPath("less")
		if err != nil {
			return &more{w: terminal, height: height, key: readKey}, nil
		}
		command = path
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr = terminal, os.Stderr
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=-SRX") // columns are cut, not wrapped; colours; what was seen stays on the screen
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &pipe{in, cmd}, nil
}

// pipe is a pager in a process of its own.
type pipe struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// Close waits until whoever looks leaves the pager. How it ends says nothing about the rows.
func (p *pipe) Close() error {
	p.WriteCloser.Close()
	p.cmd.Wait()
	return nil
}

const morePrompt = "-- more -- (any key goes on, q stops)"

// more stops after each screenful.
type more struct {
	w      io.Writer
	height int
	lines  int
	key    func() (byte, error)
	quit   bool
}

func (m *more) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		if m.quit {
			return 0, ErrEnough
		}
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		if m.lines >= max(m.height-1, 1) {
			if err := m.stop(); err != nil {
				return 0, err
			}
		}
		if _, err := m.w.Write(rest[:n]); err != nil {
			return 0, err
		}
		m.lines++
		rest = rest[n:]
	}
	return len(text), nil
}

func (m *more) stop() error {
	if _, err := io.WriteString(m.w, morePrompt); err != nil {
		return err
	}
	key, err := m.key()
	m.lines = 0
	if _, e := io.WriteString(m.w, "\r\x1b[K"); e != nil {
		return e
	}
	if err != nil || key == 'q' || key == 'Q' || key == 3 || key == 4 { // Ctrl-C, Ctrl-D
		m.quit = true
		return ErrEnough
	}
	return nil
}

func (m *more) Close() error { return nil }

// readKey waits for a key.
func readKey() (byte, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		tty = os.Stdin
	} else {
		defer tty.Close()
	}
	old, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return 0, errors.New("the terminal gives no keys")
	}
	defer term.Restore(int(tty.Fd()), old)
	var b [1]byte
	_, err = tty.Read(b[:])
	return b[0], err
}
