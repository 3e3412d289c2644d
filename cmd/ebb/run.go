package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/planner"
)

func runCommand() *cobra.Command {
	var flags scriptFlags
	var output string
	var keep checkpointFlags
	cmd := &cobra.Command{
		Use:   "run FILE | - | -c SCRIPT",
		Short: "Run a script; bounded input ends by itself",
		Long: "Run a script. Bounded input ends by itself; a signal (Ctrl-C) ends a run cleanly: what was written becomes visible, " +
			"open windows are not flushed, and the next run goes on from there; one that takes no checkpoints says that it cannot. A second signal ends it at once.",
		Example: "  ebb run orders.ebb --set min_amount=10\n" +
			"  ebb run -c 'csv(\"orders.csv\") |> aggregate n = count() by city'",
		ValidArgsFunction: scriptFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			signals := make(chan os.Signal, 2)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM) // for ever: a signal that comes twice is not to kill what has ended already

			o, err := flags.options(cmd)
			if err != nil {
				return err
			}
			if o.Print, err = printed(output); err != nil {
				return err
			}
			env := exec.OS()
			env.Stdout = standardOutput()
			launch, err := keep.launch(cmd)
			if err != nil {
				return err
			}
			l, err := unlessStopped(signals, func() (*planner.Launched, error) { // standard input may have to be waited for
				name, text, err := flags.script(cmd, args, env)
				if err != nil {
					return nil, err
				}
				c, err := compile(name, text, env, o)
				if err != nil {
					return nil, err
				}
				return launched(c, name, text, env, launch)
			})
			if err != nil || l == nil {
				return err
			}
			return runJob(l, env, signals, keep.drain)
		},
	}
	flags.add(cmd)
	keep.add(cmd)
	cmd.Flags().StringVar(&output, "output", "", "`FORMAT` in which pipelines that end without an into are printed: table, jsonl or csv (default: a table on a terminal, else jsonl)")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "jsonl", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// unlessStopped returns what f returns, or nothing if a signal comes first.
func unlessStopped[T any](signals <-chan os.Signal, f func() (*T, error)) (made *T, err error) {
	done := make(chan struct{})
	var x *T
	var e error
	go func() {
		defer close(done)
		x, e = f()
	}()
	select {
	case <-done:
		return x, e
	case <-signals:
		return nil, nil
	}
}

const (
	patience = 500 * time.Millisecond // for a reader of standard output that takes nothing, once the run shall end
	parting  = 200 * time.Millisecond // for the outputs to be cleaned up, after the second signal
	failing  = 3 * time.Second        // for the tasks of a run that has failed to end: one may wait for a reader that does not read

	// sameSignal is how soon after the first a signal is still the same one: timeout(1) and its like send theirs to the
	// process and to its group.
	sameSignal = 50 * time.Millisecond
)

// runJob runs a script to its end. The first signal stops it cleanly, the second at once.
func runJob(l *planner.Launched, env *exec.Env, signals <-chan os.Signal, drain bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watch := startProgress(env)
	job, err := unlessStopped(signals, func() (*exec.Job, error) { return exec.Start(ctx, l.Graph, env, l.Setup) }) // opening a named pipe may block
	if err != nil || job == nil {
		l.Discard(env)
		err = outcome(err)
		watch.stop(err, job == nil)
		return exitOf(err)
	}
	l.Begun(env)
	tellRestored(l, env)
	stopping := false
	var since time.Time // when stopping began
	for done := false; !done; {
		select {
		case <-job.Done():
			done = true
		case <-job.Failed():
			select {
			case <-job.Done():
				done = true
			case <-time.After(failing): // as if it were killed: the next run goes on
				err := outcome(job.Failure())
				watch.stop(err, stopping)
				return exitOf(err)
			}
		case <-signals:
			if stopping && time.Since(since) < sameSignal {
				continue
			}
			if stopping {
				cancel()
				select {
				case <-job.Done():
				case <-time.After(parting):
				}
				err := errors.New("stopped at once by a second signal: the outputs are not complete")
				watch.stop(err, true)
				return &status{exitFailed, err}
			}
			stopping, since = true, time.Now()
			if drain {
				job.Drain()
			} else {
				job.Stop()
			}
			go hurry(env, job.Done())
		}
	}
	err = outcome(job.Wait())
	if e := l.Close(); err == nil && e != nil {
		err = &exec.OutputError{Err: e}
	}
	watch.stop(err, stopping)
	if rows := env.Stats.RowsIn.Load(); err == nil && stopping && !drain && l.Dir == "" && rows > 0 {
		fmt.Fprintf(os.Stderr, "ebb: stopped after row %d of the input without a checkpoint (%s): the next run starts afresh, and open windows are lost\n", rows, l.Why)
	}
	if n := env.Stats.LateDropped.Load(); n > 0 && err == nil {
		rows := "rows were"
		if n == 1 {
			rows = "row was"
		}
		fmt.Fprintf(os.Stderr, "ebb: %d late %s dropped (`late into TARGET` keeps them)\n", n, rows)
	}
	return exitOf(err)
}

// outcome is the error of a run: that nobody reads the output any more is none.
func outcome(err error) error {
	if errors.Is(err, exec.ErrReaderGone) {
		return nil
	}
	return err
}

// hurry gives a reader of standard output up that takes nothing while the run is to end.
func hurry(env *exec.Env, done <-chan struct{}) {
	p, ok := env.Stdout.(*pipeOut)
	if !ok {
		return
	}
	last, since := p.moved.Load(), time.Now()
	tick := time.NewTicker(patience / 10)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if now := p.moved.Load(); now != last || !p.busy.Load() {
			last, since = now, time.Now()
		} else if time.Since(since) >= patience {
			p.giveUp()
			return
		}
	}
}
