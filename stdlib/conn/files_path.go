package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Finding and opening files.

// stdio is the name that stands for standard input or output.
const stdio = "-"

// fileParams are the parameters of every connector that reads or writes files, followed by its own.
func fileParams(more ...types.ConnParam) []types.ConnParam {
	return append([]types.ConnParam{
		{Name: "path", Type: types.ListOf(types.T(types.String)), Required: true,
			Text: "a file, a folder, a pattern such as `logs/*.csv` or `logs/**/*.csv`, a list of these, or `-` for standard input or output"},
		{Name: "compression", Type: types.T(types.String), Default: "auto",
			Text: "`gzip`, `zstd`, `none` or `auto`: inputs by their first bytes, outputs by the ending `.gz` or `.zst`"},
		{Name: "follow", Type: types.T(types.Bool), Default: false, Text: "input: go on reading as the files grow and are rotated"},
		{Name: "append", Type: types.T(types.Bool), Default: false, Text: "output: keep what the file holds and write behind it"},
		{Name: "partition_by", Type: types.Type{}, Row: true,
			Text: "output: write a folder with a file for each value, `DIR/day=2026-01-31/part-0.csv`; a list of columns or a record of expressions"},
		{Name: "changes", Type: types.T(types.Bool), Default: false,
			Text: "output: take an updating stream and write a first column `_change` (`+I -U +U -D`); input: take the kind of change from that column"},
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

	layout layout // of a regular file that is not compressed
	bom    int64  // bytes of its byte order mark

	relay  relay
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
		if n == stdio {
			in.name, in.stdin = "stdin", true
			continue
		}
		info, err := env.FS.Stat(n)
		if err != nil {
			return nil, openError(n, env.FS, err)
		}
		if info.Mode().IsRegular() && info.Size() > 0 { // files of /proc say 0
			in.size = info.Size()
		}
	}
	return ins, nil
}

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
		return nil, fmt.Errorf("no file matches %q", p)
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
		case e.Type()&^fs.ModeSymlink == 0:
			f(name)
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
			return nil, fmt.Errorf("the folder %s has no files that end in %s; a pattern such as %q takes others", dir, strings.Join(exts, " "), dir+"/*")
		}
		return nil, fmt.Errorf("the folder %s has no files", dir)
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
		return fmt.Errorf("cannot open %s: %w", name, cause(err))
	}
	dir, base := filepath.Dir(name), filepath.Base(name)
	entries, dirErr := fsys.ReadDir(dir)
	if dirErr != nil {
		return fmt.Errorf("cannot open %s: there is no folder %s: %w", name, dir, fs.ErrNotExist)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	if s := nearest(base, have); s != "" {
		return fmt.Errorf("cannot open %s: there is no such file; did you mean %s? (%w)", name, filepath.Join(dir, s), fs.ErrNotExist)
	}
	return fmt.Errorf("cannot open %s: there is no such file (%w)", name, fs.ErrNotExist)
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

// The first bytes of compressed files.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// compressedSoFar reports whether head may be the start of a longer magic.
func compressedSoFar(head []byte) bool {
	return len(head) < len(gzipMagic) && bytes.HasPrefix(gzipMagic, head) || len(head) < len(zstdMagic) && bytes.HasPrefix(zstdMagic, head)
}

// detect returns the compression of a file that starts with head: what the option says, else what the bytes say.
func detect(option string, head []byte) (string, error) {
	switch option {
	case "gzip", "zstd":
		return option, nil
	case "none":
		return "", nil
	case "", "auto":
	default:
		return "", fmt.Errorf("compression %q is not known; it may be auto, none, gzip or zstd", option)
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return "gzip", nil
	case bytes.HasPrefix(head, zstdMagic):
		return "zstd", nil
	}
	return "", nil
}

// stream opens the file for reading from its start, without compression. The count of raw bytes goes to read.
// Close ends it; standard input stays open. With peek, nothing is taken away from standard input. Opening may block.
func (in *input) stream(option string, env *exec.Env, peek bool, read func(n int)) (io.ReadCloser, error) {
	var raw io.Reader
	var closers []func() error
	switch {
	case in.stdin && peek:
		raw = stdin(env).peek()
	case in.stdin:
		raw = stdin(env)
	default:
		f, err := env.FS.Open(in.name)
		if err != nil {
			return nil, openError(in.name, env.FS, err)
		}
		raw = f
		closers = append(closers, f.Close)
	}
	if read != nil {
		raw = &counter{r: raw, f: read}
	}
	out := &stream{name: in.name, close: closers}
	var head []byte
	for len(head) == 0 || compressedSoFar(head) { // as little as tells: a pipe may be slow
		b := make([]byte, 1)
		n, err := raw.Read(b)
		head = append(head, b[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			out.Close()
			return nil, fmt.Errorf("cannot read %s: %w", in.name, cause(err))
		}
	}
	raw = io.MultiReader(bytes.NewReader(head), raw)
	pack, err := detect(option, head)
	switch {
	case err != nil:
	case pack == "gzip":
		out.r, err = gzip.NewReader(raw)
	case pack == "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err == nil {
			out.r = z
			out.close = append(out.close, func() error { z.Close(); return nil })
		}
	default:
		out.r = raw
	}
	if err != nil {
		out.Close()
		if pack != "" {
			err = fmt.Errorf("cannot read %s as %s: %w", in.name, pack, err)
		}
		return nil, err
	}
	out.pack = pack
	return out, nil
}

// stream is an open input.
type stream struct {
	name, pack string
	r          io.Reader
	close      []func() error
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && err != io.EOF {
		if s.pack != "" {
			return n, fmt.Errorf("%s: the %s data is damaged or cut off: %w", s.name, s.pack, err)
		}
		return n, fmt.Errorf("cannot read %s: %w", s.name, cause(err))
	}
	return n, err
}

func (s *stream) Close() error {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
	s.close = nil
	return nil
}

type counter struct {
	r io.Reader
	f func(n int)
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.f(n)
	return n, err
}

// replay is a standard input of which the start has been looked at: Info may have to infer a schema from it before
// the run reads it. It takes the place of Env.Stdin.
type replay struct {
	mu   sync.Mutex
	from io.Reader
	seen []byte // looked at and not yet read
	err  error
}

// stdinMu guards the exchange of Env.Stdin.
var stdinMu sync.Mutex

func stdin(env *exec.Env) *replay {
	stdinMu.Lock()
	defer stdinMu.Unlock()
	r, ok := env.Stdin.(*replay)
	if !ok {
		from := env.Stdin
		if from == nil {
			from = os.Stdin
		}
		r = &replay{from: from}
		env.Stdin = r
	}
	return r
}

func (r *replay) Read(b []byte) (int, error) {
	r.mu.Lock()
	if len(r.seen) > 0 {
		defer r.mu.Unlock()
		n := copy(b, r.seen)
		r.seen = r.seen[n:]
		return n, nil
	}
	err := r.err
	r.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return r.from.Read(b)
}

// peek returns a reader that starts with what is not read yet and takes nothing away from it.
func (r *replay) peek() io.Reader { return &peeker{r: r} }

type peeker struct {
	r  *replay
	at int
}

func (p *peeker) Read(b []byte) (int, error) {
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	if p.at == len(p.r.seen) {
		if p.r.err != nil {
			return 0, p.r.err
		}
		more := make([]byte, 64<<10)
		n, err := p.r.from.Read(more)
		p.r.seen = append(p.r.seen, more[:n]...)
		p.r.err = err
		if n == 0 {
			return 0, err
		}
	}
	n := copy(b, p.r.seen[p.at:])
	p.at += n
	return n, nil
}

// firstText hands the start of the first file of a call to enough, more of it each time, until enough says so or the
// file ends (final). A byte order mark is taken off. Nothing is taken away from standard input.
func firstText(a *types.ConnArgs, env *exec.Env, exts []string, enough func(name string, text []byte, final bool) (bool, error)) error {
	ins, err := listFiles(a, env, exts)
	if err != nil {
		return err
	}
	in := ins[0]
	r, err := in.stream(optString(a, "compression"), env, true, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	text := make([]byte, 0, 256<<10)
	for {
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err != nil && err != io.EOF {
			return err
		}
		if len(text) < cap(text) && err == nil && !in.stdin {
			continue
		}
		ok, e := enough(in.name, trimMark(text), err == io.EOF)
		if ok || e != nil || err == io.EOF {
			return e
		}
		if len(text) > maxRecord {
			return fmt.Errorf("%s: the first record does not end", in.name)
		}
		text = slices.Grow(text, max(len(text), 64<<10))
	}
}
