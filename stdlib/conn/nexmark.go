package conn

import (
	"fmt"
	"time"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Conn{
	Doc: spec.Doc{
		Name:      "nexmark",
		Group:     "generators",
		Signature: `nexmark("bid" | "auction" | "person" | "all", events: int, rate: number, …)`,
		Text: `Makes the events of the Nexmark benchmark: an auction house with persons, auctions and bids. ` +
			`Of each 50 events one is a person, three are auctions and 46 are bids; "events" counts all of them, whichever kind is read. ` +
			`The events are always the same: those of the Rust crate "nexmark", byte for byte. ` +
			`The source brings its columns and its event time with it, "time date_time lag 1s". ` +
			`Persons are {id, name, email_address, credit_card, city, state, date_time, extra}, ` +
			`auctions {id, item_name, description, initial_bid, reserve, date_time, expires, seller, category, extra}, ` +
			`bids {auction, bidder, price, channel, url, date_time, extra}; prices are in cents. ` +
			`"all" is one stream of {event, date_time, person, auction, bid}: event is the kind, and the record of that kind is not null.`,
		Examples: []spec.Example{
			{Code: `nexmark("bid", events: 7) |> select auction, bidder, price, date_time`,
				Want: `{"auction":1000,"bidder":1001,"price":73134520,"date_time":"2023-11-14T23:51:40Z"}
{"auction":1000,"bidder":1001,"price":499920,"date_time":"2023-11-14T23:51:40.001Z"}
{"auction":1000,"bidder":1001,"price":1940,"date_time":"2023-11-14T23:51:40.001Z"}`},
			{Code: `nexmark("all", events: 5) |> aggregate n = count() by event |> sort by event asc`,
				Want: `{"event":"auction","n":3}
{"event":"bid","n":1}
{"event":"person","n":1}`},
		},
	},
	ConnSig: types.ConnSig{
		Name:   "nexmark",
		Source: true,
		Params: []types.ConnParam{
			{Name: "kind", Type: types.T(types.String), Required: true, Text: `which events: "bid", "auction", "person" or "all"`},
			{Name: "events", Type: types.T(types.Int), Text: "how many events of all kinds; without it the source never ends"},
			{Name: "rate", Type: types.T(types.Float), Default: 0.0, Text: "events per second of wall time; 0 is as fast as they are wanted. It never changes the rows"},
			{Name: "first", Type: types.T(types.Int), Default: int64(0), Text: "number of the first event: the stream goes on as if those before it had been made"},
			{Name: "disorder", Type: types.T(types.Int), Default: int64(1), Text: "size of the groups in which events are out of order; 1 is none"},
			{Name: "base_time", Type: types.T(types.Time), Default: int64(1_700_005_900_000 * 1e6), Text: "time of event 0, in whole milliseconds"},
			{Name: "density", Type: types.T(types.Float), Default: 10_000.0, Text: "events per second of event time"},
			{Name: "hot_auctions", Type: types.T(types.Int), Default: int64(2), Text: "one bid in so many goes to any auction, the others to the hot one"},
			{Name: "hot_bidders", Type: types.T(types.Int), Default: int64(4), Text: "one bid in so many comes from anybody, the others from the hot bidder"},
			{Name: "hot_sellers", Type: types.T(types.Int), Default: int64(4), Text: "one auction in so many is anybody's, the others the hot seller's"},
		},
	},
	Info: func(a *types.ConnArgs, declared *types.Schema, _ *exec.Env) (types.SourceInfo, error) {
		n, err := newNexmark(a)
		if err != nil {
			return types.SourceInfo{}, misuse(err)
		}
		if declared != nil {
			return types.SourceInfo{}, misuse(fmt.Errorf("nexmark brings its own columns: leave out `schema`; they are %s", n.schema))
		}
		return types.SourceInfo{Schema: n.schema, Time: "date_time", Lag: int64(time.Second), Bounded: n.model.events >= 0}, nil
	},
	Loose:   func(*types.ConnArgs) []string { return []string{"rate"} },
	Reached: madeReached,
	Open: func(s *spec.Scan) ([]exec.Source, error) {
		n, err := newNexmark(s.Args)
		if err != nil {
			return nil, err
		}
		return made{ticks: n.model.events, chunk: n.chunk, rate: n.rate, maker: func() maker {
			return &nexmarkMaker{nexmark: n, columns: s.Columns}
		}}.open(s)
	},
})

// Kinds of events.
const (
	nexmarkPerson = iota
	nexmarkAuction
	nexmarkBid
	nexmarkAll
)

// nexmarkRowsAtOnce is the size of a batch: 2,048 bids take about 350 KiB and stay in the cache.
const nexmarkRowsAtOnce = 2048

// nexmark is one checked use of the generator.
type nexmark struct {
	kind   int
	model  nexmarkModel
	rate   float64
	schema types.Schema
	chunk  int64
}

var nexmarkKinds = [...]struct {
	name   string
	fields []types.Field
	write  nexmarkRows
	first  int64 // of an epoch's events
	count  int64
}{
	{"person", personFields, writePersons, 0, 1},
	{"auction", auctionFields, writeAuctions, 1, nexmarkAuctions},
	{"bid", bidFields, writeBids, 1 + nexmarkAuctions, nexmarkBids},
	{"all", []types.Field{
		{Name: "event", Type: types.T(types.String)}, {Name: "date_time", Type: types.T(types.Time)},
		{Name: "person", Type: types.RecordOf(personFields...).Null()},
		{Name: "auction", Type: types.RecordOf(auctionFields...).Null()},
		{Name: "bid", Type: types.RecordOf(bidFields...).Null()},
	}, nil, 0, nexmarkEpoch},
}

// mostEvents bounds the numbers of events: positions have 40 bits.
const mostEvents = 1 << 40

func newNexmark(a *types.ConnArgs) (*nexmark, error) {
	n := &nexmark{kind: -1, rate: number(a.Args["rate"], 0)}
	name, _ := a.Args["kind"].(string)
	for i, k := range nexmarkKinds {
		if k.name == name || k.name+"s" == name {
			n.kind, n.schema = i, types.NewSchema(k.fields...)
			n.chunk = nexmarkRowsAtOnce / k.count * nexmarkEpoch
		}
	}
	if n.kind < 0 {
		return nil, fmt.Errorf("nexmark has no events %q; there are \"bid\", \"auction\", \"person\" and \"all\"", name)
	}
	m := &n.model
	density := number(a.Args["density"], 10_000)
	m.events = integer(a.Args["events"], -1)
	m.first = integer(a.Args["first"], 0)
	m.group = integer(a.Args["disorder"], 1)
	m.base = integer(a.Args["base_time"], 1_700_005_900_000*1e6)
	m.interval = 1e6 / float32(density)
	m.hotAuctions = integer(a.Args["hot_auctions"], 2)
	m.hotBidders = integer(a.Args["hot_bidders"], 4)
	m.hotSellers = integer(a.Args["hot_sellers"], 4)
	switch {
	case a.Args["events"] != nil && (m.events < 0 || m.events > mostEvents):
		return nil, fmt.Errorf("events: %d is not a number of events from 0 to %d", m.events, int64(mostEvents))
	case m.first < 0 || m.first > mostEvents:
		return nil, fmt.Errorf("first: %d is not the number of an event, from 0 to %d", m.first, int64(mostEvents))
	case !(n.rate >= 0 && n.rate <= 1e9):
		return nil, fmt.Errorf("rate: %v is not a number of events per second; 0 is as fast as they are wanted", n.rate)
	case m.group < 1 || m.group > 1_000_000:
		return nil, fmt.Errorf("disorder: %d is not the size of a group of events, from 1 (in order) to 1000000", m.group)
	case m.group%953 == 0:
		return nil, fmt.Errorf("disorder: in groups of %d events would come twice, as it is a multiple of 953; take %d", m.group, m.group+1)
	case !(density >= 0.001 && density <= 1e9):
		return nil, fmt.Errorf("density: %v is not a number of events per second of event time, from 0.001 to 1e9", density)
	case m.base < 0 || m.base%1e6 != 0:
		return nil, fmt.Errorf("base_time: the time of the first event is in whole milliseconds, from 1970 on")
	case m.hotAuctions < 1 || m.hotBidders < 1 || m.hotSellers < 1:
		return nil, fmt.Errorf("hot_auctions, hot_bidders and hot_sellers are at least 1, which is no hot ones at all")
	}
	m.base /= 1e6
	if n.kind == nexmarkAll || m.group > 1 { // out of order any run of events may hold rows only
		n.chunk = nexmarkRowsAtOnce
	}
	return n, nil
}

// nexmarkMaker makes the rows of one task.
type nexmarkMaker struct {
	*nexmark
	columns []int
	events  [nexmarkAll][]int64 // of each kind
	rows    [nexmarkAll][]uint32
}

func (k *nexmarkMaker) make(from, to int64) ([]*vec.Column, int) {
	n := k.list(from, to)
	cols := make([]*vec.Column, len(k.schema.Fields)) // those of the schema that are read
	out := make([]*vec.Column, len(k.columns))
	for i, c := range k.columns {
		cols[c] = vec.New(k.schema.Fields[c].Type, n)
		out[i] = cols[c]
	}
	if k.kind == nexmarkAll {
		k.writeAll(cols, n)
	} else {
		nexmarkKinds[k.kind].write(&k.model, cols, k.events[k.kind], nil)
	}
	return out, n
}

// list finds the events of the ticks from..to, and in "all" the rows in which they stand. It returns how many there are.
func (k *nexmarkMaker) list(from, to int64) int {
	m := &k.model
	for i := range k.events {
		k.events[i], k.rows[i] = k.events[i][:0], k.rows[i][:0]
	}
	if k.kind == nexmarkAll {
		for n := from; n < to; n++ {
			e := m.event(n)
			kind := nexmarkBid
			if r := e % nexmarkEpoch; r == 0 {
				kind = nexmarkPerson
			} else if r <= nexmarkAuctions {
				kind = nexmarkAuction
			}
			k.events[kind] = append(k.events[kind], e)
			k.rows[kind] = append(k.rows[kind], uint32(n-from))
		}
		return int(to - from)
	}
	first, count := nexmarkKinds[k.kind].first, nexmarkKinds[k.kind].count
	events := k.events[k.kind]
	if m.group == 1 { // step from epoch to epoch instead of looking at every event
		from, to = from+m.first, to+m.first
		for epoch := from - from%nexmarkEpoch; epoch < to; epoch += nexmarkEpoch {
			for e := max(from, epoch+first); e < min(to, epoch+first+count); e++ {
				events = append(events, e)
			}
		}
	} else {
		for n := from; n < to; n++ {
			if e := m.event(n); e%nexmarkEpoch >= first && e%nexmarkEpoch < first+count {
				events = append(events, e)
			}
		}
	}
	k.events[k.kind] = events
	return len(events)
}

// writeAll writes events of all kinds.
func (k *nexmarkMaker) writeAll(cols []*vec.Column, n int) {
	const event, at, records = 0, 1, 2
	for kind := range k.events {
		events, rows := k.events[kind], k.rows[kind]
		if c := cols[event]; c != nil {
			for _, row := range rows {
				c.Strs[row] = nexmarkKinds[kind].name
			}
		}
		writeTimes(&k.model, cols[at], events, rows)
		if c := cols[records+kind]; c != nil {
			nexmarkKinds[kind].write(&k.model, c.Kids, events, rows)
			if len(rows) < n {
				c.Valid = vec.NewBitmap(n)
				for _, row := range rows {
					c.Valid.Set(int(row))
				}
			}
		}
	}
}

// number returns a constant of type float, which may be an int, or its default.
func number(v any, missing float64) float64 {
	switch x := v.(type) {
	case float64:
		return x
	case int64:
		return float64(x)
	}
	return missing
}

// integer returns a constant of type int, time or duration, or its default.
func integer(v any, missing int64) int64 {
	if x, ok := v.(int64); ok {
		return x
	}
	return missing
}
