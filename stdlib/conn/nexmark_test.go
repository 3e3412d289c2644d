package conn

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

var long = flag.Bool("nexmark.long", false, "also check the hashes of 10 million Nexmark events")

// writeCSV writes rows as the reference does: times as milliseconds, nothing quoted.
func appendNexmarkCSV(dst []byte, b *vec.Batch) []byte {
	for row := range b.N {
		for i, c := range b.Cols {
			if i > 0 {
				dst = append(dst, ',')
			}
			switch c.Type.Kind {
			case types.String:
				dst = append(dst, c.Strs[row]...)
			case types.Time:
				dst = strconv.AppendInt(dst, c.Ints[row]/1e6, 10)
			default:
				dst = strconv.AppendInt(dst, c.Ints[row], 10)
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}

func appendNexmarkJSON(dst []byte, fields []types.Field, cols []*vec.Column, row int) []byte {
	dst = append(dst, '{')
	for i, c := range cols {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), fields[i].Name...), `":`...)
		switch c.Type.Kind {
		case types.String:
			dst = append(append(append(dst, '"'), c.Strs[row]...), '"')
		case types.Time:
			dst = strconv.AppendInt(dst, c.Ints[row]/1e6, 10)
		default:
			dst = strconv.AppendInt(dst, c.Ints[row], 10)
		}
	}
	return append(dst, '}')
}

// TestNexmarkHashes compares the generator with the files of the reference.
func TestNexmarkHashes(t *testing.T) {
	dir := casesDir(t, "nexmark")
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Fields(line)
		want[f[1]] = f[0]
	}
	sizes := []struct {
		name   string
		events int64
	}{{"10k", 10_000}, {"50k", 50_000}, {"1m", 1_000_000}, {"10m", 10_000_000}}
	for _, size := range sizes {
		if size.events > 50_000 && testing.Short() || size.events > 1_000_000 && !*long {
			continue
		}
		for _, kind := range []string{"bid", "auction", "person", "all"} {
			t.Run(kind+"-"+size.name, func(t *testing.T) {
				r := newSourceRun(t, "nexmark", map[string]any{"kind": kind, "events": size.events}, 1)
				csv, json := sha256.New(), sha256.New()
				csv.Write([]byte(strings.Join(r.info.Schema.Names(), ",") + "\n"))
				var buf []byte
				source := r.open()[0]
				out := exec.NewTap(func(_ int, it exec.Item) {
					if it.Kind != exec.Rows {
						return
					}
					b := it.Batch
					buf = buf[:0]
					if kind != "all" {
						buf = appendNexmarkCSV(buf, b)
						csv.Write(buf)
						buf = buf[:0]
					}
					for row := range b.N {
						if kind == "all" {
							for i, key := range []string{"Person", "Auction", "Bid"} {
								if c := b.Cols[2+i]; !c.Null(row) {
									buf = append(append(append(buf, `{"`...), key...), `":`...)
									buf = append(appendNexmarkJSON(buf, c.Type.Fields, c.Kids, row), '}')
									if c.Kids[c.Type.Field("date_time")].Ints[row] != b.Cols[1].Ints[row] || b.Cols[0].Strs[row] != strings.ToLower(key) {
										t.Fatal("event or date_time differ from the record's")
									}
								}
							}
						} else {
							buf = appendNexmarkJSON(buf, r.info.Schema.Fields, b.Cols, row)
						}
						buf = append(buf, '\n')
					}
					json.Write(buf)
				})
				for status := exec.More; status != exec.Done; {
					if status, err = source.Poll(out); err != nil {
						t.Fatal(err)
					}
				}
				if name := kind + "-" + size.name + ".jsonl"; want[name] != hex.EncodeToString(json.Sum(nil)) {
					t.Errorf("%s differs", name)
				}
				if name := kind + "-" + size.name + ".csv"; kind != "all" && want[name] != hex.EncodeToString(csv.Sum(nil)) {
					t.Errorf("%s differs", name)
				}
			})
		}
	}
}

// TestNexmarkFiles shows where rows differ, if they do.
func TestNexmarkFiles(t *testing.T) {
	dir := casesDir(t, "nexmark")
	for _, kind := range []string{"bid", "auction", "person"} {
		r := newSourceRun(t, "nexmark", map[string]any{"kind": kind, "events": int64(10_000)}, 1)
		var got []byte
		for _, b := range r.run() {
			got = appendNexmarkCSV(got, b)
		}
		want, err := os.ReadFile(filepath.Join(dir, kind+"-10k.csv"))
		if err != nil {
			t.Fatal(err)
		}
		ws := bufio.NewScanner(bytes.NewReader(want))
		ws.Scan()
		if ws.Text() != strings.Join(r.info.Schema.Names(), ",") {
			t.Errorf("%s: columns %s", kind, r.info.Schema)
		}
		for n, line := range strings.Split(strings.TrimSuffix(string(got), "\n"), "\n") {
			if ws.Scan(); ws.Text() != line {
				t.Fatalf("%s row %d\n got %s\nwant %s", kind, n, line, ws.Text())
			}
		}
		if ws.Scan() {
			t.Fatalf("%s: rows are missing", kind)
		}
	}
}

// TestNexmarkTasks: whatever the number of tasks and the size of the chunks, rows, positions and lateness agree.
func TestNexmarkTasks(t *testing.T) {
	if testing.Short() { // under the race detector: one goroutine
		t.Skip()
	}
	for _, kind := range []string{"bid", "auction", "person", "all"} {
		for _, disorder := range []int64{1, 1000} {
			run := func(width int, rate float64) string {
				args := map[string]any{"kind": kind, "events": int64(7000), "disorder": disorder, "first": int64(12_345), "rate": rate}
				r := newSourceRun(t, "nexmark", args, width)
				r.scan.Lag = int64(20 * time.Millisecond)
				return rowsText(r.run())
			}
			want := run(1, 0)
			if late := strings.Contains(want, " late for "); late != (disorder == 1000) {
				t.Errorf("%s in groups of %d: late rows: %v", kind, disorder, late)
			}
			for width := 2; width <= 3; width++ {
				for _, rate := range []float64{0, 20_000} { // a rate makes small chunks
					if run(width, rate) != want {
						t.Errorf("%s in groups of %d: other rows with %d tasks at rate %v", kind, disorder, width, rate)
					}
				}
			}
		}
	}
}

// TestMadeParallel runs the tasks of a source side by side, each woken as the scheduler would.
func TestMadeParallel(t *testing.T) {
	args := map[string]any{"kind": "bid", "events": int64(60_000), "disorder": int64(500)}
	columns := []int{0, 5}
	plain := newSourceRun(t, "nexmark", args, 1)
	plain.scan.Columns, plain.scan.Lag = columns, int64(10*time.Millisecond)
	plain.scan.Time = func(b *vec.Batch, _ func(int, error)) { b.Time = b.Cols[1].Ints }
	want := rowsText(plain.run())

	r := newSourceRun(t, "nexmark", args, 4)
	r.scan.Columns, r.scan.Lag, r.scan.Time = columns, plain.scan.Lag, plain.scan.Time
	wake := make([]chan struct{}, 4)
	for i := range wake {
		wake[i] = make(chan struct{}, 1)
		r.scan.Hosts[i].Wake = func() {
			select {
			case wake[i] <- struct{}{}:
			default:
			}
		}
	}
	chunks := make([][]*vec.Batch, 1000)
	var tasks sync.WaitGroup
	for i, s := range r.open() {
		tasks.Go(func() {
			var rows []*vec.Batch
			out := exec.NewTap(func(_ int, it exec.Item) {
				switch it.Kind {
				case exec.Rows:
					rows = append(rows, it.Batch)
				case exec.ChunkEnd:
					chunks[it.N], rows = rows, nil
				}
			})
			for {
				status, err := s.Poll(out)
				if err != nil {
					t.Error(err)
					return
				}
				switch status {
				case exec.Done:
					return
				case exec.Idle:
					select {
					case <-wake[i]:
					case <-time.After(time.Minute):
						t.Error("never woken")
						return
					}
				}
			}
		})
	}
	tasks.Wait()
	var all []*vec.Batch
	for _, rows := range chunks {
		all = append(all, rows...)
	}
	if rowsText(all) != want {
		t.Error("other rows")
	}
}

// TestNexmarkProjection: a column holds the same values whatever else is read.
func TestNexmarkProjection(t *testing.T) {
	for _, kind := range []string{"bid", "auction", "person", "all"} {
		args := map[string]any{"kind": kind, "events": int64(5000)}
		whole := vec.Concat(newSourceRun(t, "nexmark", args, 1).run())
		n := len(whole.Cols)
		for mask := range 1 << n {
			var columns []int
			for i := n - 1; i >= 0; i-- { // order as asked for, not as in the schema
				if mask>>i&1 != 0 {
					columns = append(columns, i)
				}
			}
			if len(columns) > 2 && len(columns) < n-2 {
				continue
			}
			r := newSourceRun(t, "nexmark", args, 1)
			r.scan.Columns, r.scan.Time = columns, nil
			got := vec.Concat(r.run())
			if got.N != whole.N || len(got.Cols) != len(columns) {
				t.Fatalf("%s %v: %d rows of %d columns", kind, columns, got.N, len(got.Cols))
			}
			for i, c := range columns {
				for row := range whole.N {
					if vec.Compare(got.Cols[i], row, whole.Cols[c], row) != 0 {
						t.Fatalf("%s %v: column %d row %d: %v, want %v", kind, columns, c, row, got.Cols[i].Value(row), whole.Cols[c].Value(row))
					}
				}
			}
		}
	}
}

// TestNexmarkFirst: a stream that starts later goes on as the whole one does, and kinds are parts of "all".
func TestNexmarkFirst(t *testing.T) {
	lines := func(args map[string]any) []string {
		r := newSourceRun(t, "nexmark", args, 2)
		var out []string
		for _, b := range r.run() {
			for _, line := range strings.Split(b.String(), "\n") {
				if line != "" {
					out = append(out, line)
				}
			}
		}
		return out
	}
	whole := lines(map[string]any{"kind": "all", "events": int64(9000), "disorder": int64(100)})
	rest := lines(map[string]any{"kind": "all", "events": int64(5000), "first": int64(4000), "disorder": int64(100)})
	if strings.Join(whole[4000:], "\n") != strings.Join(rest, "\n") {
		t.Error("first: other rows")
	}
	for i, kind := range []string{"person", "auction", "bid"} {
		one := newSourceRun(t, "nexmark", map[string]any{"kind": kind, "events": int64(9000), "disorder": int64(100)}, 1)
		got := vec.Concat(one.run())
		all := vec.Concat(newSourceRun(t, "nexmark", map[string]any{"kind": "all", "events": int64(9000), "disorder": int64(100)}, 1).run())
		n := 0
		for row := range all.N {
			if all.Cols[2+i].Null(row) {
				continue
			}
			for c, col := range got.Cols {
				if vec.Compare(col, n, all.Cols[2+i].Kids[c], row) != 0 {
					t.Fatalf("%s %d differs from its record in all", kind, n)
				}
			}
			n++
		}
		if n != got.N {
			t.Errorf("%s: %d rows, %d in all", kind, got.N, n)
		}
	}
}

// TestNexmarkTime: watermarks follow the rows, and rows come by the wall clock where a rate is given.
func TestNexmarkRate(t *testing.T) {
	for _, width := range []int{1, 3} {
		r := newSourceRun(t, "nexmark", map[string]any{"kind": "bid", "events": int64(2000), "rate": 1000.0}, width)
		r.scan.Idle = int64(time.Second)
		r.now = 1e9
		started := r.now
		marks := make([]int64, width)
		rows := 0
		r.each = func(task int, it exec.Item) {
			switch it.Kind {
			case exec.Rows:
				rows += it.Batch.Rows()
				if due := int64(rows) * 50 / 46 * 1e6; r.now-started < due-10e6 || r.now-started > due+60e6 {
					t.Fatalf("%d rows after %v", rows, time.Duration(r.now-started))
				}
			case exec.Watermark:
				if it.W <= marks[task] {
					t.Fatal("watermark does not rise")
				}
				marks[task] = it.W
			case exec.WentIdle:
				t.Fatal("idle")
			}
		}
		batches := r.run()
		plain := newSourceRun(t, "nexmark", map[string]any{"kind": "bid", "events": int64(2000)}, 1)
		if rowsText(batches) != rowsText(plain.run()) {
			t.Error("the rate changes the rows")
		}
		last := vec.Concat(batches)
		if want := last.Time[last.N-1] - int64(time.Second); max(marks[0], marks[width-1], marks[width/2]) != want {
			t.Errorf("last watermark %d, want %d", marks, want)
		}
	}
}

func TestNexmarkIdle(t *testing.T) {
	r := newSourceRun(t, "nexmark", map[string]any{"kind": "person", "events": int64(101), "rate": 10.0}, 2)
	r.scan.Idle = int64(time.Second)
	r.now = 1
	var log []string
	r.each = func(task int, it exec.Item) {
		switch it.Kind {
		case exec.Rows:
			log = append(log, fmt.Sprintf("rows %d", task))
		case exec.WentIdle:
			log = append(log, fmt.Sprintf("idle %d", task))
		case exec.WentActive:
			log = append(log, fmt.Sprintf("active %d", task))
		}
	}
	r.run()
	got := strings.Join(log, ", ")
	if !strings.HasPrefix(got, "rows 0, idle 1, idle 0, active 1, ") || !strings.HasSuffix(got, "active 0, rows 0") {
		t.Error(got)
	}
}

func TestNexmarkLimit(t *testing.T) {
	for width := 1; width <= 3; width++ {
		r := newSourceRun(t, "nexmark", map[string]any{"kind": "bid"}, width)
		if r.info.Bounded {
			t.Error("bounded")
		}
		r.scan.Limit = 10_000
		if n := vec.Concat(r.run()).N; n < 10_000 || n > 20_000 {
			t.Errorf("%d rows", n)
		}
	}
}

func TestNexmarkErrors(t *testing.T) {
	c := connector(t, "nexmark")
	for want, args := range map[string]map[string]any{
		`nexmark has no events "bits"`:      {"kind": "bits"},
		`events: -1`:                        {"kind": "bid", "events": int64(-1)},
		`first: -5`:                         {"kind": "bid", "first": int64(-5)},
		`rate: -1`:                          {"kind": "bid", "rate": int64(-1)},
		`disorder: 0`:                       {"kind": "bid", "disorder": int64(0)},
		`multiple of 953; take 954`:         {"kind": "bid", "disorder": int64(953)},
		`density: 0`:                        {"kind": "bid", "density": 0.0},
		`base_time`:                         {"kind": "bid", "base_time": int64(1)},
		`hot_auctions, hot_bidders and hot`: {"kind": "bid", "hot_bidders": int64(0)},
	} {
		_, err := c.Info(callArgs(c, args), nil, exec.OS())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
	if _, err := c.Info(callArgs(c, map[string]any{"kind": "bid"}), &types.Schema{}, exec.OS()); err == nil || !strings.Contains(err.Error(), "leave out `schema`") {
		t.Error(err)
	}
}

// TestMadeFailures: rows without an event time fail with their number, and do not come through.
func TestMadeFailures(t *testing.T) {
	for width := 1; width <= 3; width++ {
		r := newSourceRun(t, "nexmark", map[string]any{"kind": "bid", "events": int64(10_000)}, width)
		errors := 0
		r.scan.Failures = func() *exec.Failures { return &exec.Failures{Mode: "into", Port: 2, Stats: r.scan.Env.Stats} }
		r.scan.Time = func(b *vec.Batch, fail func(int, error)) {
			b.Time = b.Cols[5].Ints
			for i, price := range b.Cols[2].Ints {
				if price < 1000 {
					fail(i, fmt.Errorf("too cheap"))
				}
			}
		}
		var firstError string
		sources := r.open()
		rows := 0
		for left := len(sources); left > 0; {
			left = len(sources)
			for _, s := range sources {
				status, err := s.Poll(exec.NewTap(func(port int, it exec.Item) {
					if it.Kind != exec.Rows {
						return
					}
					b := it.Batch
					if port == 2 {
						errors += b.Rows()
						if firstError == "" {
							firstError = b.Slice(0, 1).String()
						}
						return
					}
					for i := range b.Rows() {
						rows++
						if b.Cols[2].Ints[b.Row(i)] < 1000 {
							t.Fatal("a row that failed came through")
						}
					}
				}))
				if err != nil {
					t.Fatal(err)
				}
				if status == exec.Done {
					left--
				}
			}
		}
		if rows+errors != 9200 || r.scan.Env.Stats.RowsIn.Load() != 9200 || errors < 1000 {
			t.Errorf("%d rows and %d errors", rows, errors)
		}
		if !strings.Contains(firstError, "too cheap, src, {\"auction\":1000,\"bidder\":1010,\"price\":235,") {
			t.Error(firstError)
		}
	}
}

func BenchmarkNexmark(b *testing.B) {
	for _, bench := range []struct {
		name    string
		kind    string
		columns []int
	}{
		{"bid", "bid", []int{0, 1, 2, 3, 4, 5, 6}},
		{"bid/q5", "bid", []int{0, 5}},
		{"bid/q7", "bid", []int{0, 1, 2, 5}},
		{"auction", "auction", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"person", "person", []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"all", "all", []int{0, 1, 2, 3, 4}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			r := newSourceRun(b, "nexmark", map[string]any{"kind": bench.kind}, 1)
			r.scan.Columns, r.scan.Time = bench.columns, nil
			source := r.open()[0]
			rows := 0
			out := exec.NewTap(func(_ int, it exec.Item) {
				if it.Kind == exec.Rows {
					rows += it.Batch.N
				}
			})
			source.Poll(out)
			rows = 0
			b.ReportAllocs()
			for b.Loop() {
				source.Poll(out)
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
