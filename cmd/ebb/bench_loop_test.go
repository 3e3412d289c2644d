package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The loops that the engine is measured against: what one would write for one query and one file, if speed were all
// that counts. They know the order of the columns, read only those that the query needs, find fields and digits eight
// bytes at a time, keep their buffers, and check next to nothing: no quotes, no escapes, no nulls, no wrong numbers.

// bid is a row of the file. Strings are views.
type bid struct {
	auction, bidder, price, time int64 // time in milliseconds
	channel, url, extra          []byte
}

// Columns of bids, as bits.
const (
	colAuction = 1 << iota
	colBidder
	colPrice
	colChannel
	colURL
	colTime
	colExtra
)

// loop is one query.
type loop struct {
	need   int                           // columns
	header string                        // of the CSV
	csv    func(b []byte, r *bid) []byte // writes the row, if there is one
	jsonl  func(b []byte, r *bid) []byte // the same as an object
	groups func() groups                 // a query that aggregates, instead
}

// groups are what one core has aggregated.
type groups interface {
	add(r *bid)
	merge(from groups)
	write(b []byte, json bool) []byte
}

const (
	chunkOf = 256 << 10 // a piece of the file that one core takes: it stays in the cache
	behind  = 4 << 10   // longest line
	slack   = 16        // readable bytes behind the text
	ahead   = 64        // read before the piece: its cache lines stay those of the file, and copying them is cheap
)

// runLoop runs the loop of a query on so many cores.
func runLoop(tb testing.TB, query, format, in, out string, cores int) {
	l := loops[query]
	f, err := os.Open(in)
	require.NoError(tb, err)
	defer f.Close()
	to, err := os.Create(out)
	require.NoError(tb, err)
	defer to.Close()
	json := format == "jsonl"
	if !json {
		_, err = to.WriteString(l.header + "\n")
		require.NoError(tb, err)
	}
	info, err := f.Stat()
	require.NoError(tb, err)
	chunks := (info.Size() + chunkOf - 1) / chunkOf
	turns := make([]chan struct{}, chunks+1) // chunk k may be written
	for i := range turns {
		turns[i] = make(chan struct{}, 1)
	}
	turns[0] <- struct{}{}
	var next atomic.Int64
	done := make(chan groups, cores)
	for range cores {
		go func() {
			buf := make([]byte, ahead+chunkOf+behind+slack)
			var text []byte
			var g groups
			if l.groups != nil {
				g = l.groups()
			}
			for {
				k := next.Add(1) - 1
				if k >= chunks {
					break
				}
				piece := chunk(f, buf, k, !json)
				if g != nil {
					l.group(piece, json, g)
					continue
				}
				text = l.rows(piece, json, text[:0])
				<-turns[k]
				if _, err := to.Write(text); err != nil {
					panic(err)
				}
				turns[k+1] <- struct{}{}
			}
			done <- g
		}()
	}
	all := <-done
	for range cores - 1 {
		if g := <-done; g != nil {
			all.merge(g)
		}
	}
	if all != nil {
		_, err = to.Write(all.write(nil, json))
		require.NoError(tb, err)
	}
}

// chunk reads the lines that start in chunk k; the first of the file is left out if it is a header.
func chunk(f *os.File, buf []byte, k int64, header bool) []byte {
	from := max(k*chunkOf-ahead, 0)
	n, err := f.ReadAt(buf[:(k+1)*chunkOf+behind-from], from)
	if err != nil && err != io.EOF {
		panic(err)
	}
	start, end := 0, int((k+1)*chunkOf-from)
	switch {
	case k > 0:
		start = ahead + bytes.IndexByte(buf[ahead-1:n], '\n')
	case header:
		start = bytes.IndexByte(buf[:n], '\n') + 1
	}
	if end >= n {
		end = n
	} else {
		end += bytes.IndexByte(buf[end-1:n], '\n')
	}
	return buf[start : end : end+slack]
}

func (l *loop) rows(piece []byte, json bool, out []byte) []byte {
	b, end := piece[:cap(piece)], len(piece)
	var r bid
	if json {
		for p := 0; p < end; {
			p = jsonBid(b, p, l.need, &r)
			out = l.jsonl(out, &r)
		}
		return out
	}
	for p := 0; p < end; {
		p = csvBid(b, p, l.need, &r)
		out = l.csv(out, &r)
	}
	return out
}

func (l *loop) group(piece []byte, json bool, g groups) {
	b, end := piece[:cap(piece)], len(piece)
	var r bid
	for p := 0; p < end; {
		if json {
			p = jsonBid(b, p, l.need, &r)
		} else {
			p = csvBid(b, p, l.need, &r)
		}
		g.add(&r)
	}
}

const (
	low  = 0x0101010101010101
	high = 0x8080808080808080
)

// number reads digits, at most sixteen, and returns the place behind them.
func number(b []byte, p int) (int64, int) {
	w := binary.LittleEndian.Uint64(b[p:]) ^ '0'*low
	n := bits.TrailingZeros64((w+0x76*low|w)&high) >> 3
	u := fold(w << (64 - 8*uint(n)))
	if n < 8 {
		return int64(u), p + n
	}
	w = binary.LittleEndian.Uint64(b[p+8:]) ^ '0'*low
	n = bits.TrailingZeros64((w+0x76*low|w)&high) >> 3
	return int64(u*tens[n] + fold(w<<(64-8*uint(n)))), p + 8 + n
}

var tens = [...]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// fold returns the number of eight digits, the first in the lowest byte.
func fold(w uint64) uint64 {
	w = w*10 + w>>8
	return ((w&0x000000ff000000ff)*(100+1000000<<32) + (w>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32
}

// until returns the place of the next byte c, given as c*low.
func until(b []byte, p int, c uint64) int {
	for ; ; p += 8 {
		x := binary.LittleEndian.Uint64(b[p:]) ^ c
		if m := (x - low) &^ x & high; m != 0 {
			return p + bits.TrailingZeros64(m)>>3
		}
	}
}

// csvBid reads the line at p and returns the place of the next one.
func csvBid(b []byte, p, need int, r *bid) int {
	const comma, newline = ',' * low, '\n' * low
	if need&colAuction != 0 {
		r.auction, p = number(b, p)
	} else {
		p = until(b, p, comma)
	}
	p++
	if need&colBidder != 0 {
		r.bidder, p = number(b, p)
	} else {
		p = until(b, p, comma)
	}
	p++
	if need&colPrice != 0 {
		r.price, p = number(b, p)
	} else {
		p = until(b, p, comma)
	}
	if need < colChannel {
		return p + bytes.IndexByte(b[p:], '\n') + 1
	}
	p++
	q := until(b, p, comma)
	r.channel = b[p:q]
	p = q + 1
	q = until(b, p, comma)
	r.url = b[p:q]
	p = q + 1
	if need < colTime {
		return p + bytes.IndexByte(b[p:], '\n') + 1
	}
	r.time, p = number(b, p)
	if need < colExtra {
		return p + bytes.IndexByte(b[p:], '\n') + 1
	}
	p++
	q = until(b, p, newline)
	r.extra = b[p:q]
	return q + 1
}

// jsonBid is csvBid for an object a line. It checks the names of the fields.
func jsonBid(b []byte, p, need int, r *bid) int {
	const quote = '"' * low
	q := p
	r.auction, p = number(b, name(b, p, `{"auction":`))
	r.bidder, p = number(b, name(b, p, `,"bidder":`))
	r.price, p = number(b, name(b, p, `,"price":`))
	if need < colChannel {
		return p + bytes.IndexByte(b[p:], '\n') + 1
	}
	p = name(b, p, `,"channel":"`)
	q = until(b, p, quote)
	r.channel = b[p:q]
	p = name(b, q, `","url":"`)
	q = until(b, p, quote)
	r.url = b[p:q]
	if need < colTime {
		return q + bytes.IndexByte(b[q:], '\n') + 1
	}
	r.time, p = number(b, name(b, q, `","date_time":`))
	if need < colExtra {
		return p + bytes.IndexByte(b[p:], '\n') + 1
	}
	p = name(b, p, `,"extra":"`)
	q = until(b, p, quote)
	r.extra = b[p:q]
	return name(b, q, "\"}\n")
}

func name(b []byte, p int, s string) int {
	if string(b[p:p+len(s)]) != s {
		panic("another field than " + s)
	}
	return p + len(s)
}

// loopQueries are the queries that have a loop, in the order in which they are shown.
var loopQueries = []string{"q0", "q1", "q2", "q14", "q21", "q22", "q5", "q12", "q15", "q17"}

var loops = map[string]*loop{
	"q0": {need: colAuction | colBidder | colPrice | colTime | colExtra, header: "auction,bidder,price,date_time,extra",
		csv: func(b []byte, r *bid) []byte {
			b = append(strconv.AppendInt(b, r.auction, 10), ',')
			b = append(strconv.AppendInt(b, r.bidder, 10), ',')
			b = append(strconv.AppendInt(b, r.price, 10), ',')
			b = append(appendMillis(b, r.time), ',')
			return append(append(b, r.extra...), '\n')
		},
		jsonl: func(b []byte, r *bid) []byte {
			b = strconv.AppendInt(append(b, `{"auction":`...), r.auction, 10)
			b = strconv.AppendInt(append(b, `,"bidder":`...), r.bidder, 10)
			b = strconv.AppendInt(append(b, `,"price":`...), r.price, 10)
			b = appendMillis(append(b, `,"date_time":"`...), r.time)
			b = append(append(b, `","extra":"`...), r.extra...)
			return append(b, "\"}\n"...)
		}},
	"q1": {need: colAuction | colBidder | colPrice | colTime | colExtra, header: "auction,bidder,price,date_time,extra",
		csv: func(b []byte, r *bid) []byte {
			b = append(strconv.AppendInt(b, r.auction, 10), ',')
			b = append(strconv.AppendInt(b, r.bidder, 10), ',')
			b = append(appendDecimal(b, 0.908*float64(r.price)), ',')
			b = append(appendMillis(b, r.time), ',')
			return append(append(b, r.extra...), '\n')
		},
		jsonl: func(b []byte, r *bid) []byte {
			b = strconv.AppendInt(append(b, `{"auction":`...), r.auction, 10)
			b = strconv.AppendInt(append(b, `,"bidder":`...), r.bidder, 10)
			b = appendDecimal(append(b, `,"price":`...), 0.908*float64(r.price))
			b = appendMillis(append(b, `,"date_time":"`...), r.time)
			b = append(append(b, `","extra":"`...), r.extra...)
			return append(b, "\"}\n"...)
		}},
	"q2": {need: colAuction | colPrice, header: "auction,price",
		csv: func(b []byte, r *bid) []byte {
			if r.auction%123 != 0 {
				return b
			}
			b = append(strconv.AppendInt(b, r.auction, 10), ',')
			return append(strconv.AppendInt(b, r.price, 10), '\n')
		},
		jsonl: func(b []byte, r *bid) []byte {
			if r.auction%123 != 0 {
				return b
			}
			b = strconv.AppendInt(append(b, `{"auction":`...), r.auction, 10)
			b = strconv.AppendInt(append(b, `,"price":`...), r.price, 10)
			return append(b, "}\n"...)
		}},
	"q14": {need: colAuction | colBidder | colPrice | colTime | colExtra, header: "auction,bidder,price,bid_time_type,date_time,extra,c_counts",
		csv: func(b []byte, r *bid) []byte {
			price := 0.908 * float64(r.price)
			if price <= 1_000_000 || price >= 50_000_000 {
				return b
			}
			b = append(strconv.AppendInt(b, r.auction, 10), ',')
			b = append(strconv.AppendInt(b, r.bidder, 10), ',')
			b = append(appendDecimal(b, price), ',')
			b = append(append(b, timeOfDay(r.time)...), ',')
			b = append(appendMillis(b, r.time), ',')
			b = append(append(b, r.extra...), ',')
			return append(strconv.AppendInt(b, int64(bytes.Count(r.extra, []byte("c"))), 10), '\n')
		},
		jsonl: func(b []byte, r *bid) []byte {
			price := 0.908 * float64(r.price)
			if price <= 1_000_000 || price >= 50_000_000 {
				return b
			}
			b = strconv.AppendInt(append(b, `{"auction":`...), r.auction, 10)
			b = strconv.AppendInt(append(b, `,"bidder":`...), r.bidder, 10)
			b = appendDecimal(append(b, `,"price":`...), price)
			b = append(append(b, `,"bid_time_type":"`...), timeOfDay(r.time)...)
			b = appendMillis(append(b, `","date_time":"`...), r.time)
			b = append(append(b, `","extra":"`...), r.extra...)
			b = strconv.AppendInt(append(b, `","c_counts":`...), int64(bytes.Count(r.extra, []byte("c"))), 10)
			return append(b, "}\n"...)
		}},
	"q21": {need: colAuction | colBidder | colPrice | colChannel | colURL, header: "auction,bidder,price,channel,channel_id",
		csv: func(b []byte, r *bid) []byte {
			id := channelID(r)
			if id == nil {
				return b
			}
			b = append(strconv.AppendInt(b, r.auction, 10), ',')
			b = append(strconv.AppendInt(b, r.bidder, 10), ',')
			b = append(strconv.AppendInt(b, r.price, 10), ',')
			b = append(append(b, r.channel...), ',')
			return append(append(b, id...), '\n')
		},
		jsonl: func(b []byte, r *bid) []byte {
			id := channelID(r)
			if id == nil {
				return b
			}
			b = strconv.AppendInt(append(b, `{"auction":`...), r.auction, 10)
			b = strconv.AppendInt(append(b, `,"bidder":`...), r.bidder, 10)
			b = strconv.AppendInt(append(b, `,"price":`...), r.price, 10)
			b = append(append(b, `,"channel":"`...), r.channel...)
			b = append(append(b, `","channel_id":"`...), id...)
			return append(b, "\"}\n"...)
		}},
	"q22": {need: colAuction | colBidder | colPrice | colChannel | colURL, header: "auction,bidder,price,channel,dir1,dir2,dir3",
		csv: func(b []byte, r *bid) []byte {
			d1, d2, d3 := directories(r.url)
			b = append(strconv.AppendInt(b, r.auction, 10), ',')
			b = append(strconv.AppendInt(b, r.bidder, 10), ',')
			b = append(strconv.AppendInt(b, r.price, 10), ',')
			b = append(append(b, r.channel...), ',')
			b = append(append(b, d1...), ',')
			b = append(append(b, d2...), ',')
			return append(append(b, d3...), '\n')
		},
		jsonl: func(b []byte, r *bid) []byte {
			d1, d2, d3 := directories(r.url)
			b = strconv.AppendInt(append(b, `{"auction":`...), r.auction, 10)
			b = strconv.AppendInt(append(b, `,"bidder":`...), r.bidder, 10)
			b = strconv.AppendInt(append(b, `,"price":`...), r.price, 10)
			b = append(append(b, `,"channel":"`...), r.channel...)
			b = append(append(b, `","dir1":"`...), d1...)
			b = append(append(b, `","dir2":"`...), d2...)
			b = append(append(b, `","dir3":"`...), d3...)
			return append(b, "\"}\n"...)
		}},
	"q5":  {need: colAuction | colTime, header: "auction,num,window_start,window_end", groups: func() groups { return &hotItems{} }},
	"q12": {need: colBidder | colTime, header: "bidder,bid_count,starttime,endtime", groups: func() groups { return &userBids{} }},
	"q15": {need: colAuction | colBidder | colPrice | colTime, groups: func() groups { return &days{} },
		header: "day,total_bids,rank1_bids,rank2_bids,rank3_bids,total_bidders,rank1_bidders,rank2_bidders,rank3_bidders,total_auctions,rank1_auctions,rank2_auctions,rank3_auctions"},
	"q17": {need: colAuction | colPrice | colTime, groups: func() groups { return &auctions{} },
		header: "auction,day,total_bids,rank1_bids,rank2_bids,rank3_bids,min_price,max_price,avg_price,sum_price"},
}

// appendDecimal writes a float as the shortest text that reads back.
func appendDecimal(b []byte, f float64) []byte {
	if f == math.Trunc(f) {
		return strconv.AppendInt(b, int64(f), 10)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

const pairs = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// appendMillis writes milliseconds since 1970 as RFC 3339.
func appendMillis(b []byte, t int64) []byte {
	day, clock := t/86_400_000, t%86_400_000
	ms := clock % 1000
	clock /= 1000
	b = append(appendDay(b, day), 'T')
	h, m, s := clock/3600*2, clock/60%60*2, clock%60*2
	b = append(b, pairs[h], pairs[h+1], ':', pairs[m], pairs[m+1], ':', pairs[s], pairs[s+1])
	if ms != 0 {
		b = append(b, '.', byte('0'+ms/100), pairs[ms%100*2], pairs[ms%100*2+1])
	}
	return append(b, 'Z')
}

// appendDay writes days since 1970 as a date.
func appendDay(b []byte, day int64) []byte {
	d := day + 719468
	era := d / 146097
	of := d - era*146097
	y := (of - of/1460 + of/36524 - of/146096) / 365
	d = of - (365*y + y/4 - y/100)
	m := (5*d + 2) / 153
	d -= (153*m+2)/5 - 1
	if y, m = y+era*400, m+3; m > 12 {
		y, m = y+1, m-12
	}
	return append(b, pairs[y/100*2], pairs[y/100*2+1], pairs[y%100*2], pairs[y%100*2+1], '-', pairs[m*2], pairs[m*2+1], '-', pairs[d*2], pairs[d*2+1])
}

func timeOfDay(t int64) string {
	switch h := t / 3_600_000 % 24; {
	case h >= 8 && h <= 18:
		return "dayTime"
	case h <= 6 || h >= 20:
		return "nightTime"
	}
	return "otherTime"
}

// channelID returns the number of a channel, nil if it has none.
func channelID(r *bid) []byte {
	var buf [8]byte
	if len(r.channel) <= len(buf) {
		for i, c := range r.channel {
			if c-'A' <= 'Z'-'A' {
				c += 'a' - 'A'
			}
			buf[i] = c
		}
		switch string(buf[:len(r.channel)]) {
		case "apple":
			return text("0")
		case "google":
			return text("1")
		case "facebook":
			return text("2")
		case "baidu":
			return text("3")
		}
	}
	const key = "channel_id="
	for u := r.url; ; {
		i := bytes.Index(u, text(key))
		if i < 0 {
			return nil
		}
		first := i == 0 && len(u) == len(r.url)
		if before := len(r.url) - len(u) + i - 1; first || r.url[before] == '&' {
			id := u[i+len(key):]
			if end := bytes.IndexByte(id, '&'); end >= 0 {
				id = id[:end]
			}
			return id
		}
		u = u[i+1:]
	}
}

func text(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// directories returns the parts of a URL behind its third, fourth and fifth slash.
func directories(url []byte) (d1, d2, d3 []byte) {
	var parts [6][]byte
	for i := range parts {
		end := bytes.IndexByte(url, '/')
		if end < 0 {
			parts[i] = url
			break
		}
		parts[i], url = url[:end], url[end+1:]
	}
	return parts[3], parts[4], parts[5]
}
