package repl

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDemo(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSession(t, 0, Options{})
	s.refused(".demo now", "usage: .demo")
	out, _ := s.say(".demo")
	require.Contains(t, out, "Three things to try")
	defer s.Close()
	require.Eventually(t, func() bool { return s.jobs[0].Totals().RowsIn > 5000 }, time.Minute, 20*time.Millisecond)
	s.refused(".demo", "writes something already")
	// What the hints say must work.
	for _, line := range strings.Split(demoHints, "\n") {
		line, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		time.AfterFunc(300*time.Millisecond, func() { s.p.interrupt <- struct{}{} })
		s.say(line)
	}
	for _, name := range regexp.MustCompile(`\.[a-z]+`).FindAllString(demoHints, -1) {
		if name != ".start" && name != ".ebb" && name != ".csv" {
			require.NotNil(t, findCommand(name[1:]), "%s of the hints is a command", name)
		}
	}
	s.say(".stop")
	require.FileExists(t, "demo/hot.csv")
}

func TestDemoTouchesNothingOfMine(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newSession(t, 0, Options{})
	s.say(`source demo_bids = rows([{a: 1}])`)
	s.refused(".demo", "source demo_bids is there already")
	s = newSession(t, 0, Options{})
	s.say(`rows([{a: 1}]) |> into csv("mine.csv")`)
	s.refused(".demo", "writes something already")
	require.NoError(t, os.Mkdir("demo", 0o755))
	s = newSession(t, 0, Options{})
	s.refused(".demo", "demo is there already")
	require.Empty(t, s.script.stmts)
}
