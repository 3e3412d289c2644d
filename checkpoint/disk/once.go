package disk

import (
	"io"
	"io/fs"
	"strings"
	"sync"
)

// Once looks at each file once and remembers what it saw, small files whole: for who asks many times about files that do not
// change meanwhile, as of a thousand scripts that read the same. Whoever changes one says so by Forget.
type Once struct {
	FS
	mu    sync.Mutex
	infos map[string]seenInfo
	texts map[string]seenText
	bytes int // of texts
}

type seenInfo struct {
	fs.FileInfo
	err error
}

type seenText struct {
	info fs.FileInfo
	text string
}

// How much is remembered; what goes beyond is looked at each time.
const (
	mostNames = 1 << 16
	mostText  = 64 << 10 // bytes of one file
	mostTexts = 32 << 20 // of all
)

// Forget forgets all.
func (x *Once) Forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.infos, x.texts, x.bytes = nil, nil, 0
}

// Stat describes a file.
func (x *Once) Stat(name string) (fs.FileInfo, error) {
	x.mu.Lock()
	seen, known := x.infos[name]
	x.mu.Unlock()
	if known {
		return seen.FileInfo, seen.err
	}
	info, err := x.FS.Stat(name)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.infos == nil {
		x.infos = map[string]seenInfo{}
	}
	if len(x.infos) < mostNames {
		x.infos[name] = seenInfo{info, err}
	}
	return info, err
}

// Open opens a file to read.
func (x *Once) Open(name string) (File, error) {
	x.mu.Lock()
	seen, known := x.texts[name]
	x.mu.Unlock()
	if known {
		return seen.open(name), nil
	}
	info, err := x.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostText {
		return x.FS.Open(name)
	}
	f, err := x.FS.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, mostText+1))
	f.Close()
	if err != nil || len(text) > mostText { // it has grown, or is one of the system's
		return x.FS.Open(name)
	}
	seen = seenText{info, string(text)}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.texts == nil {
		x.texts = map[string]seenText{}
	}
	if _, known := x.texts[name]; !known && len(x.texts) < mostNames && x.bytes+len(text) <= mostTexts {
		x.texts[name] = seen
		x.bytes += len(text)
	}
	return seen.open(name), nil
}

func (s seenText) open(name string) File {
	return seenFile{textFile{strings.NewReader(s.text), name}, s.info}
}

// seenFile is a text that was read from a file.
type seenFile struct {
	textFile
	info fs.FileInfo
}

func (f seenFile) Stat() (fs.FileInfo, error) { return f.info, nil }
