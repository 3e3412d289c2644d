package conn

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Conn{
	Doc: spec.Doc{
		Name:      "generate",
		Group:     "generators",
		Signature: `generate({NAME: WHAT, …}, count: int, rate: number, seed: int, …)`,
		Text: "Makes rows for trying things out: the same ones at every run, at any parallelism. " +
			"What a field is to hold is a text, a list to choose from (a value that stands twice comes twice as often), a record of further fields, or a constant. " +
			"The texts are " + genForms() + ". " +
			`Any of them may end in "null SHARE", as in "int 1..100 null 0.1". ` +
			`With a field "time" the rows have an event time: it begins at "start" and moves on by "step" from row to row, ` +
			`less a random part of "disorder", which is the lag of the source; of the rows the share "late" comes later still, by up to "late_by".`,
		Examples: []spec.Example{
			{Code: `generate({id: "sequence", at: "time"}, count: 3, step: 1m) |> select id, at`,
				Want: `{"id":1,"at":"2026-01-01T00:00:00Z"}
{"id":2,"at":"2026-01-01T00:01:00Z"}
{"id":3,"at":"2026-01-01T00:02:00Z"}`},
			{Code: `generate({city: ["Rome", "Oslo"], price: "int 1..9"}, count: 1000)
    |> aggregate n = count(), low = min(price), high = max(price)`,
				Want: `{"n":1000,"low":1,"high":9}`},
		},
	},
	ConnSig: types.ConnSig{
		Name:   "generate",
		Source: true,
		Params: []types.ConnParam{
			{Name: "fields", Type: types.T(types.Any), Required: true, Literal: true, Text: `what each field holds, as in {id: "sequence", city: ["Rome", "Oslo"]}`},
			{Name: "count", Type: types.T(types.Int), Text: "how many rows; without it the source never ends"},
			{Name: "rate", Type: types.T(types.Float), Default: 0.0, Text: "rows per second of wall time; 0 is as fast as they are wanted. It never changes the values"},
			{Name: "seed", Type: types.T(types.Int), Default: int64(1), Text: "another seed makes other rows"},
			{Name: "start", Type: types.T(types.Time), Default: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano(), Text: "event time of the first row"},
			{Name: "step", Type: types.T(types.Duration), Text: "event time from row to row; without it as the rate says, else 1s"},
			{Name: "disorder", Type: types.T(types.Duration), Default: int64(0), Text: "how much a row may be behind"},
			{Name: "late", Type: types.T(types.Float), Default: 0.0, Text: "share of rows that are further behind than the lag of the source"},
			{Name: "late_by", Type: types.T(types.Duration), Default: int64(time.Minute), Text: "how much further at most"},
		},
	},
	Info: func(a *types.ConnArgs, declared *types.Schema, _ *exec.Env) (types.SourceInfo, error) {
		g, err := newGenerator(a)
		if err != nil {
			return types.SourceInfo{}, misuse(err)
		}
		if declared != nil && !declared.Equal(g.schema) {
			return types.SourceInfo{}, misuse(fmt.Errorf("generate says itself what its fields hold: leave out `schema`; it is %s", g.schema))
		}
		return types.SourceInfo{Schema: g.schema, Time: g.time, Lag: g.clock.disorder, Bounded: g.count >= 0}, nil
	},
	Loose:   looseRate,
	Reached: madeReached,
	Open: func(s *spec.Scan) ([]exec.Source, error) {
		g, err := newGenerator(s.Args)
		if err != nil {
			return nil, err
		}
		return made{ticks: g.count, chunk: generatedChunk, rate: g.rate, maker: func() maker {
			return &generateMaker{generator: g, columns: s.Columns}
		}}.open(s)
	},
})

// looseRate: the rate shapes event time where no step is given.
func looseRate(a *types.ConnArgs) []string {
	if a.Args["step"] == nil && strings.Contains(fmt.Sprint(a.Args["fields"]), "time") {
		return nil
	}
	return []string{"rate"}
}

// generatedChunk is small enough that a batch of usual strings stays in the cache.
const generatedChunk = 2048

// generator is one checked use of generate.
type generator struct {
	fields []genNamed
	schema types.Schema
	count  int64
	rate   float64
	clock  genClock
	time   string // name of the event time
}

func newGenerator(a *types.ConnArgs) (*generator, error) {
	record, ok := a.Args["fields"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf(`fields: a record is wanted that says what each field holds, as in {id: "sequence", price: "float 1..100"}`)
	}
	seed := uint64(integer(a.Args["seed"], 1))
	fields, err := genFields("", record, a.Types["fields"], seed)
	if err != nil {
		return nil, err
	}
	g := &generator{fields: fields, count: integer(a.Args["count"], -1), rate: number(a.Args["rate"], 0)}
	for _, f := range fields {
		g.schema.Fields = append(g.schema.Fields, types.Field{Name: f.name, Type: f.field.typ})
		if f.field.clock && g.time == "" && f.field.nulls == 0 {
			g.time = f.name
		}
	}
	late := number(a.Args["late"], 0)
	k := &g.clock
	*k = genClock{
		start: integer(a.Args["start"], 0), step: integer(a.Args["step"], int64(time.Second)),
		disorder: integer(a.Args["disorder"], 0), late: share(late), lateBy: integer(a.Args["late_by"], int64(time.Minute)),
		seed: mix64(seed ^ rowSalt), lateSeed: mix64(seed ^ nullSalt),
	}
	if a.Args["step"] == nil && g.rate > 0 {
		k.step = int64(1e9 / g.rate)
	}
	switch {
	case a.Args["count"] != nil && (g.count < 0 || g.count > mostEvents):
		return nil, fmt.Errorf("count: %d is not a number of rows from 0 to %d", g.count, int64(mostEvents))
	case !(g.rate >= 0 && g.rate <= 1e9):
		return nil, fmt.Errorf("rate: %v is not a number of rows per second; 0 is as fast as they are wanted", g.rate)
	case k.step < 0 || g.count > 0 && k.step > 0 && g.count > (math.MaxInt64-max(k.start, 0))/k.step:
		return nil, fmt.Errorf("step: event time does not go back, nor beyond the year 2262; %s does not do", types.FormatDuration(k.step))
	case k.disorder < 0 || k.disorder > int64(100*365*24*time.Hour):
		return nil, fmt.Errorf("disorder: it is from 0s to a hundred years, not %s", types.FormatDuration(k.disorder))
	case !(late >= 0 && late <= 1):
		return nil, fmt.Errorf("late: %v is not a share from 0 to 1", late)
	case k.lateBy <= 0 || k.lateBy > int64(100*365*24*time.Hour):
		return nil, fmt.Errorf("late_by: it is from 1ns to a hundred years, not %s", types.FormatDuration(k.lateBy))
	}
	return g, nil
}

// generateMaker makes the rows of one task.
type generateMaker struct {
	*generator
	columns []int
}

func (g *generateMaker) make(from, to int64) ([]*vec.Column, int) {
	n := int(to - from)
	out := make([]*vec.Column, len(g.columns))
	for i, c := range g.columns {
		out[i] = g.fields[c].field.column(from, n, &g.clock)
	}
	return out, n
}

// genForms lists the texts for the documentation.
func genForms() string {
	parts := make([]string, len(genKinds))
	for i, k := range genKinds {
		parts[i] = fmt.Sprintf("%q (%s)", k.form, k.text)
	}
	return strings.Join(parts, ", ")
}
