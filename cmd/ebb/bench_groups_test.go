package main

import (
	"math/bits"
	"strconv"
)

// The loops of the queries that aggregate. Each core has tables of its own, which are merged at the end.

// table is an open-addressing hash table from pairs of numbers to values.
type table[V any] struct {
	slots []slot[V]
	n     int
}

type slot[V any] struct {
	a, b int64
	used bool
	v    V
}

func hash(a, b int64) uint64 {
	hi, lo := bits.Mul64(uint64(a)^0xa0761d6478bd642f, uint64(b)^0xe7037ed1a0b428db)
	return hi ^ lo
}

// at returns the value of a pair, a new zero value if there is none. It is good until the next call.
func (t *table[V]) at(a, b int64) (v *V, found bool) {
	if 2*t.n >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash(a, b) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if !s.used {
			s.a, s.b, s.used = a, b, true
			t.n++
			return &s.v, false
		}
		if s.a == a && s.b == b {
			return &s.v, true
		}
	}
}

func (t *table[V]) grow() {
	old := t.slots
	t.slots, t.n = make([]slot[V], max(1024, 2*len(old))), 0
	for i := range old {
		if s := &old[i]; s.used {
			v, _ := t.at(s.a, s.b)
			*v = s.v
		}
	}
}

func (t *table[V]) each(f func(a, b int64, v *V)) {
	for i := range t.slots {
		if s := &t.slots[i]; s.used {
			f(s.a, s.b, &s.v)
		}
	}
}

// userBids is q12: the bids of each user and ten seconds.
type userBids struct{ table[int64] }

func (u *userBids) add(r *bid) {
	n, _ := u.at(r.bidder, r.time/10_000)
	*n++
}

func (u *userBids) merge(from groups) { addCounts(&u.table, &from.(*userBids).table) }

func addCounts(to, from *table[int64]) {
	from.each(func(a, b int64, v *int64) {
		n, _ := to.at(a, b)
		*n += *v
	})
}

func (u *userBids) write(b []byte, json bool) []byte {
	names := [...]string{"", ",", ",", ",", "\n"}
	if json {
		names = [...]string{`{"bidder":`, `,"bid_count":`, `,"starttime":"`, `","endtime":"`, "\"}\n"}
	}
	u.each(func(bidder, window int64, n *int64) {
		b = appendCount(b, names, bidder, *n, window*10_000, 10_000)
	})
	return b
}

func appendCount(b []byte, names [5]string, key, n, start, size int64) []byte {
	b = strconv.AppendInt(append(b, names[0]...), key, 10)
	b = strconv.AppendInt(append(b, names[1]...), n, 10)
	b = appendMillis(append(b, names[2]...), start)
	b = appendMillis(append(b, names[3]...), start+size)
	return append(b, names[4]...)
}

// hotItems is q5: the bids of each auction in ten seconds, every two. It counts by two seconds and adds five of them up.
type hotItems struct{ table[int64] }

func (h *hotItems) add(r *bid) {
	n, _ := h.at(r.auction, r.time/2_000)
	*n++
}

func (h *hotItems) merge(from groups) { addCounts(&h.table, &from.(*hotItems).table) }

func (h *hotItems) write(b []byte, json bool) []byte {
	names := [...]string{"", ",", ",", ",", "\n"}
	if json {
		names = [...]string{`{"auction":`, `,"num":`, `,"window_start":"`, `","window_end":"`, "\"}\n"}
	}
	var windows table[int64]
	h.each(func(auction, slice int64, v *int64) {
		for w := slice - 4; w <= slice; w++ {
			n, _ := windows.at(auction, w)
			*n += *v
		}
	})
	windows.each(func(auction, slice int64, n *int64) {
		b = appendCount(b, names, auction, *n, slice*2_000, 10_000)
	})
	return b
}

// rankOf returns the rank of a price.
func rankOf(price int64) int {
	switch {
	case price < 10_000:
		return 1
	case price < 1_000_000:
		return 2
	}
	return 3
}

// days is q15: bids, bidders and auctions of each day. The counts are of all ranks and of each; b of a set's pairs is
// the day times four plus the rank, or zero for all.
type days struct {
	bids              table[[4]int64]
	bidders, auctions table[struct{}]
	byDay             table[[8]int64] // distinct bidders, then auctions
}

func (d *days) add(r *bid) {
	day, rank := r.time/86_400_000, rankOf(r.price)
	n, _ := d.bids.at(day, 0)
	n[0]++
	n[rank]++
	d.bidders.at(r.bidder, day*4)
	d.bidders.at(r.bidder, day*4+int64(rank))
	d.auctions.at(r.auction, day*4)
	d.auctions.at(r.auction, day*4+int64(rank))
}

func (d *days) merge(from groups) {
	f := from.(*days)
	f.bids.each(func(day, _ int64, v *[4]int64) {
		n, _ := d.bids.at(day, 0)
		for i := range n {
			n[i] += v[i]
		}
	})
	f.bidders.each(func(id, of int64, _ *struct{}) { d.bidders.at(id, of) })
	f.auctions.each(func(id, of int64, _ *struct{}) { d.auctions.at(id, of) })
}

func (d *days) write(b []byte, json bool) []byte {
	d.bidders.each(func(_, of int64, _ *struct{}) {
		n, _ := d.byDay.at(of/4, 0)
		n[of%4]++
	})
	d.auctions.each(func(_, of int64, _ *struct{}) {
		n, _ := d.byDay.at(of/4, 0)
		n[4+of%4]++
	})
	d.bids.each(func(day, _ int64, bids *[4]int64) {
		distinct, _ := d.byDay.at(day, 0)
		if json {
			b = append(appendDay(append(b, `{"day":"`...), day), '"')
		} else {
			b = appendDay(b, day)
		}
		for i, n := range append(bids[:], distinct[:]...) {
			b = append(b, ',')
			if json {
				b = append(b, '"')
				b = append(b, [...]string{"total", "rank1", "rank2", "rank3"}[i%4]...)
				b = append(append(b, [...]string{"_bids", "_bidders", "_auctions"}[i/4]...), `":`...)
			}
			b = strconv.AppendInt(b, n, 10)
		}
		if json {
			b = append(b, '}')
		}
		b = append(b, '\n')
	})
	return b
}

// auctions is q17: statistics of each auction and day.
type auctions struct{ table[auctionStats] }

type auctionStats struct {
	bids             [4]int64
	least, most, sum int64
}

func (a *auctions) add(r *bid) {
	s, found := a.at(r.auction, r.time/86_400_000)
	s.bids[0]++
	s.bids[rankOf(r.price)]++
	s.sum += r.price
	if !found {
		s.least, s.most = r.price, r.price
		return
	}
	s.least, s.most = min(s.least, r.price), max(s.most, r.price)
}

func (a *auctions) merge(from groups) {
	from.(*auctions).each(func(auction, day int64, v *auctionStats) {
		s, found := a.at(auction, day)
		if !found {
			*s = *v
			return
		}
		for i := range s.bids {
			s.bids[i] += v.bids[i]
		}
		s.sum += v.sum
		s.least, s.most = min(s.least, v.least), max(s.most, v.most)
	})
}

func (a *auctions) write(b []byte, json bool) []byte {
	names := [...]string{"", ",", ",", ",", ",", ",", ",", ",", ",", ",", "\n"}
	if json {
		names = [...]string{`{"auction":`, `,"day":"`, `","total_bids":`, `,"rank1_bids":`, `,"rank2_bids":`, `,"rank3_bids":`,
			`,"min_price":`, `,"max_price":`, `,"avg_price":`, `,"sum_price":`, "}\n"}
	}
	a.each(func(auction, day int64, s *auctionStats) {
		b = strconv.AppendInt(append(b, names[0]...), auction, 10)
		b = appendDay(append(b, names[1]...), day)
		for i, n := range s.bids {
			b = strconv.AppendInt(append(b, names[2+i]...), n, 10)
		}
		b = strconv.AppendInt(append(b, names[6]...), s.least, 10)
		b = strconv.AppendInt(append(b, names[7]...), s.most, 10)
		b = appendDecimal(append(b, names[8]...), float64(s.sum)/float64(s.bids[0]))
		b = strconv.AppendInt(append(b, names[9]...), s.sum, 10)
		b = append(b, names[10]...)
	})
	return b
}
