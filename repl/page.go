package repl

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"os"
	"strings"
)

// pageHead begins every page: by it a page is known as one of ours, so that nothing else is overwritten.
const pageHead = "<!DOCTYPE html>\n<!-- a plan, drawn by ebb -->\n"

// dotHead begins every plan for Graphviz.
const dotHead = "digraph plan {\n"

// page is a page of HTML: facts, a drawing, the script.
func page(title string, facts [][2]string, svg, script, notes string) string {
	var s strings.Builder
	esc := html.EscapeString
	s.WriteString(pageHead)
	fmt.Fprintf(&s, "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n", esc(title))
	s.WriteString("<style>body{font:14px ui-sans-serif,sans-serif;margin:24px;color:#111;background:#fff}h1{font-size:20px}" +
		"table{border-collapse:collapse;margin:8px 0 20px}td,th{text-align:left;padding:3px 14px 3px 0;border-bottom:1px solid #ddd}" +
		"pre{background:#f6f6f4;padding:10px;overflow:auto}svg{max-width:100%;height:auto}</style></head><body>\n")
	fmt.Fprintf(&s, "<h1>%s</h1>\n", esc(title))
	if len(facts) > 0 {
		s.WriteString("<table>\n")
		for _, f := range facts {
			fmt.Fprintf(&s, "<tr><th>%s</th><td>%s</td></tr>\n", esc(f[0]), esc(f[1]))
		}
		s.WriteString("</table>\n")
	}
	s.WriteString(svg)
	fmt.Fprintf(&s, "<pre>%s</pre>\n", esc(script))
	if notes != "" {
		fmt.Fprintf(&s, "<pre>%s</pre>\n", esc(notes))
	}
	s.WriteString("</body></html>\n")
	return s.String()
}

// redraw writes a file as a whole. A file that is there already must begin with head: nothing of a person's is lost by a
// mistyped name.
func redraw(path, head, text string) error {
	old, err := os.Open(path)
	switch {
	case err == nil:
		first := make([]byte, len(head))
		n, _ := old.Read(first)
		old.Close()
		if n > 0 && !bytes.Equal(first[:n], []byte(head)) {
			return fmt.Errorf("%s is there already and was not drawn by ebb: give another name, or remove it first", path)
		}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	return replaceFile(path, text)
}
