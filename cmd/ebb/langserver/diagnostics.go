package langserver

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// publish sends the diagnostics of a document, unless it has changed meanwhile or the editor asks for them by itself.
func (s *Server) publish(d *document) {
	if s.pulls.Load() {
		if d.stale.Swap(false) {
			s.askAgain()
		}
		return
	}
	_, err := guarded("diagnostics", func() (any, error) {
		found := s.diagnostics(d.look())
		s.publishing.Lock()
		defer s.publishing.Unlock()
		if s.document(d.uri) == d {
			s.send(d, found)
		}
		return nil, nil
	})
	if err != nil { // what was shown is no longer true
		s.send(d, nil)
	}
}

// askedDiagnostics are the diagnostics of a document for an editor that asks.
func askedDiagnostics(_ context.Context, s *Server, d *document, p diagnosticParams) (any, error) {
	found := s.diagnostics(d.look())
	if found == nil {
		found = []diagnostic{}
	}
	text, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write(text)
	id := strconv.FormatUint(h.Sum64(), 36)
	if id == p.Previous {
		return diagnosticReport{Kind: "unchanged", ResultID: id}, nil
	}
	return diagnosticReport{Kind: "full", ResultID: id, Items: &found}, nil
}

// renew looks at a document again, after a while: something beside it has changed.
func (s *Server) renew(d *document, wait time.Duration) {
	d.stale.Store(true)
	d.timer.Reset(wait)
}

// askAgain tells an editor that asks for diagnostics that there are others.
func (s *Server) askAgain() {
	if s.renews.Load() && s.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = s.conn.Call(ctx, "workspace/diagnostic/refresh", nil, nil) // who does not want to be told need not be
	}
}

func (s *Server) send(d *document, found []diagnostic) {
	if s.conn == nil {
		return
	}
	if found == nil {
		found = []diagnostic{}
	}
	s.conn.Notify(context.Background(), "textDocument/publishDiagnostics", publishParams{d.uri, d.version, found})
}

// diagnostics are what an editor shows of what was found.
func (s *Server) diagnostics(a *analysis) []diagnostic {
	var out []diagnostic
	elsewhere := map[string]int{}
	for _, f := range a.Found {
		if f.Source != a.Tree.Source {
			if f.Severity == syntax.SevError {
				elsewhere[f.Source.Name]++
			}
			continue
		}
		if a.waiting && f.Code == "I601" && strings.Contains(f.Message, errLooking.Error()) {
			continue
		}
		out = append(out, s.diagnostic(a, f))
	}
	for _, st := range a.Tree.Stmts {
		u, ok := st.(*syntax.Use)
		if !ok {
			continue
		}
		for path, n := range elsewhere {
			if strings.HasSuffix(path, strings.TrimPrefix(u.Path, "./")) {
				what := "an error"
				if n > 1 {
					what = fmt.Sprintf("%d errors", n)
				}
				out = append(out, diagnostic{Range: a.doc.text.span(u.PathAt), Severity: 1, Source: "ebb", Message: "the file has " + what,
					Related: []related{{location{URI: s.uriOf(path)}, "open it to see them"}}})
			}
		}
	}
	return out
}

func (s *Server) diagnostic(a *analysis, f lint.Finding) diagnostic {
	d := diagnostic{Range: a.doc.text.span(f.Span), Severity: severities[f.Severity], Code: f.Code, Source: "ebb", Message: f.Message}
	if f.Help != "" {
		d.Message += "\n" + f.Help
	}
	for _, n := range f.Notes {
		d.Related = append(d.Related, related{s.location(n.Source, n.Span), n.Text})
	}
	if f.Rule != nil && strings.HasPrefix(f.Rule.Name, "unused-") {
		d.Tags = []int{1} // unnecessary: editors show it dim
	}
	if f.Rule != nil && f.Rule.Name == "deprecated" {
		d.Tags = []int{2} // deprecated: editors strike it through
	}
	return d
}

var severities = map[syntax.Severity]int{syntax.SevError: 1, syntax.SevWarn: 2, syntax.SevInfo: 3}

// location is a place in a file that is open or on disk.
func (s *Server) location(src *syntax.Source, at syntax.Span) location {
	t := newText(src.Text)
	if text, err := s.readScript(src.Name); err == nil {
		t = newText(text)
	}
	return location{s.uriOf(src.Name), t.span(at)}
}
