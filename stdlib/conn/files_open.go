package conn

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Opening inputs: compression, and the look at their start.

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

// raw opens the file for reading from its start, as its bytes are; with peek, nothing is taken away from a pipe. A pipe is
// opened by the first read, which may block until Close.
func (in *input) raw(env *exec.Env, peek bool) (io.ReadCloser, error) {
	switch {
	case in.pipe && peek:
		return io.NopCloser(in.entry(env).Look(in.opener(env))), nil
	case in.pipe:
		return &taking{in: in, env: env}, nil
	}
	return in.opener(env)()
}

// unpack reads raw without compression. The count of raw bytes goes to read. It may block; Close closes raw, too, and so
// does an error.
func (in *input) unpack(from io.ReadCloser, option string, read func(n int)) (io.ReadCloser, error) {
	var raw io.Reader = from
	if read != nil {
		raw = &counter{r: raw, f: read}
	}
	out := &stream{name: in.name, close: []func() error{from.Close}}
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
			return nil, readError(in.name, err)
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
		return n, readError(s.name, err)
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

// firstText hands the start of the first file of a call that is not empty to enough, more of it each time, until enough
// says so or the file ends (final). A byte order mark is taken off. Nothing is taken away from pipes.
func firstText(a *types.ConnArgs, env *exec.Env, exts []string, enough func(name string, text []byte, final bool) (bool, error)) error {
	ins, err := listFiles(a, env, exts)
	if err != nil {
		return err
	}
	for i, in := range ins {
		empty, err := in.start(optString(a, "compression"), env, i < len(ins)-1, enough)
		if !empty || err != nil {
			return err
		}
	}
	return nil
}

// start does for one file what firstText says. An empty one that may be passed over is not handed on.
func (in *input) start(compression string, env *exec.Env, pass bool, enough func(name string, text []byte, final bool) (bool, error)) (empty bool, err error) {
	raw, err := in.raw(env, true)
	if err != nil {
		return false, err
	}
	r, err := in.unpack(raw, compression, nil)
	if err != nil {
		return false, err
	}
	defer r.Close()
	room := int64(256 << 10)
	if in.size >= 0 {
		room = min(room, in.size+512) // most files that scripts are tried on are small
	}
	text := make([]byte, 0, room)
	for {
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err != nil && err != io.EOF {
			return false, err
		}
		if len(text) < cap(text) && err == nil && !in.pipe {
			continue
		}
		if err == io.EOF && len(text) == 0 && pass {
			return true, nil
		}
		if err := refuseUTF16(in.name, text); err != nil {
			return false, err
		}
		ok, e := enough(in.name, trimMark(text), err == io.EOF)
		if ok || e != nil || err == io.EOF {
			return false, e
		}
		if len(text) > maxRecord {
			return false, fmt.Errorf("%s: the first record does not end", in.name)
		}
		text = slices.Grow(text, max(len(text), 64<<10))
	}
}

// inspect looks at the head of a regular file: whether it is compressed, and if not, how it is laid out. Other files
// are looked at when they are read.
func (s *scan) inspect(in *input) error {
	if in.size < 0 {
		return nil
	}
	f, err := s.Env.FS.Open(in.name)
	if err != nil {
		return openError(in.name, s.Env.FS, err)
	}
	defer f.Close()
	for n := int64(16 << 10); ; n *= 8 {
		head := make([]byte, min(n, in.size))
		if err := readAt(f, head, 0, in.name); err != nil {
			return err
		}
		in.head = headSum(head)
		if in.pack, err = detect(s.pack, head); err != nil || in.pack != "" {
			return err
		}
		text := trimMark(head)
		in.bom = int64(len(head) - len(text))
		in.layout, err = openLayout(s.form, in.name, text, n >= in.size && !s.follow)
		if err == errShort && n >= in.size {
			return nil // a header that is still being written
		}
		if err != errShort {
			return err
		}
	}
}

// openLayout opens the layout of a text and refuses what is not UTF-8 at first sight.
func openLayout(form format, name string, head []byte, final bool) (layout, error) {
	if err := refuseUTF16(name, head); err != nil {
		return nil, err
	}
	l, err := form.open(name, head, final)
	if err == errShort && (final || len(head) > maxRecord) {
		return nil, fmt.Errorf("%s: the header does not end", name)
	}
	return l, err
}

func refuseUTF16(name string, head []byte) error {
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return fmt.Errorf("%s is UTF-16 text; convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8", name)
	}
	return nil
}

// trimMark takes a byte order mark off.
func trimMark(head []byte) []byte { return bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")) }

// readAt fills b from offset off.
func readAt(f io.ReaderAt, b []byte, off int64, name string) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		return fmt.Errorf("%s became shorter while it was read", name)
	}
	return fmt.Errorf("cannot read %s: %w", name, cause(err))
}
