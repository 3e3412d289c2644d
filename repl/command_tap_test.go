package repl

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTap(t *testing.T) {
	b := newBench(t)
	require.Contains(t, b.refused(".tap odd"), "there is no job")
	b.do(`source s = generate({user: "int 1..3", n: "sequence", spare: "int 1..9"}, rate: 2000)`,
		`fn double(x: int) = 2 * x`,
		`stream odd = s |> where n % 2 == 1 |> derive d = double(n)`,
		`stream totals = odd |> aggregate c = count() by user`,
		`stream large = totals |> where c > 3`,
		`stream spares = s |> select n, spare`, `spares |> select n |> into csv("n.csv")`,
		`odd |> select user, d |> into jsonl("odd.jsonl")`,
		`large |> into jsonl("large.jsonl", changes: true)`, ".run", ".mode jsonl")
	require.Contains(t, b.refused(".tap"), "usage: .tap STREAM")
	require.Contains(t, b.refused(".tap od"), "has no stream or source od; did you mean odd?")
	require.Contains(t, b.refused(".tap odd limit"), "usage: .tap STREAM")
	err := b.refused(".tap odd where m > 3 limit 2")
	require.Contains(t, err, "unknown column `m`")
	require.Contains(t, err, "|> where m > 3\n")
	require.Contains(t, err, "^")

	rows := func(out string) []string {
		var l []string
		for _, x := range strings.Split(out, "\n") {
			if strings.HasPrefix(x, "{") {
				l = append(l, x)
			}
		}
		return l
	}
	got := rows(b.do(".tap odd limit 3"))
	require.Len(t, got, 3)
	require.Regexp(t, `^\{"user":[123],"n":[0-9]*[13579],"d":[0-9]+\}$`, got[0])
	got = rows(b.do(".tap -j 1 odd where user == 2 limit 3"))
	require.Len(t, got, 3)
	for _, x := range got {
		require.Contains(t, x, `"user":2,`)
	}
	require.Len(t, rows(b.do(".tap s where n > 3 limit 2")), 2)
	got = rows(b.do(".tap totals limit 4"))
	require.Len(t, got, 4)
	require.Contains(t, strings.Join(got, ""), `"+U"`)
	require.Len(t, rows(b.do(".tap large where user == 1 limit 2")), 2)

	// What the job does not carry is said.
	out := b.do(".tap spares limit 1")
	require.Contains(t, out, "job 1 (repl) does not carry spare, which nothing written reads: shown as null\n")
	require.Regexp(t, `"spare":null`, out)

	// The job goes on as before, and a tap that is over costs nothing.
	at := b.jobs[0].Totals().RowsOut
	require.Eventually(t, func() bool { return b.jobs[0].Totals().RowsOut > at }, time.Minute, time.Millisecond)
	b.desk.stop <- struct{}{} // from before: it does not end what comes next
	require.Len(t, rows(b.do(".tap s limit 2")), 2)
	b.do(".stop")
	require.Contains(t, b.refused(".tap s"), "job 1 (repl) is stopped")
}
