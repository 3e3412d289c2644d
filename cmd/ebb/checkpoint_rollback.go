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
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
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
			dir, err := filepath.Abs(args[0]) // outputs are relative to the run's directory
			if err != nil {
				return err
			}
			f, err := openFolder(args[0]) // says what is wrong with it, changes nothing
			if err != nil {
				return err
			}
			i, err := f.find(args[1])
			f.Close()
			if err != nil {
				return err
			}
			r, err := openRollback(args[0], dir)
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
	store *checkpoint.Store
	f     *folder
}

func openRollback(name, dir string) (*rollback, error) {
	here, _ := os.Getwd()
	s, _, err := checkpoint.Open(disk.OS{}, dir, checkpoint.Options{Owner: owner("ebb checkpoint rollback"), Keep: keepAll})
	if locked, ok := errors.AsType[*checkpoint.LockedError](err); ok {
		return nil, &status{exitFailed, fmt.Errorf("%w; a signal (Ctrl-C) stops a job with a last checkpoint", locked)}
	}
	if err != nil {
		return nil, &status{exitFailed, fmt.Errorf("cannot open the checkpoints in %s: %w", name, err)}
	}
	return &rollback{name, here, s, &folder{dir: name, blocks: s, list: s.List()}}, nil
}

// to makes checkpoint id the head, and the outputs what they were at it.
func (r *rollback) to(id checkpoint.ID) error {
	failed := func(err error) error {
		return &status{exitFailed, fmt.Errorf("cannot go to checkpoint %d in %s: %w", id, r.name, err)}
	}
	target, err := r.store.Manifest(id)
	if err != nil {
		return failed(err)
	}
	back, known := r.store.AsidesOf(id)
	if !known {
		return failed(errors.New("a fresh start lies between, which has replaced the outputs; `ebb run --from` goes on from it all the same if they are removed"))
	}
	l, err := r.f.look(target)
	if err != nil {
		return err
	}
	head := r.store.Head()
	if head != 0 && head != id {
		if err := r.settle(head); err != nil {
			return failed(fmt.Errorf("the outputs of checkpoint %d must be complete before: %w", head, err))
		}
	}
	if _, err := l.g.UndoSinks(target, r.store.Read, "", back); err != nil { // while nothing has changed
		return failed(err)
	}
	if err := r.store.Rollback(id); err != nil {
		return &status{exitOutput, err}
	}
	done, err := l.g.UndoSinks(target, r.store.Read, r.store.Aside(), back)
	if err != nil {
		return &status{exitOutput, fmt.Errorf("the outputs are not back at checkpoint %d yet, the same command again goes on: %w", id, err)}
	}
	r.report(head, target, done)
	return nil
}

// settle commits what belongs to the head: a run that was killed may have left that to the next one.
func (r *rollback) settle(head checkpoint.ID) error {
	m, err := r.store.Manifest(head)
	if err != nil {
		return err
	}
	l, err := r.f.look(m)
	if err != nil {
		return err
	}
	return l.g.SettleSinks(m, r.store.Read)
}

// report says what was done, and what could not be.
func (r *rollback) report(head checkpoint.ID, m *checkpoint.Manifest, done []exec.Undone) {
	word := "back"
	if head < m.ID {
		word = "forward"
	}
	name := ""
	if m.Name != "" {
		name = " (" + m.Name + ")"
	}
	fmt.Printf("went %s from checkpoint %d to %d%s, taken %s ago: after row %d of the input, %d rows in flight\n",
		word, head, m.ID, name, span(time.Now().UnixNano()-m.Created), m.Stats["rows_in"], m.FlightRows)
	for _, d := range done {
		var words []string
		if d.Cut > 0 {
			words = append(words, fmt.Sprintf("%d bytes (%d rows) cut off and set aside", d.Cut, d.Rows))
		}
		if d.Back > 0 {
			words = append(words, fmt.Sprintf("%d bytes put back", d.Back))
		}
		output := r.path(m, d.Output)
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
func (r *rollback) path(m *checkpoint.Manifest, name string) string {
	if filepath.IsAbs(name) || m.Dir == "" {
		return name
	}
	if rel, err := filepath.Rel(r.here, filepath.Join(m.Dir, name)); err == nil {
		return rel
	}
	return filepath.Join(m.Dir, name)
}
