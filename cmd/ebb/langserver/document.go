package langserver

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
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
	stale   atomic.Bool // what it has been told of it is no longer right, though the text is the same

	mu   sync.Mutex
	seen *looking // nil: not looked at yet, or no longer right
}

// looking is an analysis that somebody makes.
type looking struct {
	once sync.Once
	made atomic.Pointer[analysis] // nil as long as it takes
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
		uses := false
		if d.path != path && d.seen != nil {
			a := d.seen.made.Load()
			uses = a == nil || a.reads[path] // of one that is being made it is not known yet
		}
		if uses {
			d.seen = nil
		}
		d.mu.Unlock()
		if uses {
			s.renew(d, wait)
		}
	}
}

// filesChanged forgets what is understood of all documents: files beside them have changed.
func (s *Server) filesChanged() {
	for _, d := range s.documents() {
		d.forget()
		s.renew(d, pause)
	}
}

func (d *document) forget() {
	d.mu.Lock()
	d.seen = nil
	d.mu.Unlock()
}

// look understands the document. Whoever comes first does the work, the others wait for it. Messages never wait.
func (d *document) look() *analysis {
	d.mu.Lock()
	if d.seen == nil {
		d.seen = &looking{}
	}
	l := d.seen
	d.mu.Unlock()
	l.once.Do(func() {
		defer func() {
			if l.made.Load() == nil { // it panicked: the next one tries anew
				d.mu.Lock()
				if d.seen == l {
					d.seen = nil
				}
				d.mu.Unlock()
			}
		}()
		l.made.Store(d.understand())
	})
	a := l.made.Load()
	if a == nil {
		panic("the script could not be understood")
	}
	return a
}

func (d *document) understand() *analysis {
	w := d.world()
	a := &analysis{doc: d, reads: w.reads}
	a.Result = lint.Lint([]lint.Text{d.script(w)})[0]
	a.waiting = w.waiting
	a.tokens, _ = syntax.Lex(a.Tree.Source)
	return a
}

// script is the document as the linter wants it.
func (d *document) script(w *world) lint.Text {
	t := lint.Text{Name: d.path, Text: d.text.raw, Env: w, Facts: planner.Facts(d.s.lib, w.Env)}
	if d.s.opts.Choice != nil {
		t.Choice = d.s.opts.Choice(d.path)
	}
	return t
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
	if !s.pulls.Load() {
		s.send(d, nil)
	}
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
