package langserver

import (
	"context"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// formatting gives a document the layout of `ebb fmt`.
func formatting(_ context.Context, _ *Server, d *document, _ documentParams) (any, error) {
	now, _ := syntax.Format(d.path, d.text.raw)
	return d.text.into(now), nil
}

// into is what makes another text of it. The lines at the beginning and at the end that stay as they are are left alone, so
// that an editor keeps its place.
func (t *text) into(now string) []textEdit {
	was := t.plain
	if now == was {
		return []textEdit{}
	}
	from := 0
	for from < len(was) {
		i := strings.IndexByte(was[from:], '\n') + 1
		if i == 0 || !strings.HasPrefix(now[from:], was[from:from+i]) {
			break
		}
		from += i
	}
	end := 0 // counted from the ends
	for end < len(was)-from && end < len(now)-from {
		i := strings.LastIndexByte(strings.TrimSuffix(was[from:len(was)-end], "\n"), '\n') + 1
		line := was[from+i : len(was)-end]
		if i == 0 || !strings.HasSuffix(now[from:len(now)-end], "\n"+line) {
			break
		}
		end += len(line)
	}
	by := now[from : len(now)-end]
	if strings.Contains(t.raw, "\r\n") {
		by = strings.ReplaceAll(by, "\n", "\r\n")
	}
	return []textEdit{{textRange{t.position(from), t.position(len(was) - end)}, by}}
}
