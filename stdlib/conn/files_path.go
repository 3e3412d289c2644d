package conn

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Finding files.

// stdio is the name that stands for standard input or output.
const stdio = "-"

// fileParams are the parameters of every connector that reads or writes files, followed by its own.
func fileParams(more ...types.ConnParam) []types.ConnParam {
	return append([]types.ConnParam{
		{Name: "path", Type: types.ListOf(types.T(types.String)), Required: true, Place: true,
			Text: "a file, a folder, a pattern such as `logs/*.csv` or `logs/**/*.csv`, a list of these, or `-` for standard input or output; a named pipe or `/dev/fd/3` (`<(…)` of a shell) gives each row once"},
		{Name: "compression", Type: types.T(types.String), Default: "auto",
			Text: "`gzip`, `zstd`, `none` or `auto`: inputs by their first bytes, outputs by the ending `.gz` or `.zst`"},
		{Name: "follow", Type: types.T(types.Bool), Default: false, Text: "input: go on reading as the files grow and are rotated; a pipe is read until its writers are gone, with it or without"},
		{Name: "append", Type: types.T(types.Bool), Default: false, Text: "output: keep what the file holds and write behind it"},
		{Name: "partition_by", Type: types.Type{}, Row: true,
			Text: "output: write a folder with a file for each value, `DIR/day=2026-01-31/part-0.csv`; a list of columns or a record of expressions"},
		{Name: "changes", Type: types.T(types.Bool), Default: false,
			Text: "output: take an updating stream and write a first column `_change` (`+I -U +U -D`); input: take the kind of change from that column; one task reads then, as what takes a row back comes behind it"},
	}, more...)
}

// Options of a call, as the checker delivers them. Missing ones are zero.

func optString(a *types.ConnArgs, name string) string { s, _ := a.Args[name].(string); return s }
func optBool(a *types.ConnArgs, name string) bool     { b, _ := a.Args[name].(bool); return b }

// optStrings returns a parameter that is a list of strings or one string.
func optStrings(a *types.ConnArgs, name string) []string {
	switch v := a.Args[name].(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case []any:
		var out []string
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// input is a file to be read.
type input struct {
	name   string // path, or "stdin"
	number int    // of the split
	size   int64  // bytes on disk; -1 if not known
	pack   string // compression: "", "gzip", "zstd"
	stdin  bool
	pipe   bool   // what was read cannot be read again: standard input, a named pipe, a device
	key    any    // of a pipe
	head   uint64 // sum of its first bytes, of a regular file
	id     fileID // of a file that is followed

	layout layout // of a regular file that is not compressed
	bom    int64  // bytes of its byte order mark

	first  int64 // number of its first chunk
	pieces int64 // number of its chunks
}

// listFiles returns the inputs that the paths of a call name, in the order of their names. exts are the endings of the
// format's files, which are taken from a folder; nil takes all.
func listFiles(a *types.ConnArgs, env *exec.Env, exts []string) ([]*input, error) {
	var names []string
	for _, p := range optStrings(a, "path") {
		more, err := expand(p, env.FS, exts)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	if len(names) == 0 {
		return nil, errors.New("no file is named")
	}
	slices.Sort(names)
	names = slices.Compact(names)
	ins := make([]*input, len(names))
	for i, n := range names {
		in := &input{name: n, number: i, size: -1}
		ins[i] = in
		if standardInput(n, env.FS) {
			in.name, in.stdin, in.pipe, in.key = "stdin", true, true, stdio
			continue
		}
		info, err := env.FS.Stat(n)
		if err != nil {
			return nil, openError(n, env.FS, err)
		}
		if in.look(info); !in.pipe && info.Size() > 0 { // files of /proc say 0
			in.size = info.Size()
		}
	}
	return dropTwins(ins), nil
}

// noFiles says that a pattern or a folder leads to no file. They may come until the run starts.
type noFiles string

func (e noFiles) Error() string { return string(e) }

// Is makes it a file that is missing.
func (e noFiles) Is(target error) bool { return target == fs.ErrNotExist }

// expand returns the files that one path names.
func expand(p string, fsys exec.FS, exts []string) ([]string, error) {
	if p == stdio {
		return []string{p}, nil
	}
	if p == "" {
		return nil, errors.New("the path is empty; write a file name, or \"-\" for standard input")
	}
	info, err := fsys.Stat(p)
	if err == nil && info.IsDir() {
		return folder(p, fsys, exts)
	}
	if err == nil || !strings.ContainsAny(p, "*?[") {
		return []string{p}, nil // a missing one is reported when it is opened
	}
	names, err := glob(p, fsys)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q: %w", p, err)
	}
	if len(names) == 0 {
		return nil, noFiles(fmt.Sprintf("no file matches %q", p))
	}
	return names, nil
}

// hidden reports whether a name is left out of folders and patterns: temporary and hidden files.
func hidden(name string) bool { return name[0] == '.' || name[0] == '_' }

// walk calls f for all files below dir that are not hidden.
func walk(dir string, fsys exec.FS, f func(name string)) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case hidden(e.Name()):
		case e.IsDir():
			if err := walk(name, fsys, f); err != nil {
				return err
			}
		case e.Type() == 0:
			f(name)
		case e.Type() == fs.ModeSymlink:
			if info, err := fsys.Stat(name); err != nil || !disk.Passes(info) {
				f(name)
			}
		}
	}
	return nil
}

// folder returns the files of a format below a folder.
func folder(dir string, fsys exec.FS, exts []string) ([]string, error) {
	var names []string
	others := 0
	err := walk(dir, fsys, func(name string) {
		base := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
		if exts == nil || slices.Contains(exts, strings.ToLower(filepath.Ext(base))) {
			names = append(names, name)
		} else {
			others++
		}
	})
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		if others > 0 {
			return nil, noFiles(fmt.Sprintf("the folder %s has no files that end in %s; a pattern such as %q takes others", dir, strings.Join(exts, " "), dir+"/*"))
		}
		return nil, noFiles(fmt.Sprintf("the folder %s has no files", dir))
	}
	return names, nil
}

// glob is filepath.Glob with `**` for any number of folders, without hidden files unless the pattern names them.
func glob(pattern string, fsys exec.FS) ([]string, error) {
	head, tail, deep := strings.Cut(pattern, "**")
	if !deep {
		names, err := fsys.Glob(pattern)
		names = slices.DeleteFunc(names, func(n string) bool {
			if hidden(filepath.Base(n)) && !hidden(filepath.Base(pattern)) {
				return true
			}
			info, err := fsys.Stat(n)
			return err == nil && info.IsDir()
		})
		return names, err
	}
	if _, err := path.Match(tail, ""); err != nil {
		return nil, err
	}
	root := head
	if root == "" {
		root = "."
	}
	want := strings.Split(strings.Trim(pattern, "/"), "/")
	var names []string
	err := walk(filepath.Clean(root), fsys, func(name string) {
		if matchDeep(want, strings.Split(strings.Trim(filepath.ToSlash(name), "/"), "/")) {
			names = append(names, name)
		}
	})
	return names, err
}

func matchDeep(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		for i := range len(name) + 1 {
			if matchDeep(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	if len(name) == 0 {
		return false
	}
	ok, _ := path.Match(pattern[0], name[0])
	return ok && matchDeep(pattern[1:], name[1:])
}

// openError says in words why a file cannot be opened, and what else there is.
func openError(name string, fsys exec.FS, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return &openFailure{fmt.Sprintf("cannot open %s: %v", name, cause(err)), err}
	}
	dir, base := filepath.Dir(name), filepath.Base(name)
	entries, dirErr := fsys.ReadDir(dir)
	if dirErr != nil {
		return &openFailure{fmt.Sprintf("cannot open %s: there is no folder %s", name, dir), err}
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	if s := nearest(base, have); s != "" {
		return &openFailure{fmt.Sprintf("cannot open %s: there is no such file; did you mean %s?", name, filepath.Join(dir, s)), err}
	}
	return &openFailure{fmt.Sprintf("cannot open %s: there is no such file", name), err}
}

// openFailure is why a file cannot be opened, in words, and the error of the system.
type openFailure struct {
	text string
	err  error
}

func (e *openFailure) Error() string { return e.text }
func (e *openFailure) Unwrap() error { return e.err }

// readError says that a file cannot be read, or why it could not be opened when it was read first.
func readError(name string, err error) error {
	if open, ok := errors.AsType[*openFailure](err); ok {
		return open
	}
	return fmt.Errorf("cannot read %s: %w", name, cause(err))
}

// cause takes the operation and the path off an error of a file.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// nearest returns the word of have that word is most likely a slip of the pen for, or "".
func nearest(word string, have []string) string {
	best, at := "", max(1, len(word)/3)+1
	for _, h := range have {
		if strings.EqualFold(h, word) {
			return h
		}
		if d := distance(word, h, at); d < at && d < len(word) {
			best, at = h, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour; limit if it is not less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 200 {
		return limit
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		cur[0] = i + 1
		for j := range len(b) {
			d := prev[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, prev[j+1]+1, cur[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			cur[j+1] = d
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], limit)
}
