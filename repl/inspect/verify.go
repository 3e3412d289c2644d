package inspect

import (
	"fmt"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

// PrintVerify reads every byte and compares the checksums. It lists the checkpoints and whether each is whole, and returns
// the sum in words if all are.
func (f *Folder) PrintVerify(p *Printer, note func(string)) (sum string, err error) {
	var total int64
	damage := f.Verify(func(_, t int64) { total = t })
	broken := map[checkpoint.ID]string{}
	for _, d := range damage {
		for _, id := range d.Checkpoints {
			if broken[id] == "" {
				broken[id] = fmt.Sprintf("%s is damaged at byte %d: %s", d.File, d.Offset, d.Why)
			}
		}
	}
	var rows [][]any
	for _, i := range f.All {
		rows = append(rows, []any{int64(i.ID), i.Name, broken[i.ID] == "", broken[i.ID]})
	}
	fields := []field{{"id", types.Int, nil}, {"name", types.String, nil}, {"whole", types.Bool, func(v any) string {
		if v.(bool) {
			return "whole"
		}
		return "damaged"
	}}, {"why", types.String, nil}}
	if err := p.list(fields, rows); err != nil {
		return "", err
	}
	if err := f.Lost(); err != nil {
		return "", err
	}
	for _, l := range f.LeftOut() {
		note(l.String())
	}
	if len(damage) == 0 {
		if len(f.All) == 1 {
			return fmt.Sprintf("1 checkpoint, %s: whole", Size(total)), nil
		}
		return fmt.Sprintf("%d checkpoints, %s: all whole", len(f.All), Size(total)), nil
	}
	for _, d := range damage {
		note(d.String())
	}
	if len(broken) == 0 {
		return "", fmt.Errorf("bytes in %s are damaged that no checkpoint needs; all %d checkpoints are whole", f.Dir, len(f.All))
	}
	goOn := "`ebb run --from ID`"
	if f.Stay {
		goOn = ".rollback ID or .restore ID"
	}
	return "", fmt.Errorf("%d of %d checkpoints in %s are damaged; %s goes on from one that is whole", len(broken), len(f.All), f.Dir, goOn)
}
