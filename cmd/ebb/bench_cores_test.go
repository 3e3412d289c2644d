package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
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

// BenchmarkMachine tells what two cores can be worth on this machine: x is how many times the steps of one they do in the same
// time, where each steps from word to word in memory of its own, in no order. Two cores that share a cache have more words than one
// and, once those do not fit it, wait for memory that one alone need not wait for.
func BenchmarkMachine(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("there is one core only")
	}
	for _, size := range []int{256 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 64 << 20} {
		b.Run(fmt.Sprintf("KiB=%d", size>>10), func(b *testing.B) {
			words := [2][]uint32{ring(size / 4), ring(size / 4)}
			walk := func(cores int) func() cost {
				return func() cost {
					return measure(func() {
						var all sync.WaitGroup
						for _, w := range words[:cores] {
							all.Go(func() {
								at := uint32(0)
								for range 4_000_000 {
									at = w[at]
								}
								runtime.KeepAlive(at)
							})
						}
						all.Wait()
					})
				}
			}
			walk(2)()
			b.ResetTimer()
			one, two := abba(b.N, walk(1), walk(2))
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(one.wall)/4_000_000, "ns/step")
			b.ReportMetric(2*float64(one.wall)/float64(two.wall), "x")
		})
	}
}

// ring returns n words each of which names the next one, all of them once around (Sattolo's algorithm).
func ring(n int) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = uint32(i)
	}
	for i := n - 1; i > 0; i-- {
		j := rand.IntN(i)
		w[i], w[j] = w[j], w[i]
	}
	return w
}
