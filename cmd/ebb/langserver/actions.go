package langserver

import (
	"context"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/lint"
)

// codeActions are the fixes of what was found in a range, and one that makes all safe fixes at once.
func codeActions(_ context.Context, s *Server, d *document, p codeActionParams) (any, error) {
	a := d.look()
	wants := func(kind string) bool {
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, func(o string) bool { return kind == o || strings.HasPrefix(kind, o+".") })
	}
	from, to := d.text.offset(p.Range.Start), d.text.offset(p.Range.End)
	out := []codeAction{}
	safe := false
	for _, f := range a.Found {
		if f.Source != a.Tree.Source {
			continue
		}
		fix := f.Fix
		if fix == nil {
			continue
		}
		safe = safe || fix.Applicability == lint.Safe
		if f.Span.End.Offset < from || f.Span.Start.Offset > to || !wants("quickfix") {
			continue
		}
		title := fix.Text
		if fix.Applicability == lint.Unsafe {
			title += " (look whether that is meant)"
		}
		out = append(out, codeAction{Title: title, Kind: "quickfix", IsPreferred: fix.Applicability == lint.Safe, Diagnostics: []diagnostic{s.diagnostic(a, f)},
			Edit: d.edit(fix.Edits)})
	}
	if safe && wants("source.fixAll") {
		if m := lint.Mend(d.script(d.world()), lint.Safe); m.Made > 0 {
			out = append(out, codeAction{Title: "make all safe fixes", Kind: "source.fixAll", Edit: workspaceEdit{map[string][]textEdit{d.uri: d.text.into(m.Text)}}})
		}
	}
	return out, nil
}

// edit is a change of the document.
func (d *document) edit(edits []lint.Edit) workspaceEdit {
	list := []textEdit{}
	for _, e := range edits {
		list = append(list, textEdit{d.text.span(e.Span), e.Text})
	}
	return workspaceEdit{Changes: map[string][]textEdit{d.uri: list}}
}
