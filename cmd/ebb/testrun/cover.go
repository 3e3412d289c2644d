package testrun

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
)

// seen is what was seen of a stage.
type seen struct{ rows int64 }

// Coverage is what the tests of a script have seen of it.
type Coverage struct {
	File string `json:"file"`
}

// Text shows the coverage to people.
func (c *Coverage) Text() string { return "" }

func (r *testRun) cover(c *planner.Compiled, run *exec.Run) {}
