package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/stdlib"
)

func runCommand() *cobra.Command {
	var flags scriptFlags
	var output string
	cmd := &cobra.Command{
		Use:   "run FILE | - | -c SCRIPT",
		Short: "Run a script; bounded input ends by itself",
		Example: "  ebb run orders.ebb --set min_amount=10\n" +
			"  ebb run -c 'csv(\"orders.csv\") |> aggregate n = count() by city'",
		RunE: func(cmd *cobra.Command, args []string) error {
			name, text, err := flags.script(cmd, args)
			if err != nil {
				return err
			}
			o, err := flags.options()
			if err != nil {
				return err
			}
			if o.Print, err = printed(output); err != nil {
				return err
			}
			limitGarbage()
			env := exec.OS()
			c, err := compile(name, text, env, o)
			if err != nil {
				return err
			}
			if len(c.Script.Writes) == 0 {
				return &status{exitScript, fmt.Errorf("%s: nothing to run: no pipeline ends in `into`, and none is printed", name)}
			}
			return runJob(c.Graph(stdlib.New(), env), env)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&output, "output", "", "how pipelines without `into` are printed: table, jsonl or csv (default: a table on a terminal, else jsonl)")
	return cmd
}

// runJob runs a graph to its end. The first signal stops it cleanly, the second at once.
func runJob(g *exec.Graph, env *exec.Env) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	watch := startProgress(env)
	job, err := exec.Start(ctx, g, env)
	if err != nil {
		watch.stop(err)
		return exitOf(err)
	}
	stopping := false
	for done := false; !done; {
		select {
		case <-job.Done():
			done = true
		case <-signals:
			if stopping {
				cancel()
			}
			stopping = true
			job.Stop()
		}
	}
	err = job.Wait()
	if errors.Is(err, syscall.EPIPE) || stopping && errors.Is(err, context.Canceled) {
		err = nil // whoever reads our output has enough
	}
	watch.stop(err)
	if n := env.Stats.Late.Load(); n > 0 && err == nil && env.Stats.LateDropped.Load() > 0 {
		fmt.Fprintf(os.Stderr, "ebb: %d late rows were dropped (`late into TARGET` keeps them)\n", env.Stats.LateDropped.Load())
	}
	return exitOf(err)
}
