package langserver

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"
)

// Many requests at a time, while the text changes, are all answered: run it under the race detector.
func TestAtTheSameTime(t *testing.T) {
	t.Chdir(t.TempDir()) // `initialize` goes to a folder
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	end := make(chan error)
	go func() { end <- Serve(context.Background(), fromEditor, toEditor, Options{}) }()
	ignore := jsonrpc2.HandlerWithError(func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) { return nil, nil })
	conn := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(closing{fromServer, toServer}, jsonrpc2.VSCodeObjectCodec{}), ignore)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, conn.Call(ctx, "initialize", initializeParams{}, nil))
	uris := []string{"file:///nowhere/a.ebb", "file:///nowhere/b.ebb"}
	texts := []string{"use \"b.ebb\"\nsource s = rows([{a: 1}])\ns |> where big(a) |> derive b = a + 1\n", "fn big(x: int) = x > 1\n"}
	for i, uri := range uris {
		var p openParams
		p.TextDocument.URI, p.TextDocument.Text = uri, texts[i]
		require.NoError(t, conn.Notify(ctx, "textDocument/didOpen", p))
	}
	var wait sync.WaitGroup
	for _, method := range []string{"hover", "completion", "definition", "references", "documentSymbol", "semanticTokens/full", "codeAction", "formatting", "signatureHelp", "documentHighlight"} {
		wait.Go(func() {
			for i := range 15 {
				p := map[string]any{"textDocument": documentID{URI: uris[i%2]}, "position": position{i % 3, i}, "range": textRange{}}
				var any any
				if err := conn.Call(ctx, "textDocument/"+method, p, &any); err != nil {
					t.Errorf("%s: %v", method, err)
				}
			}
		})
	}
	for v := range 30 {
		p := map[string]any{"textDocument": documentID{uris[v%2], v + 2}, "contentChanges": []any{map[string]any{"text": texts[v%2] + fmt.Sprintf("let c%d = %d\n", v, v)}}}
		require.NoError(t, conn.Notify(ctx, "textDocument/didChange", p))
		time.Sleep(time.Millisecond)
	}
	wait.Wait()
	require.NoError(t, conn.Call(ctx, "shutdown", nil, nil))
	require.NoError(t, conn.Notify(ctx, "exit", nil))
	require.NoError(t, <-end)
}

type closing struct {
	io.Reader
	io.WriteCloser
}
