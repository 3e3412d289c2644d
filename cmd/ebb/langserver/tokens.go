package langserver

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// tokenTypes are the kinds of semantic tokens, by their index. The names are the protocol's.
var tokenTypes = []string{"keyword", "comment", "string", "number", "operator", "function", "macro", "class", "type", "parameter", "variable", "property", "enumMember"}

// longestLine bounds the bytes of a line in a document that is coloured.
const longestLine = 20_000

func tokenType(name string) int { return slices.Index(tokenTypes, name) }

// semanticTokensOf colours a document by what its words are.
func semanticTokensOf(ctx context.Context, _ *Server, d *document, _ documentParams) (any, error) {
	a := d.look()
	x := a.newIndex()
	main := x.files[d.path]
	roles := map[int]*word{}
	for _, w := range x.words[main] {
		roles[w.at.Start.Offset] = w
	}
	out := semanticTokens{Data: []int{}}
	var last position
	for at, begins := range append(slices.Clone(d.text.lines[1:]), len(d.text.raw)) {
		if begins-d.text.lines[at] > longestLine {
			return out, nil // no one reads it, and counting in it takes too long
		}
	}
	for i, t := range a.tokens {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		kind, declares := colour(x, t, roles[t.Span.Start.Offset])
		if kind < 0 {
			continue
		}
		for from := t.Span.Start.Offset; from < t.Span.End.Offset; { // a token of the protocol is within a line
			to := from
			for to < t.Span.End.Offset && d.text.plain[to] != '\n' {
				to++
			}
			if start, end := d.text.position(from), d.text.position(to); end.Character > start.Character && end.Line == start.Line {
				delta := start.Line - last.Line
				character := start.Character
				if delta == 0 {
					character -= last.Character
				}
				out.Data = append(out.Data, delta, character, end.Character-start.Character, kind, declares)
				last = start
			}
			from = to + 1
		}
	}
	return out, nil
}

// colour is the kind of a token, -1 for none, and its modifiers.
func colour(x *index, t syntax.Token, w *word) (kind, modifiers int) {
	switch t.Kind {
	case syntax.KindComment:
		return tokenType("comment"), 0
	case syntax.KindString, syntax.KindRaw:
		return tokenType("string"), 0
	case syntax.KindNumber, syntax.KindDuration, syntax.KindTime:
		return tokenType("number"), 0
	case syntax.KindPipe, syntax.KindArrow, syntax.KindAssign, syntax.KindOp:
		return tokenType("operator"), 0
	case syntax.KindIdent, syntax.KindQuoted:
	default:
		return -1, 0
	}
	if w == nil {
		if t.Kind == syntax.KindIdent && (reserved[t.Text] || slices.Contains(syntax.InnerWords, t.Text) || wordLike[t.Text] || t.Lead == syntax.LeadMargin && slices.Contains(syntax.Statements, t.Text)) {
			return tokenType("keyword"), 0
		}
		if len(t.Text) > 0 && utf8.ValidString(t.Text) && t.Text == "join" {
			return tokenType("macro"), 0 // of `left join`
		}
		return -1, 0
	}
	if w.role == roleDefine {
		modifiers = 1
	}
	if s := x.symbol(w); s != nil {
		switch s.kind {
		case "column":
			return tokenType("property"), modifiers
		case "parameter":
			return tokenType("parameter"), modifiers
		case "fn":
			return tokenType("function"), modifiers
		case "pipe":
			return tokenType("macro"), modifiers
		}
		return tokenType("variable"), modifiers
	}
	switch w.role {
	case roleKeyword, roleClause:
		return tokenType("keyword"), 0
	case roleStage, rolePipe:
		return tokenType("macro"), 0
	case roleConnector:
		return tokenType("class"), 0
	case roleCall, roleWindow:
		return tokenType("function"), 0
	case roleOption:
		return tokenType("enumMember"), 0
	case roleType:
		return tokenType("type"), 0
	case roleValue, roleField, roleNewColumn, roleRowField:
		return tokenType("property"), 0
	}
	return tokenType("variable"), 0
}

// wordLike are words of clauses that the lists of the grammar do not have.
var wordLike = map[string]bool{"drop": true, "fail": true, "forever": true, "first": true, "last": true, "ordered": true, "error": true, "parallelism": true}
