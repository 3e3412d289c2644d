package langserver

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/complete"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
)

// completion offers what may stand at a place, as the session does.
func completion(_ context.Context, s *Server, d *document, p positionParams) (any, error) {
	at := d.text.offset(p.Position)
	start := statementAt(d.text.plain, at)
	w := &completing{Catalog: s.lib, doc: d, start: start, at: at}
	from, items := complete.At(d.text.plain[start:at], w)
	edit := textRange{d.text.position(start + from), d.text.position(at)}
	list := completionList{Items: []completionItem{}}
	for _, x := range items {
		item := completionItem{Label: x.Text, Kind: completionKinds[x.Kind], SortText: string(rune('a'+nearness[x.Kind])) + x.Text, TextEdit: &textEdit{edit, x.Text}}
		switch x.Kind {
		case complete.Column:
			item.Detail = x.Type
		case complete.Stage, complete.Connector, complete.Function, complete.Aggregate:
			item.Data, _ = json.Marshal([]string{docKinds[x.Kind], x.Text})
		case complete.File:
			list.IsIncomplete = true
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// resolveCompletion adds the documentation to an item.
func resolveCompletion(s *Server, raw json.RawMessage) (answer, error) {
	var item completionItem
	if err := json.Unmarshal(raw, &item); err != nil {
		return nil, badParams(err)
	}
	return func(context.Context) (any, error) {
		var what []string
		if json.Unmarshal(item.Data, &what) == nil && len(what) == 2 {
			for _, doc := range s.lib.Docs(what[0]) {
				if doc.Name == what[1] {
					m := markdown(oneDoc(doc))
					item.Documentation, item.Detail = &m, doc.Signature
				}
			}
		}
		return item, nil
	}, nil
}

// completionKinds are the protocol's numbers.
var completionKinds = map[complete.Kind]int{complete.Word: 14, complete.Stage: 3, complete.Connector: 9, complete.Option: 10, complete.Function: 3,
	complete.Aggregate: 3, complete.Column: 5, complete.Constant: 21, complete.Rows: 6, complete.Target: 6, complete.Type: 25, complete.Value: 12, complete.File: 17}

// nearness puts first what belongs to the script.
var nearness = map[complete.Kind]int{complete.Column: 0, complete.Rows: 0, complete.Option: 0, complete.Target: 0, complete.Constant: 1, complete.Word: 2,
	complete.Stage: 2, complete.Connector: 3, complete.Aggregate: 3, complete.Function: 4, complete.Type: 2, complete.Value: 2, complete.File: 2}

var docKinds = map[complete.Kind]string{complete.Stage: "stage", complete.Connector: "conn", complete.Function: "func", complete.Aggregate: "agg"}

// statementAt is where the statement begins that an offset stands in.
func statementAt(text string, at int) int {
	tokens, _ := syntax.Lex(&syntax.Source{Text: text[:at]})
	for _, t := range slices.Backward(tokens) {
		if t.Kind == syntax.KindEOF && t.Lead == syntax.LeadMargin && t.Span.Start.Column == 1 {
			return at // an empty line
		}
		if !t.Trivia() && t.Kind != syntax.KindEOF && t.Lead == syntax.LeadMargin && t.Kind != syntax.KindPipe && t.Kind != syntax.KindClose && t.Text != "|" {
			return t.Span.Start.Offset
		}
	}
	return 0
}

// completing is what completion asks about a place in a document.
type completing struct {
	*stdlib.Catalog
	doc       *document
	start, at int    // of the statement, and the place
	names     *index // of the file and those it uses; made when it is needed
}

// Named returns the names that statements define, in this file and those it uses.
func (c *completing) Named(keyword string) []string {
	if c.names == nil {
		c.names = emptyIndex(c.doc.s)
		tree, _ := syntax.Parse(c.doc.path, c.doc.text.raw)
		c.names.enter(&file{path: c.doc.path, tree: tree}, c.doc.s.readScript)
		c.names.link()
	}
	x := c.names
	main := x.files[c.doc.path]
	var out []string
	for name, list := range x.tops {
		for _, s := range list {
			if s.kind == keyword && x.sees(main, s.file) {
				out = append(out, types.QuoteName(name))
			}
		}
	}
	for name, s := range x.made[main] {
		if s.kind == keyword {
			out = append(out, types.QuoteName(name))
		}
	}
	for _, b := range main.tree.Broken { // what is being written has its name already
		if strings.HasPrefix(lineOf(main.tree.Source.Text, b.Start.Offset), keyword+" ") {
			out = append(out, types.QuoteName(b.Name))
		}
	}
	return out
}

// here is the stream that stands for the rows at hand.
const here = "rows_at_the_cursor"

// Columns returns the columns of the rows before a stage: the rest of the script is checked with what stands before.
func (c *completing) Columns(before string) []types.Field {
	if strings.HasPrefix(before, "stream ") {
		if _, after, ok := strings.Cut(before, "="); ok {
			before = after
		}
	}
	if before = strings.TrimSpace(before); before == "" {
		return nil
	}
	pipe := ""
	if strings.HasPrefix(before, "pipe ") {
		if pipe, before = c.inPipe(before); before == "" {
			return nil
		}
	}
	text := c.doc.text.plain
	rest := text[c.at:]
	if i := nextStatement(rest); i >= 0 {
		rest = rest[i:]
	} else {
		rest = ""
	}
	script := text[:c.start] + pipe + "\nstream " + here + " = " + strings.ReplaceAll(before, "\n", "\n ") + "\n" + rest
	found, _ := check.Text(c.doc.path, script, c.doc.world(), check.Options{})
	for _, s := range found.Streams {
		if s.Name == here {
			return s.Out.Schema.Fields
		}
	}
	return nil
}

// inPipe is what stands for the rows at hand within a pipe: the pipe as far as it is written, and the first pipeline that
// uses it, up to there. rows is "" if none does.
func (c *completing) inPipe(before string) (pipe, rows string) {
	tokens, _ := syntax.Lex(&syntax.Source{Text: before})
	tokens = slices.DeleteFunc(tokens, syntax.Token.Trivia)
	if len(tokens) < 3 {
		return "", ""
	}
	name := plain(tokens[1])
	begins := tokens[len(tokens)-2].Kind == syntax.KindAssign // the last one is the end
	tree, _ := syntax.Parse(c.doc.path, c.doc.text.raw)
	for _, stmt := range tree.Stmts {
		var p *syntax.Pipeline
		switch s := stmt.(type) {
		case *syntax.Stream:
			p = s.Pipeline
		case *syntax.PipelineStmt:
			p = s.Pipeline
		}
		if p == nil {
			continue
		}
		for _, s := range p.Stages {
			if !s.Call || s.Name.Name != name {
				continue
			}
			rows := tree.Source.Text[p.Start.Offset:s.End.Offset]
			if begins {
				rows = tree.Source.Text[p.Start.Offset:s.Start.Offset]
				return "", strings.TrimSuffix(strings.TrimSpace(rows), "|>")
			}
			return before, rows
		}
	}
	return "", ""
}

// nextStatement is where the next statement begins in what follows a place, -1 if none does.
func nextStatement(rest string) int {
	at := strings.IndexByte(rest, '\n') + 1
	for at > 0 && at < len(rest) {
		if c := rest[at]; c != ' ' && c != '\t' && c != '\n' && c != ')' && c != ']' && c != '}' && c != '|' && c != '/' {
			return at
		}
		i := strings.IndexByte(rest[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return -1
}

// Files returns the files that a path may go on with: in the workspace, and beside the script.
func (c *completing) Files(typed string) []string {
	folder, base := filepath.Split(typed)
	dirs := []string{folder}
	if !filepath.IsAbs(folder) && filepath.IsAbs(c.doc.path) {
		beside := filepath.Join(filepath.Dir(c.doc.path), folder)
		if dirs = append(dirs, beside); strings.HasPrefix(strings.TrimLeft(c.doc.text.plain[c.start:c.at], " "), "use") {
			dirs = []string{beside}
		}
	}
	var out []string
	for _, dir := range dirs {
		if dir == "" {
			dir = "."
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries[:min(len(entries), 1000)] {
			name := e.Name()
			if strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".") {
				continue
			}
			if e.IsDir() {
				name += "/"
			}
			out = append(out, folder+name)
		}
	}
	return out
}
