// Package langserver speaks the Language Server Protocol: what editors ask of scripts. It answers from what the linter and
// the checker understand of a text; it runs nothing and writes no file.
package langserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/stdlib"
)

// Server answers one editor.
type Server struct {
	lib     *stdlib.Catalog
	opts    Options
	conn    *jsonrpc2.Conn
	sources *sources
	pulls   atomic.Bool // the editor asks for diagnostics; it is sent none
	renews  atomic.Bool // it wants to be told when it should ask again

	mu      sync.Mutex
	state   state
	root    string               // folder of the workspace, "" if there is none
	open    map[string]*document // by path
	running map[jsonrpc2.ID]context.CancelFunc

	publishing sync.Mutex
}

// state is how far the talk has come.
type state uint8

const (
	begun state = iota
	initialized
	shutDown
	exited
)

// Options are what the program says about its server.
type Options struct {
	Version string
	Choice  func(path string) lint.Choice // the findings that the configuration of a script wants; nil: all
}

// Serve speaks with an editor until it says goodbye or its end of the streams is closed. It returns an error if the editor
// went without a goodbye.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := New(o)
	stream := jsonrpc2.NewBufferedStream(pipe{in, out}, jsonrpc2.VSCodeObjectCodec{})
	ready := make(chan struct{})
	s.conn = jsonrpc2.NewConn(ctx, stream, handler{s, ready}, jsonrpc2.SetLogger(log.New(os.Stderr, "ebb lsp: ", 0)))
	close(ready)
	<-s.conn.DisconnectNotify()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.open {
		d.timer.Stop()
	}
	if s.state < shutDown {
		return errors.New("the editor went without a goodbye")
	}
	return nil
}

// New returns a server that speaks with nobody yet.
func New(o Options) *Server {
	s := &Server{lib: stdlib.New(), opts: o, open: map[string]*document{}, running: map[jsonrpc2.ID]context.CancelFunc{}}
	s.sources = &sources{known: map[string]*lookedAt{}, late: s.sourceKnown}
	return s
}

// pipe makes one stream of two.
type pipe struct {
	io.Reader
	io.Writer
}

func (pipe) Close() error { return nil }

// handler waits until the server knows its connection.
type handler struct {
	s     *Server
	ready chan struct{}
}

func (h handler) Handle(_ context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	<-h.ready
	h.s.handle(conn, req)
}

// answer does what a message asks. It runs on a goroutine of its own if the message wants an answer.
type answer func(ctx context.Context) (any, error)

// request reads the params of a message, and notes what the document is at this moment: messages come in their order, and
// answers need time.
type request func(s *Server, params json.RawMessage) (answer, error)

// about makes a request about an open document.
func about[P interface{ document() string }](f func(context.Context, *Server, *document, P) (any, error)) request {
	return func(s *Server, raw json.RawMessage) (answer, error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, badParams(err)
		}
		d := s.document(p.document())
		return func(ctx context.Context) (any, error) {
			if d == nil {
				return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: p.document() + " is not open"}
			}
			return f(ctx, s, d, p)
		}, nil
	}
}

func (p documentParams) document() string { return p.TextDocument.URI }

func badParams(err error) error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
}

var requests = map[string]request{
	"textDocument/hover":               about(hover),
	"textDocument/completion":          about(completion),
	"completionItem/resolve":           resolveCompletion,
	"textDocument/signatureHelp":       about(signatureHelpAt),
	"textDocument/definition":          about(definition),
	"textDocument/references":          about(references),
	"textDocument/documentHighlight":   about(highlights),
	"textDocument/prepareRename":       about(prepareRename),
	"textDocument/rename":              about(rename),
	"textDocument/documentSymbol":      about(documentSymbols),
	"textDocument/semanticTokens/full": about(semanticTokensOf),
	"textDocument/codeAction":          about(codeActions),
	"textDocument/formatting":          about(formatting),
	"textDocument/rangeFormatting":     about(rangeFormatting),
	"textDocument/diagnostic":          about(askedDiagnostics),
}

var notifications = map[string]func(s *Server, params json.RawMessage) error{
	"textDocument/didOpen":            didOpen,
	"textDocument/didChange":          didChange,
	"textDocument/didClose":           didClose,
	"textDocument/didSave":            func(s *Server, _ json.RawMessage) error { s.filesChanged(); return nil },
	"workspace/didChangeWatchedFiles": func(s *Server, _ json.RawMessage) error { s.filesChanged(); return nil },
}

// Error codes of the protocol.
const (
	codeNotInitialized   = -32002
	codeRequestCancelled = -32800
	codeRequestFailed    = -32803
)

// refusal is an error that an editor shows to people.
func refusal(format string, args ...any) error {
	return &jsonrpc2.Error{Code: codeRequestFailed, Message: fmt.Sprintf(format, args...)}
}

func (s *Server) handle(conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	if req.Notif {
		s.notified(conn, req.Method, params)
		return
	}
	if err := s.may(req.Method); err != nil {
		reply(conn, req.ID, nil, err)
		return
	}
	switch req.Method {
	case "initialize":
		result, err := s.initialize(params)
		reply(conn, req.ID, result, err)
		return
	case "shutdown":
		s.setState(shutDown)
		reply(conn, req.ID, nil, nil)
		return
	}
	read := requests[req.Method]
	if read == nil {
		reply(conn, req.ID, nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "no method " + req.Method})
		return
	}
	do, err := read(s, params)
	if err != nil {
		reply(conn, req.ID, nil, err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	s.running[req.ID] = cancel
	s.mu.Unlock()
	go func() {
		type outcome struct {
			result any
			err    error
		}
		done := make(chan outcome, 1)
		go func() {
			result, err := guarded(req.Method, func() (any, error) { return do(ctx) })
			done <- outcome{result, err}
		}()
		var o outcome
		select {
		case o = <-done:
		case <-ctx.Done():
			o.err = &jsonrpc2.Error{Code: codeRequestCancelled, Message: "cancelled"}
		}
		s.mu.Lock()
		delete(s.running, req.ID)
		s.mu.Unlock()
		cancel()
		reply(conn, req.ID, o.result, o.err)
	}()
}

// guarded turns a panic into an error: one answer is lost, not the editor's server.
func guarded(what string, f func() (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			log.Printf("ebb lsp: %s: %v\n%s", what, r, debug.Stack())
			err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("internal error: %v", r)}
		}
	}()
	return f()
}

func reply(conn *jsonrpc2.Conn, id jsonrpc2.ID, result any, err error) {
	if err == nil {
		conn.Reply(context.Background(), id, result)
		return
	}
	var e *jsonrpc2.Error
	if !errors.As(err, &e) {
		e = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
	}
	conn.ReplyWithError(context.Background(), id, e)
}

// may says whether a request has its time.
func (s *Server) may(method string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state >= shutDown:
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the server has been shut down"}
	case s.state == begun && method != "initialize":
		return &jsonrpc2.Error{Code: codeNotInitialized, Message: "`initialize` comes first"}
	case s.state != begun && method == "initialize":
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "`initialize` comes once"}
	}
	return nil
}

func (s *Server) setState(to state) {
	s.mu.Lock()
	s.state = max(s.state, to)
	s.mu.Unlock()
}

// notified takes a message that wants no answer.
func (s *Server) notified(conn *jsonrpc2.Conn, method string, params json.RawMessage) {
	switch method {
	case "exit":
		conn.Close()
		return
	case "$/cancelRequest":
		var p struct {
			ID jsonrpc2.ID `json:"id"`
		}
		if json.Unmarshal(params, &p) == nil {
			s.mu.Lock()
			if cancel := s.running[p.ID]; cancel != nil {
				cancel()
			}
			s.mu.Unlock()
		}
		return
	}
	f := notifications[method]
	if f == nil || s.may(method) != nil {
		return
	}
	if _, err := guarded(method, func() (any, error) { return nil, f(s, params) }); err != nil {
		log.Printf("ebb lsp: %s: %v", method, err)
	}
}

func (s *Server) initialize(raw json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, badParams(err)
	}
	root := p.RootPath
	if p.RootURI != "" {
		root = pathOf(p.RootURI)
	} else if len(p.WorkspaceFolders) > 0 {
		root = pathOf(p.WorkspaceFolders[0].URI)
	}
	if filepath.IsAbs(root) && os.Chdir(root) == nil { // paths in scripts are relative to the folder in which ebb runs
		s.mu.Lock()
		s.root = root
		s.mu.Unlock()
	}
	s.pulls.Store(p.Capabilities.TextDocument.Diagnostic != nil)
	s.renews.Store(p.Capabilities.Workspace.Diagnostics.RefreshSupport)
	if p.ProcessID != nil && s.conn != nil {
		go s.follow(*p.ProcessID)
	}
	s.setState(initialized)
	return map[string]any{
		"serverInfo": map[string]string{"name": "ebb", "version": s.opts.Version},
		"capabilities": map[string]any{
			"positionEncoding":                "utf-16",
			"textDocumentSync":                map[string]any{"openClose": true, "change": 2, "save": true},
			"hoverProvider":                   true,
			"completionProvider":              map[string]any{"triggerCharacters": []string{">", "(", ".", "\"", "/", ":"}, "resolveProvider": true},
			"signatureHelpProvider":           map[string]any{"triggerCharacters": []string{"(", ","}},
			"definitionProvider":              true,
			"referencesProvider":              true,
			"documentHighlightProvider":       true,
			"renameProvider":                  map[string]any{"prepareProvider": true},
			"documentSymbolProvider":          true,
			"documentFormattingProvider":      true,
			"documentRangeFormattingProvider": true,
			"diagnosticProvider":              map[string]any{"identifier": "ebb", "interFileDependencies": true, "workspaceDiagnostics": false},
			"codeActionProvider":              map[string]any{"codeActionKinds": []string{"quickfix", "source.fixAll"}},
			"semanticTokensProvider":          map[string]any{"full": true, "legend": map[string]any{"tokenTypes": tokenTypes, "tokenModifiers": []string{"declaration"}}},
		},
	}, nil
}

// pathOf is the path of a URI; of one that names no file, what makes it different from others.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	if u.Scheme != "file" {
		if u.Opaque != "" {
			return u.Opaque
		}
		return uri
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // /C:/…
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// uriOf is the URI of a path: that which the editor uses, if it has the file open.
func (s *Server) uriOf(path string) string {
	s.mu.Lock()
	d := s.open[path]
	s.mu.Unlock()
	if d != nil {
		return d.uri
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
