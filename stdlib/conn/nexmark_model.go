package conn

import (
	"math/bits"
	"strconv"
	"strings"
	"sync"
)

// Of each nexmarkEpoch events the first is a person, the next three are auctions, the others bids.
const (
	nexmarkEpoch    = 50
	nexmarkAuctions = 3
	nexmarkBids     = nexmarkEpoch - 1 - nexmarkAuctions

	firstPersonID    = 1000
	firstAuctionID   = 1000
	firstCategory    = 10
	categories       = 5
	activePeople     = 1000 // who bids and sells, if the hot ones do not
	auctionsInFlight = 100
	personsAhead     = 10 // ids that are used before they exist
	auctionsAhead    = 10
	hotAuctionEvery  = 100 // every hundredth auction, seller and bidder is a hot one
	hotPersonEvery   = 100
	channels         = 10_000
)

// nexmarkModel says which events there are, when they happen and how their ids hang together.
type nexmarkModel struct {
	first, events                       int64   // numbers of events; events < 0: endless
	group                               int64   // size of the groups that are out of order
	base                                int64   // milliseconds of event 0
	interval                            float32 // microseconds between events
	hotAuctions, hotBidders, hotSellers int64   // 1 in N is not hot
}

// event returns the number of the n-th event of the stream: n itself unless events are out of order. Id, kind and time
// of an event follow from its number.
func (m *nexmarkModel) event(n int64) int64 {
	n += m.first
	if m.group == 1 {
		return n
	}
	return n - n%m.group + n%m.group*953%m.group // 953 is prime: a permutation unless the group is a multiple of it
}

// time returns when an event happens, in milliseconds. It is computed in single precision, as the reference data was.
func (m *nexmarkModel) time(event int64) int64 {
	return m.base + int64(float64(float32(event)*m.interval/1000)+0.5)
}

func lastPerson(event int64) int64 { return event / nexmarkEpoch }

func lastAuction(event int64) int64 {
	epoch, n := event/nexmarkEpoch, event%nexmarkEpoch
	if n == 0 {
		return epoch*nexmarkAuctions - 1
	}
	return epoch*nexmarkAuctions + min(n, nexmarkAuctions) - 1
}

// anyPerson draws one of the active persons.
func anyPerson(last int64, r nexmarkRng) (int64, nexmarkRng) {
	active := min(last+1, activePeople)
	n, r := r.below(active + personsAhead)
	return last + 1 - active + n, r
}

// anyAuction draws one of the auctions in flight.
func anyAuction(last int64, r nexmarkRng) (int64, nexmarkRng) {
	low := max(last-auctionsInFlight, 0)
	n, r := r.below(last - low + 1 + auctionsAhead)
	return low + n, r
}

// expires draws the end of an auction.
func (m *nexmarkModel) expires(event int64, r nexmarkRng) (int64, nexmarkRng) {
	at := m.time(event)
	horizon := m.time(event+auctionsInFlight*nexmarkEpoch/nexmarkAuctions) - at
	n, r := r.below(max(horizon*2, 1))
	return at + 1 + n, r
}

// extraSize draws the length of the padding of an event of size bytes that is to have average bytes.
func extraSize(size, average int, r nexmarkRng) (int, nexmarkRng) {
	missing := average - size
	delta := (missing + 2) / 5
	if missing < 0 || delta == 0 {
		return max(missing, 0), r
	}
	n, r := r.below(int64(2 * delta))
	return missing - delta + int(n), r
}

var (
	firstNames  = strings.Split("peter paul luke john saul vicky kate julie sarah deiter walter", " ")
	lastNames   = strings.Split("shultz abrams spencer white bartels walton smith jones noris", " ")
	cities      = strings.Split("phoenix,los angeles,san francisco,boise,portland,bend,redmond,seattle,kent,cheyenne", ",")
	states      = strings.Split("az ca id or wa wy", " ")
	hotChannels = strings.Split("Google Facebook Baidu Apple", " ")
)

// nexmarkStrings are the strings that many events share.
type nexmarkStrings struct {
	names        [][]string // first, last
	channel, url []string
	hotURL       []string
}

// sharedNexmarkStrings makes them when the first event needs them: the start of the program must not wait for it.
var sharedNexmarkStrings = sync.OnceValue(func() *nexmarkStrings {
	s := &nexmarkStrings{}
	for _, first := range firstNames {
		var names []string
		for _, last := range lastNames {
			names = append(names, first+" "+last)
		}
		s.names = append(s.names, names)
	}
	for i := range uint32(channels) {
		url := nexmarkURL(uint64(i))
		if int(i) < len(hotChannels) {
			s.hotURL = append(s.hotURL, url)
		}
		if n, _ := newNexmarkRng(uint64(i)).below32(10); n > 0 {
			url += "&channel_id=" + strconv.FormatInt(channelID(i), 10)
		}
		s.channel = append(s.channel, "channel-"+strconv.Itoa(int(i)))
		s.url = append(s.url, url)
	}
	return s
})

// channelID is the absolute value of i with its bits reversed.
func channelID(i uint32) int64 {
	n := int64(int32(bits.Reverse32(i)))
	return max(n, -n)
}

func nexmarkURL(seed uint64) string {
	r := newNexmarkRng(seed)
	url := []byte("https://www.nexmark.com/")
	for range 3 {
		var n int64
		n, r = r.below(2)
		for range 3 + n {
			var c uint32
			url = append(url, '_')
			if c, r = r.below32(13); c > 0 {
				r = r.letters(url[len(url)-1:])
			}
		}
		url = append(url, '/')
	}
	return string(append(url, "item.htm?query=1"...))
}
