package repl

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/syntax"
)

func TestModeAndTimer(t *testing.T) {
	s := newSession(t, 0, Options{})
	s.say(visits)
	for mode, want := range map[string]string{
		"append": "city     n\n────  ────\nRome    12\nOslo  null\nRome     3\n", "csv": "city,n\nRome,12\nOslo,\nRome,3\n",
		"json": "[\n  {\"city\":\"Rome\",\"n\":12},\n", "jsonl": "{\"city\":\"Rome\",\"n\":12}\n", "changes": "_change  city     n\n", "table": "city     n\n",
	} {
		_, notes := s.say(".mode " + mode)
		require.Equal(t, "mode: "+mode+"\n", notes)
		out, _ := s.say("visits")
		require.Contains(t, out, want, mode)
	}
	s.say(".mode auto")
	out, _ := s.say("visits |> limit 1")
	require.Equal(t, "{\"city\":\"Rome\",\"n\":12}\n", out)
	s.refused(".mode jsnol", "Did you mean jsonl?", "usage: .mode [append|")
	s.refused(".mode csv json", "usage: .mode")
	_, notes := s.say(".timer")
	require.Equal(t, "timer: off\n", notes)
	s.say(".timer on")
	_, notes = s.say("visits")
	require.Regexp(t, `^3 rows in `, notes)
	s.refused(".timer maybe", "usage: .timer [on|off]")
	s = newSession(t, 80, Options{})
	s.say(visits)
	s.say(".timer off")
	_, notes = s.say("visits")
	require.Equal(t, "3 rows\n", notes)
}

func TestSchemaAndStreams(t *testing.T) {
	s := newSession(t, 100, Options{})
	_, notes := s.say(".streams")
	require.Equal(t, "nothing is defined yet\n", notes)
	s.refused(".schema", "no result yet")
	s.say("source bids = nexmark(\"bid\", events: 100)\nlet least = 5")
	s.say("// The many.\nstream hot = bids\n    |> where price > least\n    |> select auction, price = float(price)\n    |> aggregate n = count() by auction emit changes")
	out, _ := s.say(".streams")
	for _, want := range []string{"kind    name   what", "source  bids   7 columns, with event time", "let     least", "stream  hot    2 columns, updating", "stream hot = bids …"} {
		require.Contains(t, out, want)
	}
	out, notes = s.say(".schema bids")
	require.Contains(t, out, "auction    int")
	require.Contains(t, notes, "source bids: 7 columns, with event time, ends by itself, append only, time date_time lag 1s")
	out, notes = s.say(".schema hot")
	require.Contains(t, out, "n        int")
	require.Contains(t, notes, "stream hot: 2 columns, updating")
	out, _ = s.say(".schema hot --stages")
	require.Regexp(t, `input +auction: int, bidder: int`, out)
	require.Regexp(t, `where +the same`, out)
	require.Regexp(t, `select +~ price: float, - bidder`, out)
	require.Regexp(t, `aggregate +\+ n: int, - price +2 columns, updating`, out)
	s.say("hot |> where n > 0")
	out, _ = s.say(".schema")
	require.Contains(t, out, "auction  int")
	s.refused(".schema hott", "did you mean `hot`?")
	s.refused(".schema least", "let least has no columns")
	s.refused(".schema a b", "usage: .schema [NAME] [--stages]")
	s.say(".mode jsonl")
	out, _ = s.say(".schema hot")
	require.Equal(t, "{\"column\":\"auction\",\"type\":\"int\",\"note\":\"\"}\n{\"column\":\"n\",\"type\":\"int\",\"note\":\"\"}\n", out)
}

const saved = `// What Rome sees.
source visits = rows([{city: "Rome", n: 12}, {city: "Oslo", n: nil}])

// Those that count.
stream some = visits // all
    |> where n != nil
let unused = 5

some |> into csv("out.csv")
// the end
`

func TestSaveAndLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("sub", 0o777))
	require.NoError(t, os.WriteFile("a.ebb", []byte(saved), 0o666))
	require.NoError(t, os.WriteFile("sub/lib.ebb", []byte("fn twice(x: int) = 2 * x\n"), 0o666))
	require.NoError(t, os.WriteFile("sub/b.ebb", []byte("use \"lib.ebb\"\nstream more = some |> derive m = twice(n ?? 0)\n"), 0o666))
	s := newSession(t, 0, Options{})
	s.refused(".save x.ebb", "nothing to save")
	s.say(".load a.ebb")
	s.say(".save c.ebb")
	text, err := os.ReadFile("c.ebb")
	require.NoError(t, err)
	require.Equal(t, saved, string(text), "a script that was loaded is saved as it was")
	s.say(".load sub/b.ebb")
	require.Contains(t, s.script.text(), `use "sub/lib.ebb"`)
	s.say("// a remark")
	s.say("let more_of_it = 7")
	s.say(".save sub/d.ebb")
	text, _ = os.ReadFile("sub/d.ebb")
	require.Contains(t, string(text), `use "lib.ebb"`)
	require.Contains(t, string(text), "// a remark\nlet more_of_it = 7\n")

	_, notes := s.say(".undo")
	require.Contains(t, notes, "taken back: let more_of_it; the script has 6 statements")
	_, notes = s.say(".undo")
	require.Contains(t, notes, "taken back: use \"sub/lib.ebb\", stream more; the script has 4 statements")
	s.say(".undo")
	s.refused(".undo", "nothing to undo")
	s.refused(".undo 3", "usage: .undo")

	s.refused(".load", "usage: .load FILE")
	s.refused(".load none.ebb", "cannot load none.ebb: no such file")
	s.refused(".load sub", "sub")
	require.NoError(t, os.WriteFile("bad.ebb", []byte("let a = 1\nstream b = none\n    |> where true\n"), 0o666))
	s.refused(".load bad.ebb", "bad.ebb:2:12: error[N100]")
	require.Empty(t, s.script.stmts)
	s.say(".load a.ebb")
	s.refused(".save none/x.ebb", "cannot save none/x.ebb: no such file")
}

// Every script is saved as it was written.
func TestSavedAsWritten(t *testing.T) {
	files, err := filepath.Glob("../examples/*/*.ebb")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	lines := regexp.MustCompile(`\n{3,}`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		tree, _ := syntax.Parse(f, string(text))
		s := script{stmts: cut(tree)}
		require.Equal(t, lines.ReplaceAllString(strings.TrimSpace(string(text))+"\n", "\n\n"), s.text(), f)
	}
}

// A paste of many statements is one change, and quick.
func TestLargePaste(t *testing.T) {
	s := newSession(t, 80, Options{})
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "stream s%d = visits |> where n > %d\n", i, i)
	}
	start := time.Now()
	_, notes := s.say(b.String() + visits)
	t.Log(time.Since(start))
	require.Less(t, time.Since(start), 5*time.Second)
	require.Equal(t, 61, strings.Count(notes, "2 columns"))
	s.say(".undo")
	require.Empty(t, s.script.stmts)
}

func TestEdit(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSession(t, 0, Options{})
	s.say(visits)
	s.say("stream hot = visits |> where n > 5")
	s.say("stream few = hot |> select city")
	_, err := exec.LookPath("sed")
	require.NoError(t, err)
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "sed -i s/5/7/")
	_, notes := s.say(".edit hot")
	require.Contains(t, notes, "stream hot: 2 columns (changed; 1 other uses it and is still right)")
	require.Contains(t, s.script.text(), "n > 7")
	_, notes = s.say(".edit hot")
	require.Equal(t, "nothing was changed\n", notes)
	// A text with errors is kept for the next time.
	t.Setenv("EDITOR", "sed -i s/7/zz/")
	s.refused(".edit hot", "unknown column `zz`", "nothing was changed; the text is kept, .edit hot goes on with it")
	require.Contains(t, s.script.text(), "n > 7")
	t.Setenv("EDITOR", "sed -i s/zz/8/")
	s.say(".edit hot")
	require.Contains(t, s.script.text(), "n > 8")
	t.Setenv("EDITOR", "sed -i s/where.*/drop_city/")
	s.refused(".edit hot", "unknown stage")
	t.Setenv("EDITOR", "sed -i 's/drop_city/select n/'")
	s.refused(".edit hot", "does not suit what uses it", "<stream few>:1:")
	t.Setenv("EDITOR", "sed -i /few/d")
	_, notes = s.say(".edit")
	require.Contains(t, notes, "stream few is gone")
	s.say(".undo")
	require.Contains(t, s.script.text(), "few")
	t.Setenv("EDITOR", "false")
	s.refused(".edit", "the editor false", "nothing was changed")
	s.refused(".edit hott", "did you mean `hot`")
	s.refused(".edit a b", "usage: .edit [NAME]")
	t.Setenv("EDITOR", "") // vi would wait for keys that nobody presses
	s.refused(".edit", "there is no terminal to edit on; $EDITOR names")
	require.False(t, strings.Contains(s.script.text(), "select n"))
}

func TestFormat(t *testing.T) {
	s := newSession(t, 0, Options{})
	s.refused(".fmt", "there is nothing to format")
	s.say(visits)
	s.say("// Many.\nstream hot=visits|>where n>5 // five\nlet  a=1")
	out, notes := s.say(".fmt hot")
	require.Equal(t, "// Many.\nstream hot = visits |> where n > 5 // five\n", out)
	require.Equal(t, "formatted 1 statement\n", notes)
	require.Contains(t, s.script.text(), "let  a=1")
	out, notes = s.say(".fmt")
	require.Equal(t, s.script.text(), out)
	require.Contains(t, out, "let a = 1")
	require.Regexp(t, "^formatted [12] statements?\n$", notes)
	_, notes = s.say(".fmt")
	require.Contains(t, notes, "nothing was changed")
	s.say(".undo")
	require.Contains(t, s.script.text(), "let  a=1")
	s.refused(".fmt hott", "did you mean `hot`")
	s.refused(".fmt a b", "usage: .fmt [NAME]")
}
