package conn

import (
	"strings"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// The columns of the three kinds of event, in the order of the reference data.
var (
	personFields = []types.Field{
		{Name: "id", Type: types.T(types.Int)}, {Name: "name", Type: types.T(types.String)}, {Name: "email_address", Type: types.T(types.String)},
		{Name: "credit_card", Type: types.T(types.String)}, {Name: "city", Type: types.T(types.String)}, {Name: "state", Type: types.T(types.String)},
		{Name: "date_time", Type: types.T(types.Time)}, {Name: "extra", Type: types.T(types.String)},
	}
	auctionFields = []types.Field{
		{Name: "id", Type: types.T(types.Int)}, {Name: "item_name", Type: types.T(types.String)}, {Name: "description", Type: types.T(types.String)},
		{Name: "initial_bid", Type: types.T(types.Int)}, {Name: "reserve", Type: types.T(types.Int)}, {Name: "date_time", Type: types.T(types.Time)},
		{Name: "expires", Type: types.T(types.Time)}, {Name: "seller", Type: types.T(types.Int)}, {Name: "category", Type: types.T(types.Int)},
		{Name: "extra", Type: types.T(types.String)},
	}
	bidFields = []types.Field{
		{Name: "auction", Type: types.T(types.Int)}, {Name: "bidder", Type: types.T(types.Int)}, {Name: "price", Type: types.T(types.Int)},
		{Name: "channel", Type: types.T(types.String)}, {Name: "url", Type: types.T(types.String)}, {Name: "date_time", Type: types.T(types.Time)},
		{Name: "extra", Type: types.T(types.String)},
	}
)

// nexmarkRows writes events of one kind into columns: event events[i] into row rows[i], or i if rows is nil. cols are
// the columns of the kind; nil where nobody reads them. What is drawn only for them is not drawn if nothing comes after.
type nexmarkRows func(m *nexmarkModel, cols []*vec.Column, events []int64, rows []uint32)

// nexmarkText collects the strings of one batch in one block; the strings are views into it.
type nexmarkText struct {
	block   strings.Builder
	scratch [512]byte
}

// letters adds n letters.
func (t *nexmarkText) letters(n int, r nexmarkRng) (string, nexmarkRng) {
	r = r.letters(t.scratch[:n])
	return t.add(n), r
}

// add returns the first n bytes of the scratch as a string.
func (t *nexmarkText) add(n int) string {
	start := t.block.Len()
	t.block.Write(t.scratch[:n])
	return t.block.String()[start:]
}

// skip draws n letters for nobody.
func (t *nexmarkText) skip(n int, r nexmarkRng) nexmarkRng { return r.letters(t.scratch[:n]) }

// lastRead returns the last column that is read, -1 if none is.
func lastRead(cols []*vec.Column, but int) int {
	for i := len(cols) - 1; i >= 0; i-- {
		if cols[i] != nil && i != but {
			return i
		}
	}
	return -1
}

func rowOf(rows []uint32, i int) int {
	if rows != nil {
		return int(rows[i])
	}
	return i
}

func writeTimes(m *nexmarkModel, c *vec.Column, events []int64, rows []uint32) {
	if c == nil {
		return
	}
	for i, e := range events {
		c.Ints[rowOf(rows, i)] = m.time(e) * 1e6
	}
}

func writeBids(m *nexmarkModel, cols []*vec.Column, events []int64, rows []uint32) {
	const auction, bidder, price, channel, url, at, extra = 0, 1, 2, 3, 4, 5, 6
	writeTimes(m, cols[at], events, rows)
	last := lastRead(cols, at)
	if last < 0 {
		return
	}
	var t nexmarkText
	if cols[extra] != nil {
		t.block.Grow(82 * len(events))
	}
	shared := sharedNexmarkStrings()
	for i, e := range events {
		row := rowOf(rows, i)
		var n int64
		r := newNexmarkRng(uint64(e))
		n, r = r.below(m.hotAuctions)
		if hot := lastAuction(e); n > 0 {
			n = hot - hot%hotAuctionEvery
		} else {
			n, r = anyAuction(hot, r)
		}
		if c := cols[auction]; c != nil {
			c.Ints[row] = n + firstAuctionID
		}
		if last < bidder {
			continue
		}
		n, r = r.below(m.hotBidders)
		if hot := lastPerson(e); n > 0 {
			n = hot - hot%hotPersonEvery + 1
		} else {
			n, r = anyPerson(hot, r)
		}
		if c := cols[bidder]; c != nil {
			c.Ints[row] = n + firstPersonID
		}
		if last < price {
			continue
		}
		n, r = r.price()
		if c := cols[price]; c != nil {
			c.Ints[row] = n
		}
		if last < channel {
			continue
		}
		names, urls := shared.channel, shared.url
		if n, r = r.below(2); n > 0 {
			names, urls = hotChannels, shared.hotURL
			n, r = r.below(int64(len(names)))
		} else {
			var any uint32
			any, r = r.below32(channels)
			n = int64(any)
		}
		if c := cols[channel]; c != nil {
			c.Strs[row] = names[n]
		}
		if c := cols[url]; c != nil {
			c.Strs[row] = urls[n]
		}
		if c := cols[extra]; c != nil {
			var size int
			size, r = extraSize(32, 100, r)
			c.Strs[row], _ = t.letters(size, r)
		}
	}
}

func writeAuctions(m *nexmarkModel, cols []*vec.Column, events []int64, rows []uint32) {
	const id, item, description, initial, reserve, at, expires, seller, category, extra = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	writeTimes(m, cols[at], events, rows)
	last := lastRead(cols, at)
	if last < 0 {
		return
	}
	var t nexmarkText
	size := 0
	for column, most := range map[int]int{item: 20, description: 100, extra: 397} {
		if cols[column] != nil {
			size += most
		}
	}
	t.block.Grow(size * len(events))
	for i, e := range events {
		row := rowOf(rows, i)
		if c := cols[id]; c != nil {
			c.Ints[row] = lastAuction(e) + firstAuctionID
		}
		if last < item {
			continue
		}
		r := newNexmarkRng(uint64(e))
		if c := cols[item]; c != nil {
			c.Strs[row], r = t.letters(20, r)
		} else {
			r = t.skip(20, r)
		}
		if last < description {
			continue
		}
		if c := cols[description]; c != nil {
			c.Strs[row], r = t.letters(100, r)
		} else {
			r = t.skip(100, r)
		}
		if last < initial {
			continue
		}
		var least, n int64
		least, r = r.price()
		if c := cols[initial]; c != nil {
			c.Ints[row] = least
		}
		n, r = r.price()
		if c := cols[reserve]; c != nil {
			c.Ints[row] = least + n
		}
		if last < expires {
			continue
		}
		n, r = m.expires(e, r)
		if c := cols[expires]; c != nil {
			c.Ints[row] = n * 1e6
		}
		if last < seller {
			continue
		}
		n, r = r.below(m.hotSellers)
		if hot := lastPerson(e); n > 0 {
			n = hot - hot%hotPersonEvery
		} else {
			n, r = anyPerson(hot, r)
		}
		if c := cols[seller]; c != nil {
			c.Ints[row] = n + firstPersonID
		}
		n, r = r.below(categories)
		if c := cols[category]; c != nil {
			c.Ints[row] = n + firstCategory
		}
		if c := cols[extra]; c != nil {
			var size int
			size, r = extraSize(168, 500, r)
			c.Strs[row], _ = t.letters(size, r)
		}
	}
}

func writePersons(m *nexmarkModel, cols []*vec.Column, events []int64, rows []uint32) {
	const id, name, email, card, city, state, at, extra = 0, 1, 2, 3, 4, 5, 6, 7
	writeTimes(m, cols[at], events, rows)
	last := lastRead(cols, at)
	if last < 0 {
		return
	}
	var t nexmarkText
	size := 0
	for column, most := range map[int]int{email: emailSize, card: cardSize, extra: 167} {
		if cols[column] != nil {
			size += most
		}
	}
	t.block.Grow(size * len(events))
	shared := sharedNexmarkStrings()
	for i, e := range events {
		row := rowOf(rows, i)
		if c := cols[id]; c != nil {
			c.Ints[row] = lastPerson(e) + firstPersonID
		}
		if last < name {
			continue
		}
		var first, family, town, home uint32
		r := newNexmarkRng(uint64(e))
		first, r = r.below32(uint32(len(firstNames)))
		family, r = r.below32(uint32(len(lastNames)))
		full := shared.names[first][family]
		if c := cols[name]; c != nil {
			c.Strs[row] = full
		}
		if last < email {
			continue
		}
		r = t.emailAddress(r)
		if c := cols[email]; c != nil {
			c.Strs[row] = t.add(emailSize)
		}
		if last < card {
			continue
		}
		r = t.creditCard(r)
		if c := cols[card]; c != nil {
			c.Strs[row] = t.add(cardSize)
		}
		if last < city {
			continue
		}
		town, r = r.below32(uint32(len(cities)))
		if c := cols[city]; c != nil {
			c.Strs[row] = cities[town]
		}
		home, r = r.below32(uint32(len(states)))
		if c := cols[state]; c != nil {
			c.Strs[row] = states[home]
		}
		if c := cols[extra]; c != nil {
			var size int
			size, r = extraSize(8+len(full)+emailSize+cardSize+len(cities[town])+len(states[home]), 200, r)
			c.Strs[row], _ = t.letters(size, r)
		}
	}
}

const (
	emailSize = 17
	cardSize  = 19
)

// emailAddress writes one into the scratch.
func (t *nexmarkText) emailAddress(r nexmarkRng) nexmarkRng {
	r = r.letters(t.scratch[:7])
	t.scratch[7] = '@'
	r = r.letters(t.scratch[8:13])
	copy(t.scratch[13:], ".com")
	return r
}

// creditCard writes four groups of four digits into the scratch.
func (t *nexmarkText) creditCard(r nexmarkRng) nexmarkRng {
	for g := range 4 {
		var n uint32
		n, r = r.below32(10_000)
		for d := 3; d >= 0; d-- {
			t.scratch[5*g+d] = '0' + byte(n%10)
			n /= 10
		}
		t.scratch[5*g+4] = ' '
	}
	return r
}
