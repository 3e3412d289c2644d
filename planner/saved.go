package planner

import (
	"encoding/json"
	"fmt"

	"github.com/ebb-lang/ebb/lang/types"
)

// SavedScript is the script of a run as its checkpoints keep it, so that their states can be read with the operators that
// wrote them, whatever becomes of the file.
type SavedScript struct {
	Name string            `json:"name"`
	Text string            `json:"text"`
	Set  map[string]string `json:"set,omitempty"` // params
	// Print is how pipelines that end without an into are written.
	Print *types.ConnArgs `json:"print,omitempty"`
	Plan  string          `json:"plan"` // for people
}

func (c *Compiled) saved(name, text string) ([]byte, error) {
	return json.Marshal(SavedScript{Name: name, Text: text, Set: c.Options.Set, Print: c.Options.Print, Plan: c.Physical.Text()})
}

// DecodeScript reads the script of a checkpoint.
func DecodeScript(data []byte) (*SavedScript, error) {
	s := &SavedScript{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("the script of the checkpoint makes no sense: %w", err)
	}
	return s, nil
}
