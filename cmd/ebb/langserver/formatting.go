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

// rangeFormatting gives the statements that a range touches the layout of `ebb fmt`.
func rangeFormatting(_ context.Context, _ *Server, d *document, p rangeParams) (any, error) {
	edits := []textEdit{}
	text, _ := syntax.Format(d.path, d.text.raw)
	was, _ := syntax.Parse(d.path, d.text.raw)
	now, _ := syntax.Parse(d.path, text)
	if len(was.Stmts) != len(now.Stmts) {
		return edits, nil
	}
	from, to := d.text.offset(p.Range.Start), d.text.offset(p.Range.End)
	for i, s := range was.Stmts {
		if s == nil || now.Stmts[i] == nil {
			continue
		}
		at := s.Range()
		if at.End.Offset < from || at.Start.Offset > to {
			continue
		}
		if by := now.Source.Slice(now.Stmts[i].Range()); by != was.Source.Slice(at) {
			edits = append(edits, textEdit{d.text.span(at), d.text.ended(by)})
		}
	}
	return edits, nil
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
	return []textEdit{{textRange{t.position(from), t.position(len(was) - end)}, t.ended(now[from : len(now)-end])}}
}

// ended gives the lines of a text the ends that those of the document have.
func (t *text) ended(by string) string {
	if strings.Contains(t.raw, "\r\n") {
		return strings.ReplaceAll(by, "\n", "\r\n")
	}
	return by
}
