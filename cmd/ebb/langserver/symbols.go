package langserver

import (
	"context"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// documentSymbols are the statements.
func documentSymbols(_ context.Context, _ *Server, d *document, _ documentParams) (any, error) {
	a := d.look()
	out := []documentSymbol{}
	for _, s := range a.Tree.Stmts {
		x := documentSymbol{Range: d.text.span(s.Range())}
		name := func(keyword string, kind int, id syntax.Ident) {
			x.Name, x.Detail, x.Kind, x.SelectionRange = id.Name, keyword, kind, d.text.span(id.Span)
		}
		switch s := s.(type) {
		case *syntax.Use:
			x.Name, x.Detail, x.Kind, x.SelectionRange = s.Path, "use", 2, d.text.span(s.PathAt)
		case *syntax.Param:
			name("param", 14, s.Name)
		case *syntax.Let:
			name("let", 14, s.Name)
		case *syntax.Fn:
			name("fn", 12, s.Name)
		case *syntax.Pipe:
			name("pipe", 6, s.Name)
		case *syntax.SourceStmt:
			name("source", 11, s.Name)
		case *syntax.SinkStmt:
			name("sink", 11, s.Name)
		case *syntax.Stream:
			name("stream", 13, s.Name)
		case *syntax.Set:
			name("set", 7, s.Key)
		case *syntax.Test:
			x.Name, x.Detail, x.Kind, x.SelectionRange = strconv.Quote(s.What), "test", 6, d.text.span(s.WhatAt)
		case *syntax.PipelineStmt:
			text, _, _ := strings.Cut(a.Tree.Source.Slice(s.Span), "\n")
			x.Name, x.Kind, x.SelectionRange = strings.TrimSpace(text), 24, x.Range
			if n := len(s.Pipeline.Stages); n > 0 && s.Pipeline.Stages[n-1].Target != nil {
				x.Detail = "into " + strings.Join(strings.Fields(a.Tree.Source.Slice(s.Pipeline.Stages[n-1].Target.Span)), " ")
			}
		}
		if x.Name == "" {
			x.Name = "?" // the protocol wants a name
		}
		out = append(out, x)
	}
	return out, nil
}
