package checkpoint

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestCoordinator runs the scripts in testdata/coordinate: each line is a time and an event, and below it stand the
// actions that it leads to. `all` stands for every task.
func TestCoordinator(t *testing.T) {
	datadriven.Walk(t, "testdata/coordinate", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			require.Equal(t, "run", d.Cmd)
			o := Policy{Mode: Unaligned, MaxOpen: 1, Tolerate: 3}
			tasks, first := 2, 1
			for _, a := range d.CmdArgs {
				if a.Key == "mode" {
					m, err := ParseMode(a.Vals[0])
					require.NoError(t, err)
					o.Mode = m
					continue
				}
				n, err := strconv.Atoi(a.Vals[0])
				require.NoError(t, err)
				switch a.Key {
				case "interval":
					o.Interval = int64(n)
				case "pause":
					o.MinPause = int64(n)
				case "timeout":
					o.Timeout = int64(n)
				case "align":
					o.AlignTimeout = int64(n)
				case "open":
					o.MaxOpen = n
				case "tolerate":
					o.Tolerate = n
				case "tasks":
					tasks = n
				case "first":
					first = n
				default:
					t.Fatalf("unknown option %q", a.Key)
				}
			}
			c := NewCoordinator(o)
			var b strings.Builder
			show := func(line string, actions []Action) {
				fmt.Fprintln(&b, line)
				for _, a := range actions {
					fmt.Fprintln(&b, "  "+a.String())
				}
			}
			show("0 start", c.Start(0, tasks, ID(first)))
			for line := range strings.Lines(d.Input) {
				line = strings.TrimSpace(line)
				show(line, event(t, c, tasks, strings.Fields(line)))
			}
			return b.String()
		})
	})
}

// event carries out one line of a script: TIME VERB ARGUMENTS.
func event(t *testing.T, c *Coordinator, tasks int, f []string) (out []Action) {
	num := func(s string) int {
		n, err := strconv.Atoi(s)
		require.NoError(t, err, "%s", f)
		return n
	}
	arg := func(i int) string {
		require.Greater(t, len(f), i, "%s", f)
		return f[i]
	}
	each := func(do func(task int) []Action) {
		if arg(2) != "all" {
			out = do(num(f[2]))
			return
		}
		for task := range tasks {
			out = append(out, do(task)...)
		}
	}
	now := int64(num(f[0]))
	switch arg(1) {
	case "skip":
		c.Skip(ID(num(arg(2))))
	case "tick":
		return c.Tick(now)
	case "ask", "stop": // ask TOKEN [NAME]
		r := Request{Token: uint64(num(arg(2))), Reason: "manual", Final: f[1] == "stop"}
		if r.Final {
			r.Reason = "stop"
		}
		if len(f) > 3 {
			r.Name = f[3]
		}
		return c.Request(now, r)
	case "step", "late": // step TASK ID, late TASK ID
		each(func(task int) []Action { return c.Stepped(now, task, ID(num(arg(3))), f[1] == "step") })
	case "ack":
		each(func(task int) []Action { return c.Acked(now, task, ID(num(arg(3)))) })
	case "decline":
		return c.Declined(now, num(arg(2)), ID(num(arg(3))), strings.Join(f[4:], " "))
	case "ended":
		each(func(task int) []Action { return c.TaskEnded(now, task) })
	case "over":
		return c.Over(now)
	case "hold", "go":
		return c.Hold(now, f[1] == "hold")
	case "published":
		return c.Published(now, ID(num(arg(2))))
	case "lost":
		return c.PublishFailed(now, ID(num(arg(2))), errors.New(strings.Join(f[3:], " ")))
	case "committed":
		return c.Committed(now, ID(num(arg(2))))
	case "stuck":
		return c.CommitFailed(now, ID(num(arg(2))), errors.New(strings.Join(f[3:], " ")))
	default:
		t.Fatalf("unknown event %s", f)
	}
	return out
}
