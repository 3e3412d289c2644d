package langserver

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
)

// document is an open document at one version. All but what is under its lock is immutable: a change makes a new one.
type document struct {
	s       *Server
	uri     string
	path    string // also the name of the script
	version int
	text    *text
	timer   *time.Timer // of its diagnostics

	mu   sync.Mutex
	seen *analysis // nil: not looked at yet, or no longer right
}

// analysis is what is understood of a document, and of the files it uses.
type analysis struct {
	lint.Result
	doc     *document
	reads   map[string]bool // paths that `use` leads to
	waiting bool            // an input is still being looked at
	tokens  []syntax.Token
}

// mostText bounds a document: what is longer is no script that somebody writes.
const mostText = 4 << 20

// pause is how long typing must rest before diagnostics are sent.
const pause = 150 * time.Millisecond

// document returns the open document of a URI, nil if it is not open.
func (s *Server) document(uri string) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[pathOf(uri)]
}

// documents returns all open documents.
func (s *Server) documents() []*document {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*document
	for _, d := range s.open {
		all = append(all, d)
	}
	return all
}

// put makes a document the current one of its path.
func (s *Server) put(uri string, version int, t *text, wait time.Duration) {
	if len(t.raw) > mostText {
		t = newText("// This text is too long for the language server.\n")
	}
	d := &document{s: s, uri: uri, path: pathOf(uri), version: version, text: t}
	s.mu.Lock()
	if was := s.open[d.path]; was != nil {
		was.timer.Stop()
	}
	d.timer = time.AfterFunc(wait, func() { s.publish(d) })
	s.open[d.path] = d
	s.mu.Unlock()
	s.touched(d.path, wait)
}

// touched forgets what is understood of the documents that use a file.
func (s *Server) touched(path string, wait time.Duration) {
	for _, d := range s.documents() {
		d.mu.Lock()
		uses := d.path != path && d.seen != nil && d.seen.reads[path]
		if uses {
			d.seen = nil
		}
		d.mu.Unlock()
		if uses {
			d.timer.Reset(wait)
		}
	}
}

// filesChanged forgets what is understood of all documents: files beside them have changed.
func (s *Server) filesChanged() {
	for _, d := range s.documents() {
		d.forget()
		d.timer.Reset(pause)
	}
}

func (d *document) forget() {
	d.mu.Lock()
	d.seen = nil
	d.mu.Unlock()
}

// look understands the document. Whoever comes first does the work, the others wait for it.
func (d *document) look() *analysis {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		w := d.world()
		a := &analysis{doc: d, reads: w.reads}
		t := lint.Text{Name: d.path, Text: d.text.raw, Env: w, Facts: planner.Facts(d.s.lib, w.Env)}
		if d.s.opts.Choice != nil {
			t.Choice = d.s.opts.Choice(d.path)
		}
		a.Result = lint.Lint([]lint.Text{t})[0]
		a.waiting = w.waiting
		a.tokens, _ = syntax.Lex(a.Tree.Source)
		d.seen = a
	}
	return d.seen
}

func didOpen(s *Server, raw json.RawMessage) error {
	var p openParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	s.put(p.TextDocument.URI, p.TextDocument.Version, newText(p.TextDocument.Text), 0)
	return nil
}

func didChange(s *Server, raw json.RawMessage) error {
	var p changeParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	d := s.document(p.TextDocument.URI)
	if d == nil {
		return nil
	}
	t := d.text
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			t = newText(c.Text)
		} else {
			t = t.with(*c.Range, c.Text)
		}
	}
	s.put(d.uri, p.TextDocument.Version, t, pause)
	return nil
}

func didClose(s *Server, raw json.RawMessage) error {
	var p documentParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	d := s.document(p.TextDocument.URI)
	if d == nil {
		return nil
	}
	s.mu.Lock()
	delete(s.open, d.path)
	s.mu.Unlock()
	d.timer.Stop()
	s.send(d, nil)
	s.touched(d.path, pause)
	return nil
}

// lineOf is the text of the line at an offset.
func lineOf(text string, at int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return text[from : at+i]
	}
	return text[from:]
}
