package conn

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Pipes: standard input, named pipes (also those of `<(…)` in a shell), devices, sockets. What is read of one is gone, so
// each is opened once, and what the look for a schema reads is given to the run first (exec.Pipes).

// standardInput reports whether a path leads to standard input. A regular file that stands there under a name of the system
// is read as any other.
func standardInput(path string, fsys exec.FS) bool {
	switch path {
	case stdio:
		return true
	case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		info, err := fsys.Stat(path)
		return err != nil || !info.Mode().IsRegular()
	}
	return false
}

// look takes in whether the input is a pipe, and which.
func (in *input) look(info fs.FileInfo) {
	if in.pipe = disk.Passes(info); in.pipe {
		in.key = pipeKey(in.name, info)
	}
}

// pipeKey tells a pipe from others, by whatever name.
func pipeKey(name string, info fs.FileInfo) any {
	if id := idOf(info); id != (fileID{}) {
		return id
	}
	return filepath.Clean(name)
}

// pipes returns what a call reads that cannot be read again. The null device never gives anything.
func pipes(a *types.ConnArgs, env *exec.Env) []types.Pipe {
	var list []types.Pipe
	add := func(name string) {
		if standardInput(name, env.FS) {
			list = append(list, types.Pipe{ID: stdio, Name: "standard input"})
		} else if info, err := env.FS.Stat(name); err == nil && disk.Passes(info) && name != os.DevNull {
			list = append(list, types.Pipe{ID: pipeKey(name, info), Name: "the pipe " + name})
		}
	}
	for _, p := range optStrings(a, "path") {
		if _, err := env.FS.Stat(p); err != nil && strings.ContainsAny(p, "*?[") && !strings.Contains(p, "**") {
			names, _ := glob(p, env.FS)
			for _, n := range names {
				add(n)
			}
			continue
		}
		add(p) // folders and `**` leave pipes out
	}
	return list
}

// dropTwins leaves out what leads to a pipe that another name before it leads to: it gives each row once.
func dropTwins(ins []*input) []*input {
	seen := map[any]bool{}
	ins = slices.DeleteFunc(ins, func(in *input) bool {
		twin := in.pipe && seen[in.key]
		seen[in.key] = seen[in.key] || in.pipe
		return twin
	})
	for i, in := range ins {
		in.number = i
	}
	return ins
}

// opener returns what opens a pipe.
func (in *input) opener(env *exec.Env) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		if in.stdin {
			return io.NopCloser(env.Stdin), nil
		}
		f, err := env.FS.Open(in.name)
		if err != nil {
			return nil, openError(in.name, env.FS, err)
		}
		return f, nil
	}
}

// entry returns the pipe that the input is.
func (in *input) entry(env *exec.Env) *exec.Pipe {
	if in.stdin {
		return env.Pipes.Of(env.Stdin)
	}
	return env.Pipes.Of(in.key)
}

// taking reads a pipe. It is opened by the first Read, for that may block; Close ends a Read that waits, where the system can.
type taking struct {
	in   *input
	env  *exec.Env
	head []byte
	end  error

	mu     sync.Mutex
	f      io.ReadCloser // nil: not open
	closed bool
}

var errClosedInput = errors.New("the input is closed")

func (t *taking) Read(b []byte) (int, error) {
	if t.f == nil {
		if err := t.take(); err != nil {
			return 0, err
		}
	}
	if len(t.head) > 0 {
		n := copy(b, t.head)
		t.head = t.head[n:]
		return n, nil
	}
	if t.end != nil {
		return 0, t.end
	}
	return t.f.Read(b)
}

func (t *taking) take() error {
	head, f, end := t.in.entry(t.env).Take(t.in.opener(t.env))
	if f == nil {
		return end
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		f.Close()
		return errClosedInput
	}
	t.head, t.f, t.end = head, f, end
	return nil
}

// Close may be called while another goroutine reads.
func (t *taking) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed = true; t.f != nil {
		return t.f.Close()
	}
	return nil
}
