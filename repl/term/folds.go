package term

import (
	"strings"
	"sync"
	"unicode"
)

// The library edits one line of runes and draws all of it at each key. What was pasted as several lines is therefore one
// rune in it, and so is a line break of a statement that is recalled. They are taken from a private plane of Unicode.
const (
	newline   = '\U0010f000'
	tab       = '\U0010f001'
	firstFold = '\U0010f100'
	lastFold  = '\U0010ff00'
)

// longest is how many bytes are edited as they are; more is one rune.
const longest = 1000

// folds knows the texts behind such runes.
type folds struct {
	mu    sync.Mutex
	texts []string
}

func (f *folds) reset() {
	f.mu.Lock()
	f.texts = nil
	f.mu.Unlock()
}

// fold gives a text a rune.
func (f *folds) fold(text string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.texts) > int(lastFold-firstFold) {
		f.texts = f.texts[:0]
	}
	f.texts = append(f.texts, text)
	return string(rune(firstFold + len(f.texts) - 1))
}

// paste is what the library gets for a pasted text.
func (f *folds) paste(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r >= newline && r <= lastFold {
			return -1
		}
		return r
	}, text)
	if !strings.Contains(text, "\n") && len(text) <= 200 {
		return strings.ReplaceAll(text, "\t", " ")
	}
	return f.fold(text)
}

// entry is how a statement of the history is shown and edited.
func (f *folds) entry(text string) string {
	if len(text) > longest {
		head, _, _ := strings.Cut(text, "\n")
		if r := []rune(head); len(r) > 40 {
			head = string(r[:40])
		}
		return encode(head) + f.fold(text[len(head):])
	}
	return encode(text)
}

func encode(text string) string {
	return strings.NewReplacer("\n", string(newline), "\t", string(tab)).Replace(text)
}

// open puts the texts in the place of their runes. pasted reports whether there was one of several lines.
func (f *folds) open(line string) (text string, pasted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.IndexFunc(line, func(r rune) bool { return r >= newline }) < 0 {
		return line, false
	}
	var out strings.Builder
	for _, r := range line {
		switch {
		case r == newline:
			out.WriteByte('\n')
			pasted = true
		case r == tab:
			out.WriteByte('\t')
		case r >= firstFold && int(r-firstFold) < len(f.texts):
			out.WriteString(f.texts[r-firstFold])
			pasted = true
		default:
			out.WriteRune(r)
		}
	}
	return out.String(), pasted
}

// painter shows such runes as signs of one cell.
type painter struct{}

func (painter) Paint(line []rune, _ int) []rune {
	out := make([]rune, len(line))
	for i, r := range line {
		switch {
		case r == newline:
			r = '↵'
		case r == tab:
			r = ' '
		case r >= firstFold && r <= lastFold:
			r = '▤'
		}
		out[i] = r
	}
	return out
}
