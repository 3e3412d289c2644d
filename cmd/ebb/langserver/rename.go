package langserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// at finds the word and what it stands for at a place; nil if that is nothing with a name.
func (x *index) at(d *document, p position) (*word, *symbol) {
	w := x.words[x.files[d.path]].at(d.text.offset(p))
	if w == nil {
		return nil, nil
	}
	return w, x.symbol(w)
}

// locations are the places of words.
func (s *Server) locations(list []place) []location {
	out := []location{}
	texts := map[*file]*text{}
	for _, p := range list {
		t := texts[p.file]
		if t == nil {
			raw, err := s.readScript(p.file.path)
			if err != nil {
				raw = p.file.tree.Source.Text
			}
			t = newText(raw)
			texts[p.file] = t
		}
		out = append(out, location{s.uriOf(p.file.path), t.span(p.word.at)})
	}
	return out
}

// definition is where a name is defined.
func definition(_ context.Context, s *Server, d *document, p positionParams) (any, error) {
	a := d.look()
	x := a.newIndex()
	at := d.text.offset(p.Position)
	for _, st := range a.Tree.Stmts {
		if u, ok := st.(*syntax.Use); ok && u.PathAt.Start.Offset <= at && at <= u.PathAt.End.Offset {
			for _, path := range x.files[d.path].uses {
				if strings.HasSuffix(path, strings.TrimPrefix(u.Path, "./")) {
					return []location{{URI: s.uriOf(path)}}, nil
				}
			}
		}
	}
	_, sym := x.at(d, p.Position)
	if sym == nil {
		return nil, nil
	}
	return s.locations([]place{{sym.file, &word{at: sym.at}}}), nil
}

// references are all places that speak of the same thing.
func references(ctx context.Context, s *Server, d *document, p referenceParams) (any, error) {
	x := d.look().wide()
	_, sym := x.at(d, p.Position)
	if sym == nil {
		return nil, nil
	}
	return s.locations(slices.DeleteFunc(x.uses(ctx, sym), func(u place) bool {
		return !p.Context.IncludeDeclaration && u.file == sym.file && u.word.at == sym.at
	})), nil
}

type highlight struct {
	Range textRange `json:"range"`
}

// highlights are the places in the same document.
func highlights(ctx context.Context, _ *Server, d *document, p positionParams) (any, error) {
	x := d.look().newIndex()
	_, sym := x.at(d, p.Position)
	if sym == nil {
		return nil, nil
	}
	out := []highlight{}
	for _, u := range x.uses(ctx, sym) {
		if u.file.path == d.path {
			out = append(out, highlight{d.text.span(u.word.at)})
		}
	}
	return out, nil
}

// renamed finds what is to be renamed, and says if it cannot be.
func renamed(x *index, d *document, p position) (*word, *symbol, error) {
	w, sym := x.at(d, p)
	switch {
	case w == nil:
		return nil, nil, refusal("there is no name here")
	case sym == nil && w.role > roleField:
		return nil, nil, refusal("`%s` is a word of the language", w.name)
	case sym == nil && w.role == roleCall:
		return nil, nil, refusal("`%s` is a function of the language", w.name)
	case sym == nil:
		return nil, nil, refusal("what `%s` stands for is not known here", w.name)
	case sym.fixed != "":
		return nil, nil, refusal("`%s` cannot be renamed: %s", sym.name, sym.fixed)
	}
	return w, sym, nil
}

func prepareRename(_ context.Context, _ *Server, d *document, p positionParams) (any, error) {
	w, _, err := renamed(d.look().newIndex(), d, p.Position)
	if err != nil {
		return nil, err
	}
	return prepareRenameResult{d.text.span(w.at), w.name}, nil
}

// rename gives a name to something that has another. It refuses where a script would become wrong, or would mean something
// else.
func rename(ctx context.Context, s *Server, d *document, p renameParams) (any, error) {
	a := d.look()
	x := a.wide()
	_, sym, err := renamed(x, d, p.Position)
	if err != nil {
		return nil, err
	}
	if x.cut && sym.kind != "parameter" {
		return nil, refusal("the workspace has more than %d scripts, which are too many to look for `%s` in all of them; open a smaller folder", mostFiles, sym.name)
	}
	name := p.NewName
	if quoted, ok := strings.CutPrefix(name, "@"); ok && len(quoted) > 2 {
		name = syntax.Unquote(quoted)
	}
	if name == sym.name {
		return workspaceEdit{Changes: map[string][]textEdit{}}, nil
	}
	if err := s.nameFits(sym, name); err != nil {
		return nil, err
	}
	if len(a.Tree.Broken) > 0 || slices.ContainsFunc(a.Errors, func(e check.Diagnostic) bool { return strings.HasPrefix(e.Code, "P") && e.Source == a.Tree.Source }) {
		return nil, refusal("the script has syntax errors; mend them first, so that no place is missed")
	}
	uses := x.uses(ctx, sym)
	written := types.QuoteName(name)
	edits := map[*file][]syntax.Span{}
	for _, u := range uses {
		edits[u.file] = append(edits[u.file], u.word.at)
	}
	texts := map[string]string{}
	for f, spans := range edits {
		texts[f.path] = replaced(f.tree.Source.Text, spans, written)
	}
	if err := s.sameMeaning(x, a, texts, sym.name, name); err != nil {
		return nil, err
	}
	out := workspaceEdit{Changes: map[string][]textEdit{}}
	for i, l := range s.locations(uses) {
		_ = i
		out.Changes[l.URI] = append(out.Changes[l.URI], textEdit{l.Range, written})
	}
	return out, nil
}

// nameFits says why a name cannot be that of a symbol.
func (s *Server) nameFits(sym *symbol, name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "\n\r"):
		return refusal("a name is one word")
	case sym.kind != "column" && types.QuoteName(name) != name:
		return refusal("`%s` is no name: letters, digits and `_`, and no word that expressions reserve", name)
	case sym.kind == "fn" && (s.lib.Func(name) != nil || s.lib.Agg(name) != nil):
		return refusal("`%s` is a function of the language", name)
	case sym.kind == "pipe" && s.lib.Stage(name) != nil:
		return refusal("`%s` is a stage of the language", name)
	case (sym.kind == "stream" || sym.kind == "source" || sym.kind == "sink") && s.lib.Conn(name) != nil:
		return refusal("`%s` is a connector of the language", name)
	case slices.Contains(syntax.Statements, name) && sym.kind != "column" && sym.kind != "parameter":
		return refusal("`%s` is a word of the language", name)
	}
	return nil
}

// replaced writes a name in the place of spans, which are in the order of the text.
func replaced(text string, spans []syntax.Span, name string) string {
	var out strings.Builder
	at := 0
	for _, s := range spans {
		out.WriteString(text[at:s.Start.Offset])
		out.WriteString(name)
		at = s.End.Offset
	}
	return out.String() + text[at:]
}

// sameMeaning refuses new texts in which a name stands for something else than before, or which have errors that the old
// ones have not.
func (s *Server) sameMeaning(x *index, a *analysis, texts map[string]string, old, name string) error {
	y := emptyIndex(s)
	read := func(path string) (string, error) {
		if t, ok := texts[path]; ok {
			return t, nil
		}
		return s.readScript(path)
	}
	for _, f := range x.inOrder() {
		text, err := read(f.path)
		if err != nil {
			text = f.tree.Source.Text
		}
		tree, _ := syntax.Parse(f.path, text)
		y.enter(&file{path: f.path, tree: tree}, read)
	}
	y.schemas = x.schemas
	if schema, ok := x.schemas[old]; ok {
		y.schemas[name] = schema
	}
	y.link()
	if !slices.Equal(x.meaning(), y.meaning()) {
		return refusal("`%s` is taken: with it a name would stand for something else", name)
	}
	before := map[string]int{}
	for _, e := range a.Errors {
		before[e.Code]++
	}
	w := a.doc.world()
	_, after := check.Text(a.doc.path, or(texts[a.doc.path], a.Tree.Source.Text), &renaming{w, read}, check.Options{})
	for _, e := range after {
		if e.Code == "U512" {
			continue
		}
		if before[e.Code]--; before[e.Code] < 0 {
			return refusal("with the name `%s` the script would be wrong: %s", name, e.Message)
		}
	}
	return nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// renaming is a world whose scripts have new texts.
type renaming struct {
	*world
	read readFunc
}

func (r *renaming) ReadScript(path string) (string, error) { return r.read(path) }

// meaning says of each name what it stands for: by numbers, in the order in which they are met.
func (x *index) meaning() []string {
	numbers := map[*symbol]int{}
	var out []string
	for _, f := range x.inOrder() {
		for i, w := range x.words[f] {
			if w.role > roleField {
				continue
			}
			n := -1
			if s := x.symbol(w); s != nil {
				if _, ok := numbers[s]; !ok {
					numbers[s] = len(numbers)
				}
				n = numbers[s]
			}
			out = append(out, fmt.Sprint(f.path, " ", i, " ", n))
		}
	}
	return out
}
