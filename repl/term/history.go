package term

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// history is the statements that were typed, in a file that several sessions may write. Each is one line: the time in
// seconds, a tab, and the text with line breaks and backslashes escaped. A line that is damaged is passed over.
type history struct {
	path  string
	texts []string
}

const (
	mostRecalled   = 1000
	mostRemembered = 10_000
	longestEntry   = 256 << 10 // longer ones are not kept in the file
)

var (
	escaper   = strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r")
	unescaper = strings.NewReplacer("\\\\", "\\", "\\n", "\n", "\\r", "\r")
)

// openHistory reads a file. Without one, or if it cannot be read, the history is that of the session.
func openHistory(path string) *history {
	h := &history{path: path}
	if path == "" {
		return h
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return h
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		at, text, ok := strings.Cut(line, "\t")
		if _, err := strconv.ParseInt(at, 10, 64); !ok || err != nil || text == "" {
			continue
		}
		h.texts = append(h.texts, unescaper.Replace(text))
	}
	if len(h.texts) > 2*mostRemembered {
		h.texts = h.texts[len(h.texts)-mostRemembered:]
		h.shorten(data)
	}
	return h
}

// last returns the newest n statements, oldest first.
func (h *history) last(n int) []string { return h.texts[max(0, len(h.texts)-n):] }

// add remembers a statement. One write of one line at the end of the file: sessions do not tear each other's lines, and what
// a crash has cut off ends with the next line.
func (h *history) add(text string) {
	if n := len(h.texts); n > 0 && h.texts[n-1] == text {
		return
	}
	h.texts = append(h.texts, text)
	if h.path == "" || len(text) > longestEntry {
		return
	}
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return // a history is no reason to fail
	}
	defer f.Close()
	entry := fmt.Sprintf("%d\t%s\n", time.Now().Unix(), escaper.Replace(text))
	if st, err := f.Stat(); err == nil && st.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, st.Size()-1); err == nil && last[0] != '\n' {
			entry = "\n" + entry
		}
	}
	f.WriteString(entry)
}

// shorten keeps the newest lines of a long file. It takes its place as a whole.
func (h *history) shorten(data []byte) {
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	lines = lines[max(0, len(lines)-mostRemembered):]
	tmp, err := os.CreateTemp(filepath.Dir(h.path), filepath.Base(h.path)+".*")
	if err != nil {
		return
	}
	_, err = tmp.Write(bytes.Join(lines, nil))
	if e := tmp.Sync(); err == nil {
		err = e
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if now, e := os.Stat(h.path); err != nil || e != nil || now.Size() != int64(len(data)) { // another session has written
		os.Remove(tmp.Name())
		return
	}
	if os.Rename(tmp.Name(), h.path) != nil {
		os.Remove(tmp.Name())
	}
}
