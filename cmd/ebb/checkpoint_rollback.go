package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/stdlib"
)

func checkpointRollback() *cobra.Command {
	return &cobra.Command{
		Use:   "rollback DIR ID",
		Short: "Go back to a checkpoint, or forward again, outputs included; the job must not run",
		Long: "Go back to a checkpoint, outputs included: what was written after it is cut off and set aside. The next run goes on from there. Checkpoints " +
			"after it stay as an abandoned branch; a rollback to one of them goes forward again and puts the outputs back. The job must not run.",
		Args:              checkpointArgs(1, 1, "a checkpoint folder and a checkpoint"),
		ValidArgsFunction: checkpointWords,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := openFolder(args[0]) // says what is wrong with it, changes nothing
			if err != nil {
				return err
			}
			defer f.Close()
			i, err := f.Find(word(args, 1))
			if err != nil {
				return inspected(err)
			}
			r, err := openRollback(f, i.ID)
			if err != nil {
				return err
			}
			err = r.to(i.ID)
			return errors.Join(err, r.store.Close())
		},
	}
}

// rollback is a folder that is held to change its head.
type rollback struct {
	name  string // of the folder, as it was given
	here  string // where the command was called
	home  string // where the run was
	store *checkpoint.Store
}

func openRollback(f *inspect.Folder, id checkpoint.ID) (*rollback, error) {
	here, _ := os.Getwd()
	s, home, err := openStore(f, "ebb checkpoint rollback", id)
	if locked, ok := errors.AsType[*checkpoint.LockedError](err); ok {
		return nil, &status{exitFailed, fmt.Errorf("%w; a signal (Ctrl-C) stops a job with a last checkpoint", locked)}
	}
	if err != nil {
		return nil, exitOf(err)
	}
	return &rollback{f.Dir, here, home, s}, nil
}

// to makes checkpoint id the head, and the outputs what they were at it.
func (r *rollback) to(id checkpoint.ID) error {
	_, err := r.store.Manifest(id)
	if err == nil {
		err = inspect.Enter(r.home)
	}
	if err != nil {
		return &status{exitFailed, fmt.Errorf("cannot go to checkpoint %d in %s: %w", id, r.name, err)}
	}
	done, err := planner.Rollback(r.store, id, stdlib.New(), exec.OS())
	if refused, ok := errors.AsType[*planner.RefusedError](err); ok {
		return &status{exitFailed, refused}
	}
	if err != nil {
		return &status{exitOutput, fmt.Errorf("%w; the same command again goes on with it", err)}
	}
	r.report(done)
	return nil
}

// report says what was done, and what could not be.
func (r *rollback) report(done *planner.RolledBack) {
	head, m := done.From, done.To
	went := fmt.Sprintf("went back from checkpoint %d to", head)
	switch {
	case head == m.ID:
		went = "is at checkpoint"
	case head == 0:
		went = "went to checkpoint"
	case head < m.ID:
		went = fmt.Sprintf("went forward from checkpoint %d to", head)
	}
	rewind := r.store.Rewind(m)
	fmt.Printf("%s %s, taken %s ago: after row %d of the input%s, %d rows in flight\n",
		went, checkpoint.Label(m.ID, m.Name), inspect.Span(time.Now().UnixNano()-m.Created), m.Stats["rows_in"], rewind.After(fmt.Sprintf("%d rows", rewind.Rows)), m.FlightRows)
	for _, d := range done.Outputs {
		var words []string
		if d.Cut > 0 {
			words = append(words, fmt.Sprintf("%d bytes (%d rows) cut off and set aside", d.Cut, d.Rows))
		}
		if d.Back > 0 {
			words = append(words, fmt.Sprintf("%d bytes put back", d.Back))
		}
		output := r.path(d.Output)
		switch {
		case d.Why != "":
			output = d.Output
			words = []string{"not undone: " + d.Why}
		case len(words) == 0:
			words = []string{"as it was"}
		}
		fmt.Printf("%s: %s\n", output, strings.Join(words, ", "))
	}
	if head > m.ID {
		fmt.Printf("the checkpoints after it stay: `ebb checkpoint rollback %s %d` goes forward again\n", r.name, head)
	}
}

// path returns a path of the run as it is seen from where the command was called.
func (r *rollback) path(name string) string {
	if filepath.IsAbs(name) || r.home == "" {
		return name
	}
	name = filepath.Join(r.home, name)
	if rel, err := filepath.Rel(r.here, name); err == nil {
		return rel
	}
	return name
}
