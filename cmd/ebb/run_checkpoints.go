package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// checkpointFlags are the flags of `run` that concern checkpoints.
type checkpointFlags struct {
	interval     time.Duration
	mode, from   string
	log          string
	fresh, drain bool
	allow        []string
}

func (f *checkpointFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.DurationVar(&f.interval, "checkpoint-interval", 0, "time between checkpoints, as `DURATION` such as 500ms (default: what the script sets, else 10s)")
	fs.StringVar(&f.mode, "checkpoint-mode", "", "`MODE` of checkpoints: auto, aligned, unaligned or none (default: what the script sets, else auto)")
	fs.BoolVar(&f.fresh, "fresh", false, "start afresh and abandon the checkpoints that are there")
	fs.StringVar(&f.from, "from", "", "go on from the `CHECKPOINT` with this number or name, -N for the N-th before the newest, or as a fork from PATH#ID, that of another job whose folder is PATH")
	fs.StringArrayVar(&f.allow, "allow-dropped", nil, "drop the state of `STAGE` if it does not fit the script any more; may be given several times")
	fs.BoolVar(&f.drain, "drain", false, "at a signal end the input and flush windows instead of stopping for a later run")
	fs.StringVar(&f.log, "log", "", "`FORMAT` in which checkpoints are logged to standard error, a line each: text or json (default: only those that are given up)")
	cmd.RegisterFlagCompletionFunc("log", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("checkpoint-mode", cobra.FixedCompletions([]string{"auto", "aligned", "unaligned", "none"}, cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"checkpoint-interval", "from", "allow-dropped"} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

func (f *checkpointFlags) launch(cmd *cobra.Command) (planner.Launch, error) {
	o := planner.Launch{Fresh: f.fresh, From: f.from, AllowDropped: f.allow, Mode: f.mode, Interval: int64(f.interval), Engine: version}
	switch f.mode {
	case "", "auto", "aligned", "unaligned", "none":
	default:
		return o, usage("--checkpoint-mode takes auto, aligned, unaligned or none, not %q", f.mode)
	}
	if cmd.Flags().Changed("checkpoint-interval") && f.interval <= 0 {
		return o, usage("--checkpoint-interval takes a time longer than 0s, not %s", f.interval)
	}
	if f.fresh && f.from != "" {
		return o, usage("--fresh starts from nothing, --from from a checkpoint: give one of them")
	}
	o.Owner = checkpoint.ThisProcess(time.Now().UnixNano(), "ebb "+strings.Join(os.Args[1:], " "))
	log, err := f.logger()
	if err != nil {
		return o, err
	}
	o.Taken = func(m *checkpoint.Manifest) { logCheckpoint(log, m) }
	o.Aborted = func(id checkpoint.ID, reason string) {
		log.Warn("checkpoint given up", "id", uint64(id), "reason", reason)
	}
	return o, nil
}

// logger logs to standard error.
func (f *checkpointFlags) logger() (*slog.Logger, error) {
	switch f.log {
	case "":
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), nil
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, nil)), nil
	}
	return nil, usage("--log takes text or json, not %q", f.log)
}

// logCheckpoint logs a published checkpoint in one line.
func logCheckpoint(log *slog.Logger, m *checkpoint.Manifest) {
	args := []any{"id", uint64(m.ID), "mode", m.Mode, "reason", m.Reason, "took", time.Duration(m.Durable - m.Created).Round(time.Microsecond),
		"state_bytes", m.StateBytes, "inflight_rows", m.FlightRows, "inflight_bytes", m.FlightBytes}
	for _, p := range []string{"step", "align", "gather", "queue", "encode", "flush"} {
		if d, ok := m.Phases[p]; ok {
			args = append(args, p, time.Duration(d).Round(time.Microsecond))
		}
	}
	log.Info("checkpoint", append(args, "slowest_task", m.Slowest)...)
}

// launched opens the checkpoints of a script.
func launched(c *planner.Compiled, name, text string, env *exec.Env, o planner.Launch) (*planner.Launched, error) {
	var refused *planner.RefusedError
	var locked *checkpoint.LockedError
	l, err := planner.Patiently(func() (*planner.Launched, error) { return c.Launch(name, text, stdlib.New(), env, o) })
	switch {
	case err == nil:
		return l, nil
	case errors.As(err, &refused):
		return nil, usage("%v", err)
	case errors.As(err, &locked):
		return nil, &status{exitOutput, err}
	}
	return nil, exitOf(err)
}

// tellRestored says in one line what a run goes on from.
func tellRestored(l *planner.Launched, env *exec.Env) {
	for _, n := range l.Notes {
		fmt.Fprintln(os.Stderr, "ebb: "+n)
	}
	if l.From == nil {
		return
	}
	age := time.Duration(env.Now() - l.From.Durable).Round(time.Second)
	fmt.Fprintf(os.Stderr, "ebb: goes on from checkpoint %s, %s old: after row %d of the input%s, %d rows in flight put back\n",
		checkpoint.Label(l.From.ID, l.Info.Name), age, l.From.Stats["rows_in"], l.Rewind.After(fmt.Sprintf("%d rows", l.Rewind.Rows)), l.Setup.From.Rows())
}
