package conn

import (
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Conn{
	Doc: spec.Doc{
		Name:      "blackhole",
		Group:     "output",
		Signature: "blackhole()",
		Text:      "Drops its rows: to measure how fast a script runs, or to try it without an output. They are counted in the summary of the run. It takes updating streams, too.",
		Examples:  []spec.Example{{Code: `nexmark("bid", events: 1000) |> into blackhole()`}},
	},
	ConnSig:  types.ConnSig{Name: "blackhole", Sink: true},
	Updating: func(*types.ConnArgs) bool { return true },
	Delivery: func(*types.ConnArgs, *exec.Env) spec.Delivery { return spec.ExactlyOnce }, // nobody sees them
	Sink:     func(*spec.Write) (exec.Sink, error) { return blackhole{}, nil },
})

// blackhole is a sink without an output.
type blackhole struct{}

func (blackhole) Write(*vec.Batch) error { return nil }
func (blackhole) Finish() error          { return nil }
func (blackhole) Close() error           { return nil }
