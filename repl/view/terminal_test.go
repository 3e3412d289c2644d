package view

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/vec"
)

func numbered(from, n int) *vec.Batch {
	var rows [][]any
	for i := range n {
		rows = append(rows, []any{fmt.Sprintf("city %d", from+i), int64(from + i)})
	}
	return vec.FromRows(cities, rows)
}

func terminal(t *testing.T, o Options) (*bytes.Buffer, View) {
	t.Helper()
	var out bytes.Buffer
	o.Width, o.Height = 40, 12
	v, err := New(&out, o, cities)
	require.NoError(t, err)
	return &out, v
}

// Of rows that come quicker than they can be read the last ones are shown, and how many were left out.
func TestLeftOut(t *testing.T) {
	out, v := terminal(t, Options{})
	require.NoError(t, v.Add(numbered(0, 3)))
	time.Sleep(decideWait)
	require.NoError(t, v.Show("going"))
	require.Equal(t, "city    visits\n──────  ──────\ncity 0       0\ncity 1       1\ncity 2       2\ngoing", out.String())
	out.Reset()
	for i := range 5 {
		require.NoError(t, v.Add(numbered(3+i*4000, 4000)))
	}
	require.LessOrEqual(t, len(v.(*scroll).waiting), ringRows)
	time.Sleep(frame)
	require.NoError(t, v.Show("on"))
	text := out.String()
	require.True(t, strings.HasPrefix(text, "\r\x1b[J… 20k rows left out\n") || strings.HasPrefix(text, "\r\x1b[J… 19.99k rows left out\n"), "%q", text)
	require.True(t, strings.HasSuffix(text, "20002\non"), "%q", text)
	require.Equal(t, 8, strings.Count(text, "city"))
	require.NoError(t, v.End())
	rows, left := v.Counts()
	require.EqualValues(t, 20003, rows)
	require.EqualValues(t, 20000-8, left)
	require.True(t, strings.HasSuffix(out.String(), "\r\x1b[J"), "the status is gone")
}

// A table is drawn in place: what was there is cleared first.
func TestInPlace(t *testing.T) {
	out, v := terminal(t, Options{Mode: Table, Updating: true})
	v.(*keyed).every = 0
	require.NoError(t, v.Show("waits"))
	require.Equal(t, "waits", out.String())
	out.Reset()
	require.NoError(t, v.Add(numbered(1, 2)))
	require.NoError(t, v.Show("s"))
	require.Equal(t, "\r\x1b[Jcity    visits\n──────  ──────\ncity 1       1\ncity 2       2\ns", out.String())
	out.Reset()
	b := numbered(1, 1)
	b.Change = []vec.Change{vec.Delete}
	require.NoError(t, v.Add(b))
	require.NoError(t, v.Show("s"))
	require.Equal(t, "\r\x1b[4A\x1b[Jcity    visits\n──────  ──────\ncity 2       2\ns", out.String())
	out.Reset()
	require.NoError(t, v.Show("s"))
	require.Empty(t, out.String(), "what has not changed is not drawn")
	require.NoError(t, v.Add(numbered(10, 50)))
	require.NoError(t, v.Show("s"))
	require.Contains(t, out.String(), "… 44 more\n")
	require.Contains(t, out.String(), "city 10      10\ncity 11      11\n", "the first ones in their order")
	out.Reset()
	require.NoError(t, v.End())
	require.Equal(t, 2+7+1, strings.Count(out.String(), "\n"), "a screenful stays")
	rows, left := v.Counts()
	require.EqualValues(t, 51, rows)
	require.EqualValues(t, 44, left)

	var paged bytes.Buffer
	_, v = terminal(t, Options{Mode: Table, Updating: true, Pager: func() (io.WriteCloser, error) { return closing{&paged}, nil }})
	require.NoError(t, v.Add(numbered(10, 50)))
	require.NoError(t, v.End())
	require.Equal(t, 2+50, strings.Count(paged.String(), "\n"))
}

// A long table stays in bounds and stays right where rows that were not kept go away again.
func TestManyKept(t *testing.T) {
	_, v := terminal(t, Options{Mode: Table, Updating: true})
	for i := range 30 {
		require.NoError(t, v.Add(numbered(i*4000, 4000)))
	}
	k := v.(*keyed)
	require.Len(t, k.rows, keptRows)
	require.EqualValues(t, 20000, k.lost)
	for i := range 30 {
		b := numbered(i*4000, 4000)
		b.Change = bytes2changes(4000, vec.Delete)
		require.NoError(t, v.Add(b))
	}
	require.Empty(t, k.rows)
	require.Zero(t, k.lost)
}

func bytes2changes(n int, c vec.Change) []vec.Change {
	out := make([]vec.Change, n)
	for i := range out {
		out[i] = c
	}
	return out
}

// A result that comes at once and is longer than the screen goes to the pager, whole; a reader who leaves ends it.
func TestPaged(t *testing.T) {
	var paged bytes.Buffer
	out, v := terminal(t, Options{Pager: func() (io.WriteCloser, error) { return closing{&paged}, nil }})
	require.NoError(t, v.Add(numbered(0, 4)))
	require.NoError(t, v.Add(numbered(4, 3000)))
	require.NoError(t, v.Show("busy"))
	require.NoError(t, v.End())
	require.Empty(t, out.String())
	require.Equal(t, 3004+2, strings.Count(paged.String(), "\n"))
	_, left := v.Counts()
	require.Zero(t, left)

	_, v = terminal(t, Options{Pager: func() (io.WriteCloser, error) { return &more{w: io.Discard, height: 12, key: keys("  q")}, nil }})
	require.ErrorIs(t, v.Add(numbered(0, 3000)), ErrEnough)
	require.NoError(t, v.End())
	// A short one is drawn on the screen.
	out, v = terminal(t, Options{Pager: func() (io.WriteCloser, error) { return nil, errors.New("no pager") }})
	require.NoError(t, v.Add(numbered(0, 4)))
	require.NoError(t, v.End())
	require.Contains(t, out.String(), "city 3       3\n")
}

type closing struct{ io.Writer }

func (closing) Close() error { return nil }

func keys(s string) func() (byte, error) {
	return func() (byte, error) {
		if s == "" {
			return 0, io.EOF
		}
		k := s[0]
		s = s[1:]
		return k, nil
	}
}

func TestMore(t *testing.T) {
	var out bytes.Buffer
	m := &more{w: &out, height: 3, key: keys("xq")}
	_, err := m.Write([]byte("1\n2\n3\n4\n"))
	require.NoError(t, err)
	require.Equal(t, "1\n2\n"+morePrompt+"\r\x1b[K3\n4\n", out.String())
	_, err = m.Write([]byte("5\n"))
	require.ErrorIs(t, err, ErrEnough)
	_, err = m.Write([]byte("6\n"))
	require.ErrorIs(t, err, ErrEnough)
}

// $PAGER is a command; when it ends, no more rows are wanted.
func TestPagerCommand(t *testing.T) {
	out, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer out.Close()
	t.Setenv("PAGER", "head -n 3")
	_, v := terminal(t, Options{Pager: func() (io.WriteCloser, error) { return OpenPager(out, 12) }})
	for i := 0; err == nil && i < 1000; i++ {
		err = v.Add(numbered(4000*i, 4000))
	}
	require.ErrorIs(t, err, ErrEnough)
	require.NoError(t, v.End())
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(text), "\n"))
	t.Setenv("PAGER", "")
	p, err := OpenPager(out, 12)
	require.NoError(t, err)
	require.Nil(t, p)
}

// When the terminal becomes wider or narrower the columns are fitted anew, and named again.
func TestResize(t *testing.T) {
	out, v := terminal(t, Options{})
	wide := vec.FromRows(cities, [][]any{{strings.Repeat("x", 60), int64(1)}})
	require.NoError(t, v.Add(wide))
	time.Sleep(decideWait)
	require.NoError(t, v.Show(""))
	require.Contains(t, out.String(), strings.Repeat("x", 31)+"…  ")
	out.Reset()
	v.(Resizer).Resize(80, 24)
	require.NoError(t, v.Add(wide))
	time.Sleep(frame)
	require.NoError(t, v.Show(""))
	require.True(t, strings.HasPrefix(out.String(), "city "), "%q", out.String())
	require.Contains(t, out.String(), strings.Repeat("x", 60)+"  ")
}
