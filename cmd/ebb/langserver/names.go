package langserver

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// index tells what the names of a script stand for, and of the scripts that it uses.
type index struct {
	s       *Server
	files   map[string]*file
	words   map[*file]words
	tops    map[string][]*symbol // by name
	made    map[*file]map[string]*symbol
	columns map[columnKey]*symbol // of inputs
	schemas map[string]types.Schema
	cyclic  int
	cut     bool // there are more files than are indexed
}

type columnKey struct {
	file   *file
	offset int
	name   string
}

// readFunc gives the text of a path.
type readFunc func(path string) (string, error)

// newIndex indexes a document and what it uses, directly or not.
func (a *analysis) newIndex() *index {
	x := emptyIndex(a.doc.s)
	x.enter(&file{path: a.doc.path, tree: a.Tree}, a.doc.s.readScript)
	x.know(a)
	return x.link()
}

func emptyIndex(s *Server) *index {
	return &index{s: s, files: map[string]*file{}, words: map[*file]words{}, tops: map[string][]*symbol{}, made: map[*file]map[string]*symbol{},
		columns: map[columnKey]*symbol{}, schemas: map[string]types.Schema{}}
}

// know takes over what the checker knows of inputs.
func (x *index) know(a *analysis) {
	if a.Checked == nil {
		return
	}
	for _, src := range a.Checked.Sources {
		x.schemas[src.Name] = src.Schema
	}
}

// mostFiles bounds the files that one index reads.
const mostFiles = 5000

// enter adds a file and those it uses.
func (x *index) enter(f *file, read readFunc) {
	if x.files[f.path] != nil {
		return
	}
	if len(x.files) >= mostFiles {
		x.cut = true
		return
	}
	x.files[f.path] = f
	x.words[f] = wordsOf(f)
	for _, s := range f.tree.Stmts {
		u, ok := s.(*syntax.Use)
		if !ok || u.Path == "" {
			continue
		}
		path := u.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(f.path), path)
		}
		path = filepath.Clean(path)
		f.uses = append(f.uses, path)
		if x.files[path] != nil {
			continue
		}
		if text, err := read(path); err == nil {
			tree, _ := syntax.Parse(path, text)
			x.enter(&file{path: path, tree: tree}, read)
		}
	}
}

// link enters what statements define, and the streams that exist because something writes to them.
func (x *index) link() *index {
	for _, f := range x.inOrder() {
		for _, w := range x.words[f] {
			if w.role == roleDefine && w.own.kind != "parameter" {
				x.tops[w.name] = append(x.tops[w.name], w.own)
			}
		}
	}
	for _, f := range x.inOrder() {
		for _, w := range x.words[f] {
			if w.role != roleTarget || x.top(f, w.name) != nil {
				continue
			}
			if x.made[f] == nil {
				x.made[f] = map[string]*symbol{}
			}
			own := &symbol{kind: "stream", name: w.name, file: f, at: w.at}
			if w.in.run != nil {
				rows := *w.in.run
				rows.stages = rows.stages[:w.in.stage]
				own.run = &rows
			}
			x.made[f][w.name] = own
		}
	}
	return x
}

// inOrder are the files by path, so that answers do not depend on chance.
func (x *index) inOrder() []*file {
	var all []*file
	for _, f := range x.files {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return all
}

// sees reports whether a file may name what another defines.
func (x *index) sees(f, other *file) bool {
	seen := map[string]bool{}
	var walk func(path string) bool
	walk = func(path string) bool {
		if path == other.path {
			return true
		}
		g := x.files[path]
		if seen[path] || g == nil {
			return false
		}
		seen[path] = true
		return slices.ContainsFunc(g.uses, walk)
	}
	return walk(f.path)
}

// top finds the statement that a name of a file stands for.
func (x *index) top(f *file, name string) *symbol {
	for _, s := range x.tops[name] {
		if x.sees(f, s.file) {
			return s
		}
	}
	return x.made[f][name]
}

// symbol finds what a word stands for; nil if it is a word of the language, or nothing is known.
func (x *index) symbol(w *word) *symbol {
	x.cyclic = 0
	in := w.in
	switch w.role {
	case roleDefine:
		return w.own
	case roleRows, roleTarget:
		return x.top(in.file, w.name)
	case rolePipe:
		if s := x.top(in.file, w.name); s != nil && s.kind == "pipe" {
			return s
		}
	case roleCall:
		if s := x.top(in.file, w.name); s != nil && s.kind == "fn" {
			return s
		}
	case roleNewColumn:
		return x.newColumn(in.file, w.name, w.at)
	case roleRowField:
		return x.rowsColumn(in.file, in.stream, w.name)
	case roleValue:
		return x.value(w)
	}
	return nil
}

// value finds what a name in an expression stands for: a parameter, a column, a constant.
func (x *index) value(w *word) *symbol {
	in := w.in
	if p := in.params[w.name]; p != nil {
		return p
	}
	constant := x.top(in.file, w.name)
	if constant != nil && constant.kind != "param" && constant.kind != "let" {
		constant = nil
	}
	if in.run == nil {
		return constant
	}
	for _, s := range slices.Backward(in.steps) {
		if s.Name.Name == w.name {
			return x.newColumn(in.file, w.name, s.Name.Span)
		}
	}
	if in.stage < len(in.run.stages) {
		st := in.run.stages[in.stage]
		if st.Name.Name == "derive" {
			for _, item := range slices.Backward(st.Items[:min(in.item, len(st.Items))]) {
				if item.Name != nil && item.Name.Name == w.name {
					return x.newColumn(in.file, w.name, item.Name.Span)
				}
			}
		}
		if isJoin(st) {
			if s := x.alias(in.run, st, w.name); s != nil {
				return s
			}
		}
	}
	if c := x.column(in.run, in.stage, w.name, constant != nil); c != nil {
		return c
	}
	return constant
}

// newColumn is the column that is defined at a place.
func (x *index) newColumn(f *file, name string, at syntax.Span) *symbol {
	key := columnKey{f, at.Start.Offset, name}
	if x.columns[key] == nil {
		x.columns[key] = &symbol{kind: "column", name: name, file: f, at: at}
	}
	return x.columns[key]
}

// given is a column that has its name from somewhere else.
func (x *index) given(f *file, name string, at syntax.Span, why string) *symbol {
	c := x.newColumn(f, name, at)
	c.fixed = why
	return c
}

// alias is what a join calls the rows that it adds.
func (x *index) alias(r *run, st *syntax.Stage, name string) *symbol {
	for _, k := range st.Clauses {
		if k.Label == "as" && k.Name != nil {
			if k.Name.Name == name {
				return x.newColumn(r.file, name, k.Name.Span)
			}
			return nil
		}
	}
	for _, item := range st.Items {
		if item.Expr != nil && len(item.Expr.Tokens) == 1 && plain(item.Expr.Tokens[0]) == name {
			return x.top(r.file, name)
		}
	}
	return nil
}

// column finds what defines a column of the rows in front of stage n. doubt: the name may also be a constant, so an input of
// which nothing is known is not taken to have it.
func (x *index) column(r *run, n int, name string, doubt bool) *symbol {
	if x.cyclic++; x.cyclic > 500 || r == nil {
		return nil
	}
	s, passes := x.through(r, n, name, doubt)
	if s != nil || !passes {
		return s
	}
	switch {
	case r.from != nil:
		from := x.top(r.file, r.from.Name)
		if from != nil && from.run != nil {
			return x.column(from.run, len(from.run.stages), name, doubt)
		}
	case r.input != nil:
		return x.inputColumn(r, name, doubt)
	}
	return nil
}

// inputColumn finds a column of an input.
func (x *index) inputColumn(r *run, name string, doubt bool) *symbol {
	const why = "the input calls this column so; write `|> rename new = old` behind it"
	if s := r.input.Schema; s != nil {
		for _, f := range s.Fields {
			if f.Name.Name == name {
				return x.given(r.file, name, f.Name.Span, why)
			}
		}
		return nil
	}
	known, ok := x.schemas[r.file.tree.Source.Slice(r.name)]
	if ok && known.Index(name) < 0 || !ok && doubt {
		return nil
	}
	return x.given(r.file, name, r.name, why)
}

// rowsColumn finds a column of a stream or source.
func (x *index) rowsColumn(f *file, stream, name string) *symbol {
	if s := x.top(f, stream); s != nil && s.run != nil {
		return x.column(s.run, len(s.run.stages), name, false)
	}
	return nil
}

// through looks for a column in the stages before stage n, last first. passes: they all let a column of that name through.
func (x *index) through(r *run, n int, name string, doubt bool) (found *symbol, passes bool) {
	for i := min(n, len(r.stages)) - 1; i >= 0; i-- {
		st := r.stages[i]
		switch stage := st.Name.Name; {
		case st.Call:
			pipe := x.top(r.file, stage)
			if pipe == nil {
				return nil, false
			}
			p, ok := pipe.stmt.(*syntax.Pipe)
			if x.cyclic++; !ok || x.cyclic > 500 {
				return nil, false
			}
			if s, on := x.through(&run{file: pipe.file, name: p.Name.Span, stages: p.Stages}, len(p.Stages), name, doubt); s != nil || !on {
				return s, false
			}
		case stage == "derive", stage == "rename":
			for _, item := range slices.Backward(st.Items) {
				if item.Name != nil && item.Name.Name == name {
					return x.newColumn(r.file, name, item.Name.Span), false
				}
				if stage == "rename" && item.Expr != nil && len(item.Expr.Tokens) == 1 && plain(item.Expr.Tokens[0]) == name {
					return nil, false
				}
			}
		case stage == "select", stage == "aggregate", stage == "pattern":
			items := slices.Clone(st.Items)
			for _, k := range st.Clauses {
				if k.Label == "by" {
					items = append(items, k.Items...)
				}
			}
			s, on := x.item(r, items, name)
			if s == nil && stage == "pattern" {
				for _, step := range st.Steps {
					if step.Name.Name == name {
						return x.newColumn(r.file, name, step.Name.Span), false
					}
				}
			}
			if s != nil || !on {
				return s, false
			}
		case stage == "drop":
			if slices.ContainsFunc(st.Items, func(i *syntax.Item) bool {
				return i.Expr != nil && len(i.Expr.Tokens) == 1 && plain(i.Expr.Tokens[0]) == name
			}) {
				return nil, false
			}
		case stage == "unnest":
			for _, k := range st.Clauses {
				if k.Label == "as" && k.Name != nil && k.Name.Name == name {
					return x.newColumn(r.file, name, k.Name.Span), false
				}
			}
		case isJoin(st) && !strings.HasPrefix(stage, "semi") && !strings.HasPrefix(stage, "anti"):
			if s := x.alias(r, st, name); s != nil {
				return s, false
			}
		case stage == "top" && name == "rank":
			return nil, false
		}
	}
	return nil, true
}

// item looks for a column among the items that make up the columns behind a stage.
func (x *index) item(r *run, items []*syntax.Item, name string) (found *symbol, passes bool) {
	for _, item := range items {
		switch e := item.Expr; {
		case item.Name != nil:
			if item.Name.Name == name {
				return x.newColumn(r.file, name, item.Name.Span), false
			}
		case e == nil || len(e.Tokens) == 0:
		case len(e.Tokens) == 1:
			if plain(e.Tokens[0]) == name {
				return nil, true
			}
		case e.Tokens[len(e.Tokens)-1].Kind == syntax.KindIdent && e.Tokens[len(e.Tokens)-1].Text == name && e.Tokens[len(e.Tokens)-2].Text == ".":
			return x.given(r.file, name, e.Tokens[len(e.Tokens)-1].Span, "the column has its name from a field; write `NAME = …` in front of it"), false
		case e.Tokens[0].Text == name && e.Tokens[1].Text == "(":
			return x.given(r.file, name, e.Tokens[0].Span, "the column has its name from the function; write `NAME = …` in front of it"), false
		}
	}
	return nil, false
}

// place is a word of a file.
type place struct {
	file *file
	word *word
}

// uses are the words of all files that stand for a symbol, in the order of files and texts. Nobody waits for them any more
// once ctx is done.
func (x *index) uses(ctx context.Context, s *symbol) []place {
	var out []place
	for _, f := range x.inOrder() {
		for _, w := range x.words[f] {
			if ctx.Err() != nil {
				return nil
			}
			if w.name == s.name && x.symbol(w) == s {
				out = append(out, place{f, w})
			}
		}
	}
	return out
}

// wide indexes also the files that use the document: those that are open, and those in the folder of the workspace.
func (a *analysis) wide() *index {
	s := a.doc.s
	x := emptyIndex(s)
	x.enter(&file{path: a.doc.path, tree: a.Tree}, s.readScript)
	x.know(a)
	paths, all := s.scripts()
	x.cut = x.cut || !all
	for _, path := range paths {
		if x.files[path] != nil {
			continue
		}
		text, err := s.readScript(path)
		if err != nil || !strings.Contains(text, "use") {
			continue
		}
		tree, _ := syntax.Parse(path, text)
		if slices.ContainsFunc(tree.Stmts, func(st syntax.Stmt) bool { _, uses := st.(*syntax.Use); return uses }) {
			x.enter(&file{path: path, tree: tree}, s.readScript)
		}
	}
	return x.link()
}

// scripts are the scripts that are open or lie in the workspace; all is false if there are too many to list them.
func (s *Server) scripts() (paths []string, all bool) {
	all = true
	seen := map[string]bool{}
	for _, d := range s.documents() {
		seen[d.path] = true
	}
	s.mu.Lock()
	root := s.root
	s.mu.Unlock()
	if root != "" {
		left := 20_000 // entries: a workspace may be a whole disk
		filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if left--; left < 0 || len(seen) > mostFiles {
				all = false
				return filepath.SkipAll
			}
			switch name := filepath.Base(path); {
			case err != nil:
				return nil
			case e.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "node_modules"):
				return filepath.SkipDir
			case e.Type().IsRegular() && strings.HasSuffix(name, ".ebb"):
				seen[path] = true
			}
			return nil
		})
	}
	return slices.Sorted(maps.Keys(seen)), all
}
