package repl

import (
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/repl/inspect"
)

// weights are how many bytes of state the stages of a job hold.
type weights struct {
	bytes map[string]int64
	saved checkpoint.ID // the checkpoint that they are of; 0: they are held now
}

// weighing is how long a job is waited for that is amid a step.
const weighing = time.Second

// weigh returns what the stages of a job hold: now if it runs, else at its newest checkpoint.
func (j *sessionJob) weigh() weights {
	if !j.State().Over() {
		if now, ok := j.Weigh(weighing); ok {
			return weights{bytes: now}
		}
	}
	dir := j.Folder()
	if dir == "" {
		return weights{}
	}
	f, err := inspect.Open(dir)
	if err != nil {
		return weights{}
	}
	defer f.Close()
	_, m, err := f.Get("")
	if err != nil {
		return weights{}
	}
	w := weights{map[string]int64{}, m.ID}
	for _, t := range m.Tasks {
		for _, n := range t.Nodes {
			w.bytes[n.ID] += n.Bytes
		}
	}
	return w
}
