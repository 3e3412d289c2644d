package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/lang/types"
)

func checkpointList() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:               "list DIR",
		Short:             "List the checkpoints, those of abandoned branches too",
		Args:              checkpointArgs(0, 0, "a checkpoint folder"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := newPrinter(output, rowFormats...)
			if err != nil {
				return err
			}
			f, err := openFolder(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			return f.printList(p)
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

func (f *folder) printList(p *printer) error {
	now := time.Now().UnixNano()
	bytes := func(v any) string { return size(v.(int64)) }
	dash := func(v any) string {
		if v.(int64) == 0 {
			return ""
		}
		return fmt.Sprint(v)
	}
	fields := []field{
		{"id", types.Int, nil},
		{"name", types.String, func(v any) string { return v.(string) }},
		{"time", types.Time, func(v any) string { return moment(v.(int64)) }},
		{"age", types.Duration, func(v any) string { return span(v.(int64)) }},
		{"took", types.Duration, func(v any) string { return span(v.(int64)) }},
		{"state_bytes", types.Int, bytes},
		{"flight_rows", types.Int, nil},
		{"flight_bytes", types.Int, bytes},
		{"mode", types.String, nil},
		{"reason", types.String, nil},
		{"parent", types.Int, dash},
		{"branch", types.Int, nil},
		{"status", types.String, func(v any) string { return v.(string) }},
	}
	var rows [][]any
	for _, i := range f.list {
		var name, parent, status any
		if s := infoStatus(i); s != "" {
			status = s
		}
		if i.Name != "" {
			name = i.Name
		}
		if i.Parent != 0 {
			parent = int64(i.Parent)
		}
		rows = append(rows, []any{int64(i.ID), name, i.Created, (now - i.Created) / 1e6 * 1e6, (i.Durable - i.Created) / 1e3 * 1e3, i.StateBytes, i.FlightRows, i.FlightBytes,
			i.Mode, i.Reason, parent, int64(i.Branch), status})
	}
	if len(rows) == 0 && p.people() {
		fmt.Fprintf(p.out, "there are no checkpoints in %s\n", f.dir)
		return nil
	}
	return p.list(fields, rows)
}

// infoStatus is what became of a checkpoint, in words: the head is where the next run goes on.
func infoStatus(i checkpoint.Info) string {
	var words []string
	if i.Head {
		words = append(words, "head")
	}
	if i.Abandoned {
		words = append(words, "abandoned")
	}
	if i.Finished {
		words = append(words, "finished")
	}
	if !i.Committed {
		words = append(words, "uncommitted")
	}
	return strings.Join(words, " ")
}
