package stdlib

import "github.com/ebb-lang/ebb/stdlib/spec"

// The words of the grammar: they are defined in lang/syntax, and described here for the manual, the session and editors.

// words are the statements, clauses and windows, and the functions that the language itself has.
var words = map[string][]spec.Doc{
	"statement": {
		{Name: "source", Group: "rows", Signature: "source NAME = CONNECTOR(…) [schema {…}] [time EXPR [lag DUR] [idle DUR]] [key COLUMNS] [on_error …]",
			Text: "An input that has a name. With `time` its rows have an event time, which windows need; with `key` it is a table: the latest row of each key.",
			Examples: []spec.Example{{Code: `source orders = csv("orders.csv") schema { id: int, customer: string, amount: float }
orders |> where amount > 50`,
				Want: `{"id":2,"customer":"bob","amount":99}`}}},
		{Name: "stream", Group: "rows", Signature: "stream NAME = PIPELINE", Text: "Rows that have a name, to be read by other pipelines. One that is read twice is computed once.",
			Examples: []spec.Example{{Code: `stream large = csv("orders.csv") |> where amount > 50
large |> select id, customer`,
				Want: `{"id":2,"customer":"bob"}`}}},
		{Name: "sink", Group: "rows", Signature: "sink NAME = CONNECTOR(…) [schema {…}]", Text: "An output that has a name; several streams may go `into` it.",
			Examples: []spec.Example{{Code: `sink all = jsonl("-")
rows([{n: 1}]) |> into all`,
				Want: `{"n":1}`}}},
		{Name: "param", Group: "names", Signature: "param NAME: TYPE = VALUE",
			Text: "A value from the command line: `--set NAME=VALUE`. Without a default it must be given.",
			Examples: []spec.Example{{Code: `param least: float = 50.0
csv("orders.csv") |> where amount > least |> select id`,
				Want: `{"id":2}`}}},
		{Name: "let", Group: "names", Signature: "let NAME = EXPR", Text: "A constant.",
			Examples: []spec.Example{{Code: `let vat = 0.25
rows([{net: 10.0}]) |> derive gross = net * (1 + vat)`,
				Want: `{"net":10,"gross":12.5}`}}},
		{Name: "fn", Group: "names", Signature: "fn NAME(a: TYPE, …) = EXPR", Text: "A function of its parameters. It sees constants, but no columns: they are passed to it.",
			Examples: []spec.Example{{Code: `fn gross(net: float) = net * 1.25
rows([{net: 10.0}]) |> derive total = gross(net)`,
				Want: `{"net":10,"total":12.5}`}}},
		{Name: "pipe", Group: "names", Signature: "pipe NAME(a: TYPE, …) = STAGES", Text: "Stages that have a name, used as `|> NAME(…)`.",
			Examples: []spec.Example{{Code: `pipe above(least: int) = where n > least |> limit 1
rows([{n: 1}, {n: 7}]) |> above(5)`,
				Want: `{"n":7}`}}},
		{Name: "use", Group: "names", Signature: `use "FILE"`,
			Text: "The params, constants, functions, pipes, sources, sinks and streams of another file under their own names. The path is relative to this file."},
		{Name: "set", Group: "jobs", Signature: "set KEY = VALUE",
			Text: "A setting of the job: `parallelism`, `checkpoint.interval`, `checkpoint.mode`, `checkpoint.dir` and others. Flags of the command line win.",
			Examples: []spec.Example{{Code: `set parallelism = 1
rows([{n: 1}]) |> where n > 0`,
				Want: `{"n":1}`}}},
		{Name: "test", Group: "jobs", Signature: `test "what" { given SOURCE = ROWS … expect STREAM = ROWS … }`,
			Text: "Rows that are given, and rows that are expected; `ebb test` runs it. See docs/testing.md."},
	},
	"clause": {
		{Name: "schema", Group: "sources", Signature: "schema { NAME: TYPE, … }",
			Text: "The columns of a source and their types; without it CSV and JSON are looked at first. Types are bool, int, float, string, bytes, time, duration, `[T]`, `{a: T}` and `T?`, which may be null; `time(ms)` is a number, `time(\"02/Jan/2006\")` a text.",
			Examples: []spec.Example{{Code: `csv("orders.csv") schema { id: int, amount: float? } |> where amount > 50`,
				Want: `{"id":2,"amount":99}`}}},
		{Name: "time", Group: "sources", Signature: "time EXPR [lag DUR] [idle DUR]",
			Text: "The event time of the rows of a source. The watermark is the highest event time less the lag: no row before it is expected, and a window closes when it reaches the end.",
			Examples: []spec.Example{{Code: `source bids = rows([{price: 3, at: @2026-01-31T09:00:01Z}, {price: 9, at: @2026-01-31T09:00:59Z}])
    time at lag 5s
bids |> aggregate best = max(price) window tumbling(1m) |> select best`,
				Want: `{"best":9}`}}},
		{Name: "lag", Group: "sources", Signature: "time EXPR lag DUR",
			Text: "How far rows may come behind the highest event time: the watermark is that much lower. Without it each row that is older than the one before may be late.",
			Examples: []spec.Example{{Code: `source bids = rows([{at: @2026-01-31T09:01:01Z}, {at: @2026-01-31T09:00:59Z}]) time at lag 5s
bids |> aggregate n = count() window tumbling(1m) |> select n`,
				Want: `{"n":1}
{"n":1}`}}},
		{Name: "idle", Group: "sources", Signature: "time EXPR [lag DUR] idle DUR",
			Text: "How long a source may be silent before the others go on without it: its watermark then holds theirs back no longer.",
			Examples: []spec.Example{{Code: `source bids = rows([{at: @2026-01-31T09:00:01Z}]) time at lag 5s idle 1m
bids |> aggregate n = count() window tumbling(1m) |> select n`,
				Want: `{"n":1}`}}},
		{Name: "key", Group: "sources", Signature: "key COLUMN, …", Text: "The columns that tell the rows of a source apart: it is a table then, the latest row of each key."},
		{Name: "by", Group: "stages", Signature: "by [NAME =] EXPR, …", Text: "The keys of groups, or the order of rows: `sort by amount desc`.",
			Examples: []spec.Example{{Code: `csv("orders.csv") |> aggregate n = count() by customer |> sort by customer desc`,
				Want: `{"customer":"bob","n":1}
{"customer":"ada","n":1}`}}},
		{Name: "as", Group: "stages", Signature: "as NAME", Text: "What `unnest` calls the elements. Columns get their names with `=`.",
			Examples: []spec.Example{{Code: `rows([{id: 1, tags: ["a", "b"]}]) |> unnest tags as tag |> select id, tag`,
				Want: `{"id":1,"tag":"a"}
{"id":1,"tag":"b"}`}}},
		{Name: "window", Group: "stages", Signature: "window tumbling(1m) | hopping(10m, every: 1m) | cumulate(1d, step: 1h) | session(30m) | count(100)",
			Text: "Pieces of event time, `[start, end)`; a group has a row for each. One comes out when the watermark reaches its end. `offset:` shifts them, `clock: \"processing\"` counts the machine's time.",
			Examples: []spec.Example{{Code: `source bids = rows([{at: @2026-01-31T09:00:01Z}, {at: @2026-01-31T09:01:59Z}]) time at
bids |> aggregate n = count() window tumbling(1m) |> select window.start, n`,
				Want: `{"start":"2026-01-31T09:00:00Z","n":1}
{"start":"2026-01-31T09:01:00Z","n":1}`}}},
		{Name: "emit", Group: "stages", Signature: "emit final | emit changes [every DUR]",
			Text: "When a group comes out. `final`: once, when its window closes. `changes`: early, and again as rows come; the stream is updating, and `_change` says what a row does.",
			Examples: []spec.Example{{Code: `rows([{k: "a", v: 1}, {k: "a", v: 2}]) |> aggregate total = sum(v) by k emit changes`,
				Want: `{"_change":"+I","k":"a","total":3}`}}},
		{Name: "late", Group: "stages", Signature: "late drop | late into TARGET | late allow DUR",
			Text: "What becomes of rows whose window had closed when they were read. `drop`, the default, counts them; `into` sends them elsewhere; `allow` keeps windows open that long and revises them.",
			Examples: []spec.Example{{Code: `source bids = rows([{at: @2026-01-31T09:05:00Z}, {at: @2026-01-31T09:00:00Z}]) time at lag 5s
bids |> aggregate n = count() window tumbling(1m) late into behind |> into blackhole()
behind`,
				Want: `{"at":"2026-01-31T09:00:00Z"}`}}},
		{Name: "retain", Group: "stages", Signature: "retain DUR | retain forever", Text: "How long the state of a key is kept after its last row; `forever` says that you mean it.",
			Examples: []spec.Example{{Code: `source bids = rows([{k: 1, at: @2026-01-31T09:05:00Z}]) time at lag 5s
bids |> aggregate n = count() by k retain 1h`,
				Want: `{"k":1,"n":1}`}}},
		{Name: "into", Group: "stages", Signature: "into TARGET", Text: "Where rows go, behind `late` and `on_error`: a connector, a sink, or a name, which is a stream then."},
		{Name: "on_error", Group: "stages", Signature: "on_error fail | on_error drop | on_error into TARGET",
			Text: "What becomes of rows that fail, in a stage or a source. `fail`, the default, ends the run; `into` sends elsewhere what failed, where and why.",
			Examples: []spec.Example{{Code: `rows([{n: 1}, {n: 0}]) |> derive x = div(6, n) on_error drop`,
				Want: `{"n":1,"x":6}`}}},
		{Name: "given", Group: "tests", Signature: "given SOURCE = ROWS", Text: "Rows that the source gives."},
		{Name: "expect", Group: "tests", Signature: `expect [ordered|changes] STREAM = ROWS | expect error "text"`, Text: "What must have come out."},
		{Name: "advance", Group: "tests", Signature: "advance DUR", Text: "Move processing time on."},
		{Name: "checkpoint", Group: "tests", Signature: "checkpoint", Text: "Take a checkpoint."},
		{Name: "crash", Group: "tests", Signature: "crash", Text: "End the run where it stands, without goodbye."},
		{Name: "restore", Group: "tests", Signature: "restore [parallelism N]", Text: "Go on from the newest checkpoint."},
		{Name: "rollback", Group: "tests", Signature: "rollback", Text: "Go back to a checkpoint, the outputs too."},
	},
	"window": {
		{Name: "tumbling", Group: "time", Signature: "window tumbling(SIZE)", Text: "One window after the other: each row is in one.",
			Examples: []spec.Example{{Code: times + "bids |> aggregate n = count() window tumbling(1m) |> select window.start, n",
				Want: `{"start":"2026-01-31T09:00:00Z","n":2}
{"start":"2026-01-31T09:02:00Z","n":1}`}}},
		{Name: "hopping", Group: "time", Signature: "window hopping(SIZE, every: DUR)", Text: "A window of the size begins at each step: a row is in several.",
			Examples: []spec.Example{{Code: times + "bids |> aggregate n = count() window hopping(2m, every: 1m) |> select window.start, n",
				Want: `{"start":"2026-01-31T08:59:00Z","n":2}
{"start":"2026-01-31T09:00:00Z","n":2}
{"start":"2026-01-31T09:01:00Z","n":1}
{"start":"2026-01-31T09:02:00Z","n":1}`}}},
		{Name: "cumulate", Group: "time", Signature: "window cumulate(SIZE, step: DUR)", Text: "Windows that grow, step by step, from one start up to the size.",
			Examples: []spec.Example{{Code: times + "bids |> aggregate n = count() window cumulate(3m, step: 1m) |> select window.end, n",
				Want: `{"end":"2026-01-31T09:01:00Z","n":2}
{"end":"2026-01-31T09:02:00Z","n":2}
{"end":"2026-01-31T09:03:00Z","n":3}`}}},
		{Name: "session", Group: "time", Signature: "window session(GAP[, max: DUR])", Text: "Rows of a key with no pause longer than the gap.",
			Examples: []spec.Example{{Code: times + "bids |> aggregate n = count() window session(30s) |> select window.start, n",
				Want: `{"start":"2026-01-31T09:00:10Z","n":2}
{"start":"2026-01-31T09:02:00Z","n":1}`}}},
		{Name: "count", Group: "rows", Signature: "window count(N)", Text: "So many rows of a key; the last, incomplete one comes out at the end.",
			Examples: []spec.Example{{Code: `rows([{n: 1}, {n: 2}, {n: 3}]) |> aggregate total = sum(n) window count(2) |> select total`,
				Want: `{"total":3}
{"total":3}`}}},
	},
	"func": {
		{Name: "now", Group: "time", Signature: "now() -> time", Text: "The time of the machine when the row is processed, so another one each time the row is. The time of the row is `event_time()`.",
			Examples: []spec.Example{{Code: `rows([{at: @2026-01-31}]) |> select past = at < now()`, Want: `{"past":true}`}}},
		{Name: "event_time", Group: "time", Signature: "event_time() -> time", Text: "The event time of the row, which the clause `time` of its source gives it. In an aggregate it stands inside: `max(event_time())`.",
			Examples: []spec.Example{{Code: `source bids = rows([{price: 3, at: @2026-01-31T09:00:01Z}]) time at
bids |> select price, t = event_time()`, Want: `{"price":3,"t":"2026-01-31T09:00:01Z"}`}}},
		{Name: "env", Group: "text", Signature: "env(name: string) -> string?", Text: "A variable of the environment, null if it is not set. It is a constant, so it may stand in `let`, `param` and options.",
			Examples: []spec.Example{{Code: `let region = env("NO_SUCH_VARIABLE") ?? "eu"
rows([{id: 7}]) |> derive region = region`, Want: `{"id":7,"region":"eu"}`}}},
	},
}

// times is a source for the examples of windows.
const times = `source bids = rows([
    {at: @2026-01-31T09:00:10Z},
    {at: @2026-01-31T09:00:30Z},
    {at: @2026-01-31T09:02:00Z}
])
    time at
`
