package langserver

import (
	"context"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// signatureHelpAt shows the parameters of the call around a place.
func signatureHelpAt(_ context.Context, s *Server, d *document, p positionParams) (any, error) {
	at := d.text.offset(p.Position)
	start := statementAt(d.text.plain, at)
	name, arg := callAround(d.text.plain[start:at])
	if name == "" {
		return nil, nil
	}
	out := signatureHelp{Signatures: []signature{}, ActiveParameter: arg}
	for _, kind := range []string{"func", "agg", "conn"} {
		for _, doc := range s.lib.Docs(kind) {
			if doc.Name == name {
				m := markdown(doc.Body())
				out.Signatures = append(out.Signatures, signature{Label: doc.Signature, Documentation: &m, Parameters: parameters(doc.Signature)})
			}
		}
	}
	x := d.look().newIndex()
	if sym := x.top(x.files[d.path], name); sym != nil && (sym.kind == "fn" || sym.kind == "pipe") {
		head, _, _ := strings.Cut(sym.file.tree.Source.Slice(sym.stmt.Range()), "=")
		head = strings.TrimSpace(strings.Join(strings.Fields(head), " "))
		out.Signatures = append(out.Signatures, signature{Label: head, Parameters: parameters(head)})
	}
	if len(out.Signatures) == 0 {
		return nil, nil
	}
	return out, nil
}

// callAround finds the innermost call that is open at the end of a text, and how many arguments are complete.
func callAround(text string) (name string, arg int) {
	type bracket struct {
		name string
		arg  int
	}
	var open []bracket
	tokens, _ := syntax.Lex(&syntax.Source{Text: text})
	var before syntax.Token
	for _, t := range tokens {
		switch {
		case t.Kind == syntax.KindOpen:
			b := bracket{}
			if t.Text == "(" && before.Kind == syntax.KindIdent && before.Span.End.Offset == t.Span.Start.Offset {
				b.name = before.Text
			}
			open = append(open, b)
		case t.Kind == syntax.KindClose:
			open = open[:max(0, len(open)-1)]
		case t.Kind == syntax.KindComma && len(open) > 0:
			open[len(open)-1].arg++
		case t.Kind == syntax.KindPipe:
			open = nil
		}
		before = t
	}
	for i := len(open) - 1; i >= 0; i-- {
		if open[i].name != "" {
			return open[i].name, open[i].arg
		}
	}
	return "", 0
}

// parameters cuts the parameters out of a signature: what stands between commas in its first brackets.
func parameters(label string) []parameter {
	out := []parameter{}
	from := strings.IndexByte(label, '(')
	if from < 0 {
		return out
	}
	depth, start := 0, from+1
	add := func(end int) {
		if s := strings.Trim(label[start:end], " []"); s != "" {
			out = append(out, parameter{s})
		}
	}
	for i := from; i < len(label); i++ {
		switch label[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				add(i)
				return out
			}
		case ',':
			if depth == 1 {
				add(i)
				start = i + 1
			}
		}
	}
	return out
}
