package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// job is a script whose outputs are compared after crashes.
type job struct {
	name, script string
	files        map[string]string
	ordered      bool // outputs must be equal line by line
	changes      bool // outputs are changes: what they come to must be equal
	timed        bool // it needs as much time as its rates say
}

// appends reports whether a run that begins anew leaves what is in the output.
func (j job) appends() bool { return strings.Contains(j.script, "append: true") }

// jobs are of every operator and connector that keeps something.
var jobs = []job{
	{name: "copy", ordered: true, script: `csv("in.csv") |> where n % 3 != 0 |> into csv("out.csv")`},
	{name: "quoted", ordered: true, script: `csv("part*.csv") schema { n: int, s: string } |> derive m = n * 2 |> into jsonl("out.jsonl")`},
	{name: "lines", ordered: true, script: `jsonl("in.jsonl") schema { n: int, tags: [string] } |> unnest tags as tag |> into csv("out.csv")`},
	{name: "keyed", script: `nexmark("bid", events: 1_500) |> aggregate n = count(), s = sum(price), who = distinct(bidder) by auction |> into csv("out.csv")`},
	{name: "calls", script: `nexmark("bid", events: 1_200) |> aggregate top = top_k(bidder, 3), d = approx_distinct(auction), q = approx_quantile(price, 0.9), m = median(price), f = first(bidder), l = last(bidder), a = arg_max(bidder, price) by channel |> into jsonl("out.jsonl")`},
	{name: "hopping", script: `nexmark("bid", events: 1_500) |> aggregate n = count() by bidder window hopping(100ms, every: 20ms) |> into csv("out.csv")`},
	{name: "cumulate", script: `nexmark("bid", events: 1_500) |> aggregate n = count(), m = max(price) by channel window cumulate(100ms, step: 20ms) |> into csv("out.csv")`},
	{name: "session", script: `nexmark("bid", events: 1_500) |> aggregate n = count(), first = min(price) by bidder window session(10ms) |> into csv("out.csv")`},
	{name: "counted", script: `nexmark("bid", events: 1_200) |> aggregate s = sum(price) by channel window count(20) |> into csv("out.csv")`},
	{name: "late", script: `source b = nexmark("bid", events: 1_500, disorder: 977) time date_time lag 10ms
b |> aggregate n = count() by channel window tumbling(50ms) late into behind |> into csv("out.csv")
behind |> aggregate late = count(), s = sum(price) |> into jsonl("late.jsonl")`},
	{name: "allow", changes: true, script: `source b = nexmark("bid", events: 1_500, disorder: 977) time date_time lag 10ms
b |> aggregate n = count() by channel window tumbling(50ms) late allow 40ms |> into csv("out.csv", changes: true)`},
	{name: "changes", changes: true, script: `nexmark("bid", events: 1_200) |> aggregate n = count(), m = max(price) by auction emit changes retain forever |> into csv("out.csv", changes: true)`},
	{name: "every", changes: true, script: `nexmark("bid", events: 1_200) |> aggregate n = count() by channel window tumbling(50ms) emit changes every 1ms |> into jsonl("out.jsonl", changes: true)`},
	{name: "two levels", script: `nexmark("bid", events: 1_200) |> aggregate top = max(price) by auction, bidder |> aggregate a = avg(top), n = count() by auction |> where n > 1 |> into csv("out.csv")`},
	{name: "fan", ordered: true, script: `stream b = nexmark("bid", events: 1_000)
stream dear = b |> where price > 1_000_000 |> select auction, tag = "dear"
stream odd = b |> where auction % 2 == 1 |> select auction, tag = "odd"
dear |> union odd |> aggregate n = count() by auction, tag |> sort by auction, tag |> into csv("out.csv")
b |> where price < 1000 |> into jsonl("cheap.jsonl")`},
	{name: "split", script: `nexmark("bid", events: 1_000) |> split {
    when price > 1_000_000 => dear
    when price > 10_000 => fair
    else => csv("cheap.csv")
}
dear |> select price, c = 1 |> into all
fair |> select price, c = 2 |> into all
all |> aggregate n = count(), s = sum(price) by c |> into csv("out.csv")`},
	{name: "tee", ordered: true, script: `nexmark("bid", events: 800) |> where price % 3 == 0 |> tee csv("seen.csv") |> select auction, price |> into jsonl("out.jsonl.gz")`},
	{name: "limit", ordered: true, script: `csv("in.csv") |> where n % 2 == 1 |> limit 400 |> into csv("out.csv")`},
	{name: "first", ordered: true, script: `stream b = nexmark("bid", events: 1_000)
b |> limit 40 |> into csv("first.csv")
b |> where price % 2 == 0 |> into csv("out.csv")`},
	{name: "sparse", script: `source b = csv("sparse.csv") time at lag 10ms
b |> where id % 29 == 0 |> aggregate n = count(), m = median(id) by k window tumbling(50ms) |> into csv("out.csv")`},
	{name: "behind", ordered: true, script: `csv("in.csv") |> where n % 3 != 0 |> into csv("log.csv", append: true)`},
	{name: "sort", ordered: true, script: `nexmark("bid", events: 1_000) |> sort by price desc, date_time, bidder window tumbling(20ms) |> select price, bidder |> into csv("out.csv")`},
	{name: "sample", script: `nexmark("bid", events: 1_200) |> sample 0.5 |> aggregate n = count() by channel |> into csv("out.csv")`},
	{name: "errors", ordered: true, script: `csv("in.csv") |> derive d = div(60, n % 5) on_error into bad |> into csv("out.csv")
bad |> select raw |> into jsonl("bad.jsonl")`},
	{name: "parts", script: `nexmark("bid", events: 1_200) |> select auction, price, channel |> into csv("days", partition_by: {digit: price % 7})`},
	{name: "several", script: `nexmark("bid", events: 1_200) |> split {
    when price % 2 == 0 => even
    when price % 3 == 0 => jsonl("threes.jsonl.gz")
    else => rest
}
rest |> select line = url |> into lines("rest.txt")
even |> tee csv("even.csv") |> select price, channel |> into jsonl("days", partition_by: {digit: price % 7})`},
	{name: "packed parts", script: `nexmark("bid", events: 1_200) |> split {
    when price % 2 == 0 => csv("days", partition_by: {digit: price % 10}, compression: "gzip")
    else => jsonl("nights", partition_by: {digit: price % 5}, compression: "zstd")
}`},
	{name: "many parts", script: `nexmark("bid", events: 600) |> select auction, price |> into csv("days", partition_by: {digit: price % 41})`},
	{name: "packed", ordered: true, script: `csv("in.csv.gz") |> where n > 10 |> into csv("out.csv.gz")`},
	{name: "zstd", ordered: true, script: `csv("in.csv") |> where n % 3 != 1 |> into csv("out.csv.zst")`},
	{name: "paced", timed: true, script: `source g = generate({id: "sequence", at: "time", v: "int 1..9"}, count: 150, rate: 15_000, step: 10ms) time at lag 10ms idle 30us
g |> aggregate n = count(), s = sum(v) by v window tumbling(100ms) |> into csv("out.csv")`},
	{name: "two sources", script: `source a = generate({id: "sequence", at: "time", v: "int 1..9"}, count: 400, step: 10ms, disorder: 50ms) time at lag 50ms
source b = generate({id: "sequence", at: "time", v: "int 1..9"}, count: 200, step: 20ms, rate: 100_000, seed: 7) time at lag 10ms
a |> union b |> aggregate n = count(), s = sum(v) by v window tumbling(200ms) |> into csv("out.csv")`, timed: true},
}

// inputs are files that jobs read.
func inputs(j job) map[string]string {
	files := map[string]string{}
	for name, text := range j.files {
		files[name] = text
	}
	uses := func(name string) bool { return strings.Contains(j.script, `"`+name+`"`) }
	if uses("in.csv") || uses("in.csv.gz") {
		var in strings.Builder
		in.WriteString("n,s\n")
		for i := range 1000 {
			fmt.Fprintf(&in, "%d,%s\n", i, strings.Repeat("x", 1+i%9))
		}
		files["in.csv"] = in.String()
		if uses("in.csv.gz") {
			files["in.csv.gz"] = packed(in.String())
		}
	}
	if uses("part*.csv") {
		for k := range 3 {
			var in strings.Builder
			in.WriteString("n,s\n")
			for i := range 120 {
				fmt.Fprintf(&in, "%d,\"a\n%s,\"\"%d\"\"\"\n", k*1000+i, strings.Repeat("y\n", i%4), i)
			}
			files[fmt.Sprintf("part%d.csv", k)] = in.String()
		}
	}
	if uses("sparse.csv") {
		var in strings.Builder
		in.WriteString("id,k,at\n")
		for i := range 700 {
			fmt.Fprintf(&in, "%d,k%d,%s\n", i, i%7, time.UnixMilli(int64(1_700_000_000_000+i*3-i%5*4)).UTC().Format(time.RFC3339Nano))
		}
		files["sparse.csv"] = in.String()
	}
	if uses("in.jsonl") {
		var in strings.Builder
		for i := range 300 {
			fmt.Fprintf(&in, "{\"n\":%d,\"tags\":[%s]}\n", i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("\"t%d\",", i%5), i%4), ","))
		}
		files["in.jsonl"] = in.String()
	}
	return files
}

// randomJob is a script that a seed decides: what planner's TestRandomScripts compares with a naive evaluator, in small.
func randomJob(seed uint64) job {
	r := rand.New(rand.NewPCG(seed, 77))
	j := job{name: "random", files: map[string]string{}}
	t := 1_700_000_000_000
	for f := range 1 + r.IntN(3) {
		var in strings.Builder
		in.WriteString("id,k,v,s,at\n")
		for i := range 1 + r.IntN(120) {
			t += r.IntN(3000)
			k := pick(r, "a", "b", "c", "", `"d""e"`)
			fmt.Fprintf(&in, "%d,%s,%s,%s,%s\n", f*1000+i, k, pick(r, "", "1", "2", "0", "7", "-3"), pick(r, "x", "xyz", `"A, b"`, `"two`+"\n"+`lines"`), time.UnixMilli(int64(t-r.IntN(15_000))).UTC().Format(time.RFC3339Nano))
		}
		j.files[fmt.Sprintf("e%d.csv", f)] = in.String()
	}
	lag := r.IntN(10)
	var s strings.Builder
	fmt.Fprintf(&s, "source e = csv(\"e*.csv\") schema { id: int, k: string?, v: int?, s: string?, at: time } time at lag %ds\n", lag)
	stage := func() string {
		return pick(r, "where v == nil or v < 5", `where s contains "x"`, "where id % 3 != 0", "derive v = v * 2 - 1", `derive s = upper(s)`, "derive v = div(60, v) on_error drop", `derive k = upper(k)`)
	}
	s.WriteString("stream a = e")
	for range r.IntN(3) {
		s.WriteString(" |> " + stage())
	}
	s.WriteString(" |> select id, k = k ?? \"none\", v, s\n")
	last := "a"
	switch r.IntN(4) {
	case 0:
		fmt.Fprintf(&s, "stream b = a |> %s\nstream c = a |> %s\nstream d = b |> union c\n", stage(), stage())
		last = "d"
	case 1:
		fmt.Fprintf(&s, "a |> split {\n    when v > 1 => yes\n    else => no\n}\nyes |> %s |> into d\nno |> %s |> into d\n", stage(), stage())
		last = "d"
	case 2:
		fmt.Fprintf(&s, "a |> where v == 7 |> into csv(\"sevens.csv\")\n")
	}
	by := pick(r, "", " by k", " by v", " by k, v")
	calls := pick(r, "n = count()", "n = count(), s = sum(v)", "d = distinct(s), m = max(v)", "q = median(v), n = count()")
	window := pick(r, "", " window tumbling(10s)", " window hopping(10s, every: 4s)", " window cumulate(12s, step: 3s)", " window session(2s)")
	late := ""
	if window != "" {
		late = pick(r, "", " late drop", " late into behind")
	}
	switch r.IntN(6) {
	case 0:
		fmt.Fprintf(&s, "%s |> into csv(\"out.csv\")\n", last)
	case 1:
		fmt.Fprintf(&s, "%s |> unnest [v, id] as x |> into csv(\"out.csv\", partition_by: k)\n", last)
	case 2:
		fmt.Fprintf(&s, "%s |> sort by v desc, id, s, k |> into jsonl(\"out.jsonl\")\n", last)
		j.ordered = true
	case 3:
		fmt.Fprintf(&s, "%s |> aggregate %s%s%s%s |> aggregate groups = count() |> into csv(\"out.csv\")\n", last, calls, by, window, late)
	default:
		fmt.Fprintf(&s, "%s |> aggregate %s%s%s%s |> into csv(\"out.csv\")\n", last, calls, by, window, late)
	}
	if strings.Contains(s.String(), "into behind") {
		s.WriteString("behind |> select id |> into jsonl(\"late.jsonl\")\n")
	}
	j.script = s.String()
	return j
}

func pick[T any](r *rand.Rand, xs ...T) T { return xs[r.IntN(len(xs))] }
