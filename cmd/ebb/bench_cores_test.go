package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkCores compares one core with two: x is how many times faster two are, as whole processes, x-cpu how many times
// the CPU seconds they take, x-loop how many times faster the loop is on two, which tells what the machine's memory and
// files allow.
func BenchmarkCores(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("there is one core only")
	}
	bin := filepath.Join(ebbDir(b), "ebb")
	for _, format := range []string{"csv", "jsonl"} {
		for _, query := range loopQueries {
			b.Run(format+"/"+query, func(b *testing.B) {
				in, _ := benchBids(b, format)
				out := filepath.Join(b.TempDir(), "out."+format)
				script := benchQuery(b, query, format, in, out)
				ebb := func(cores int) func() cost {
					return func() cost {
						cmd := exec.Command(bin, "run", "-c", script, "--parallelism", fmt.Sprint(cores))
						cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
						start := time.Now()
						text, err := cmd.CombinedOutput()
						wall := time.Since(start)
						require.NoError(b, err, string(text))
						require.NoError(b, os.Remove(out)) // to replace a file has it written to the disk at once
						return cost{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
					}
				}
				loop := func(cores int) func() cost {
					return func() cost {
						defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
						c := measure(func() { runLoop(b, query, format, in, out, cores) })
						require.NoError(b, os.Remove(out))
						return c
					}
				}
				ebb(1)()
				loop(2)()
				b.ResetTimer()
				e1, e2 := abba(b.N, ebb(1), ebb(2))
				l1, l2 := abba(b.N, loop(1), loop(2))
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(e1.wall)/float64(e2.wall), "x")
				b.ReportMetric(float64(e2.cpu)/float64(e1.cpu), "x-cpu")
				b.ReportMetric(float64(l1.wall)/float64(l2.wall), "x-loop")
			})
		}
	}
}
