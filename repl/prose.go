package repl

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/mattn/go-runewidth"
)

// What people read is folded at words to the width of the terminal; tables are fitted to it where they are drawn.

// prose is a Screen whose notes are folded.
type prose struct{ Screen }

func (p prose) Note(text string) {
	width, _ := p.Size()
	p.Screen.Note(strings.TrimSuffix(fold(text, width), "\n"))
}

// say shows a result that is text.
func (s *Session) say(format string, args ...any) error {
	width, _ := s.Screen.Size()
	_, err := io.WriteString(s.Screen, fold(fmt.Sprintf(format, args...), width))
	return err
}

// page shows a text as it is; in the pager if it is longer than the terminal is high.
func (s *Session) page(text string) error {
	_, height := s.Screen.Size()
	if s.opts.Pager != nil && height > 0 && strings.Count(text, "\n") >= height {
		if pager, err := s.opts.Pager(height); err == nil {
			io.WriteString(pager, text) // fails when whoever looks wants no more
			return pager.Close()
		}
	}
	_, err := io.WriteString(s.Screen, text)
	return err
}

// fold breaks lines that are longer than a terminal is wide; 0 is no terminal. What goes on stands below the text of a
// list, else below the beginning of the line. Examples, which are indented by four, stay as they are.
func fold(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		example := indent >= 4
		if m := listed.FindString(line); m != "" {
			indent = len(m)
		}
		for !example && runewidth.StringWidth(line) > width && width >= indent+20 {
			cut := runewidth.Truncate(line, width+1, "")
			i := strings.LastIndexByte(cut, ' ')
			if i <= indent {
				break
			}
			out.WriteString(strings.TrimRight(line[:i], " ") + "\n")
			line = strings.Repeat(" ", indent) + strings.TrimLeft(line[i:], " ")
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// listed is the beginning of a line of a list, up to its text.
var listed = regexp.MustCompile(`^(  \S+( \S+)? {2,}|\d+  )`)
