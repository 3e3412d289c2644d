package repl

import (
	"context"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// preview shows the rows of a bare pipeline until it ends or Ctrl-C is pressed.
func (s *Session) preview(pipeline string) error {
	c, err := s.compile(s.script.definitions() + pipeline + "\n")
	if err != nil {
		return err
	}
	env := s.env()
	env.Stdout = s.Screen
	format := s.opts.Output
	if w, _ := s.Screen.Size(); format == "" && w > 0 {
		format = "table"
	} else if format == "" {
		format = "jsonl"
	}
	c.Options.Print = &types.ConnArgs{Name: "console", Args: map[string]any{"format": format}}
	job, err := exec.Start(context.Background(), c.Graph(s.lib, env), env, exec.Setup{})
	if err != nil {
		return err
	}
	select {
	case <-job.Done():
	case <-s.Screen.Interrupts():
		job.Halt()
	}
	return job.Wait()
}
