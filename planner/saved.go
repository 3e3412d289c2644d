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
	// Print and PrintArgs are the connector that writes pipelines without an into.
	Print     string         `json:"print,omitempty"`
	PrintArgs map[string]any `json:"print_args,omitempty"`
	Plan      string         `json:"plan"` // for people
}

func (c *Compiled) saved(name, text string) ([]byte, error) {
	s := SavedScript{Name: name, Text: text, Set: c.Options.Set, Plan: c.Physical.Text()}
	if p := c.Options.Print; p != nil {
		s.Print, s.PrintArgs = p.Name, p.Args
	}
	return json.Marshal(s)
}

// DecodeScript reads the script of a checkpoint.
func DecodeScript(data []byte) (*SavedScript, error) {
	s := &SavedScript{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("the script of the checkpoint makes no sense: %w", err)
	}
	return s, nil
}

// options are those that the script was compiled with.
func (s *SavedScript) options(width int) Options {
	o := Options{Set: s.Set, Parallelism: max(width, 1), Spread: true}
	if s.Print != "" {
		o.Print = &types.ConnArgs{Name: s.Print, Args: s.PrintArgs}
	}
	return o
}
