package repl

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// demoScript is the job of .demo: an auction house that lives, ten thousand events a second, from now on.
func demoScript(now time.Time) string {
	return fmt.Sprintf(`source demo_bids = nexmark("bid", rate: 10_000, base_time: @%s)

stream demo_hot = demo_bids
    |> aggregate bids = count(), best = max(price) by auction window tumbling(2s)
    |> where bids >= 100

demo_hot |> into csv("demo/hot.csv")
`, now.UTC().Format("2006-01-02T15:04:05Z"))
}

const demoHints = `The job runs now and takes checkpoints. Three things to try:
    demo_bids |> where price > 90_000_000 |> select auction
  shows rows as they come; Ctrl-C ends that.
    .plot bids over window.start of demo_hot
  is a live drawing of what the job computes; Ctrl-C ends that, too.
    .checkpoint here
  remembers this moment; after a while, .rollback here goes back in time, demo/hot.csv included.
.jobs shows how the job does, .stop ends it. Remove demo/ and .ebb/demo when you have seen enough.
`

var _ = command(Command{
	Name: "demo", Group: "session",
	Summary: "set up a live job to play with: hot auctions of a busy auction house",
	Text:    "It defines demo_bids and demo_hot, writes demo/hot.csv and runs as the job demo. It refuses to touch what is a person's.",
	Run: func(s *Session, _ *Args) error {
		if s.script.writes() {
			return errors.New("the script of this session writes something already, and .demo would run that too: start another session for it")
		}
		for _, name := range []string{"demo_bids", "demo_hot"} {
			if x := s.script.named(name); x != nil {
				return fmt.Errorf("%s is there already, and .demo would replace it: start another session for it", x.what)
			}
		}
		for _, path := range []string{"demo", ".ebb/demo"} {
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%s is there already: remove it, or start ebb in another folder; .load .ebb/demo and .run demo go on with what a session has left there", path)
			}
		}
		script := demoScript(time.Now())
		if _, err := fmt.Fprint(s.Screen, script, "\n"); err != nil {
			return err
		}
		if err := s.statements(script); err != nil {
			return err
		}
		if err := os.Mkdir("demo", 0o777); err != nil {
			return err
		}
		if err := s.run(".run demo"); err != nil {
			return errors.Join(err, os.Remove("demo"))
		}
		return s.say("%s", demoHints)
	},
})
