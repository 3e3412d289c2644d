package term

import (
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeys(t *testing.T) {
	var f folds
	cleared := 0
	k := &keys{folds: &f, clear: func() { cleared++ }}
	k.empty.Store(true)
	take := func(parts ...string) string {
		k.ready = nil
		for _, p := range parts {
			k.take([]byte(p))
		}
		return string(k.ready)
	}
	require.Equal(t, "abc", take("a\x00b\x1ac\x0c"))
	require.Equal(t, 1, cleared)
	k.empty.Store(true)
	require.Equal(t, "", take("\x1b[3~"))
	require.Equal(t, "x\x04", take("x\x1b[3~"))
	require.Equal(t, "\x01\x1bf", take("\x1b", "[1", "~\x1b[1;5", "C"))
	require.Equal(t, "short x", take("\x1b[200~short\tx\x1b[2", "01~"))
	text, pasted := f.open(take("a\x1b[200~one\r", "two\x1b[201\x1b[20", "1~b"))
	require.True(t, pasted)
	require.Equal(t, "aone\ntwo[201b", text)
}

// waits is a terminal that says when somebody begins to wait for a key.
type waits struct{ begun, key chan struct{} }

func (w *waits) Read(b []byte) (int, error) {
	w.begun <- struct{}{}
	if _, more := <-w.key; !more {
		return 0, io.EOF
	}
	return copy(b, "x"), nil
}

// Whoever shows a key comes before the wait for the next one, which keeps a core from it.
func TestKeysAreShownBeforeTheNextIsAwaited(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const typed = 300
	in := &waits{make(chan struct{}, typed+1), make(chan struct{})}
	k := newKeys(in, &folds{}, nil)
	pressed, shown := make(chan struct{}), make(chan bool)
	go func() { // as the library: one goroutine reads, the other one shows
		defer close(pressed)
		for b := make([]byte, 8); ; pressed <- struct{}{} {
			if _, err := k.Read(b); err != nil {
				return
			}
		}
	}()
	go func() {
		for range pressed {
			shown <- len(in.begun) == 0
		}
		close(shown)
	}()
	first := 0
	for range typed {
		<-in.begun
		in.key <- struct{}{}
		if <-shown {
			first++
		}
	}
	<-in.begun
	close(in.key)
	<-k.gone
	require.GreaterOrEqual(t, first, typed-2) // the garbage collector may have come between
}
