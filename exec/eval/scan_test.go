package eval

import (
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestScan compares the scanner with package regexp on patterns that people write.
func TestScan(t *testing.T) {
	texts := []string{"", "a", "abc", "id=42;", "xid=", "&channel_id=12&x", "channel_id=7", "?channel_id=7", "https://a/b?query=1&channel_id=999",
		`1.2.3.4 - - [02/Jan/2026:10:00:00 +0000] "GET /a/b?c=d HTTP/1.1" 200 123`, "2026-01-31 level=warn msg=\"disk ß full\"", "äöü", "\xff\xfe", "aaa", "ab\ncd", "x  y"}
	for _, c := range []struct {
		pattern string
		plain   bool
	}{
		{"(&|^)channel_id=([^&]*)", true},
		{`^(?P<ip>\S+) \S+ \S+ \[(?P<at>[^\]]+)\] "(?P<verb>[A-Z]+) (?P<path>\S+) [^"]*" (?P<status>\d{3}) (?P<size>\d+|-)$`, true},
		{`level=(\w+) msg="([^"]*)"`, true},
		{`id=([0-9]+)`, true},
		{`[0-9]+$`, true},
		{`\d{1,3}\.\d{1,3}`, true},
		{`a*`, true},
		{`(a|b)?c`, true},
		{`(?:ab|)`, true},
		{`x(?:ab|)`, true},
		{`\s+`, true},
		{`[^a]+`, true},
		{`(a)|(b)`, true},
		{`$`, true},
		{`^`, true},
		{`^$`, true},
		{`a.c`, false},  // one character of any length
		{`a+ab`, false}, // gives back
		{`.*x`, false},  // gives back
		{`(a|ab)c`, true},
		{`(ab|a)b`, false}, // two ways to go on
		{`(?i)abc`, false},
		{`\babc`, false},
		{`(ab)*`, false},
		{`a*?`, false},
		{`x^a`, false},
	} {
		r, err := CompileRegexp(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if (r.scan != nil) != c.plain {
			t.Errorf("%s: plain is %v", c.pattern, r.scan != nil)
		}
		for _, s := range texts {
			agree(t, r, s)
		}
	}
}

func agree(t *testing.T, r *Regexp, s string) {
	t.Helper()
	want := r.re.FindStringSubmatchIndex(s)
	if got := r.Find(s, nil); !slices.Equal(got, want) {
		t.Errorf("%s on %q: got %v, want %v", r.re, s, got, want)
	}
	if got := r.Match(s); got != (want != nil) {
		t.Errorf("%s on %q: Match is %v", r.re, s, got)
	}
}

// TestScanRandom does so with random patterns and texts.
func TestScanRandom(t *testing.T) {
	seed := time.Now().UnixNano()
	g := rand.New(rand.NewSource(seed))
	pieces := []string{"a", "b", "ab", "é", "[ab]", "[^a]", "[^b]", "[a-z]", `\d`, `\S`, "^", "$", ".", "="}
	var make func(depth int) string
	make = func(depth int) string {
		var b strings.Builder
		for range 1 + g.Intn(3) {
			p := pieces[g.Intn(len(pieces))]
			if depth > 0 && g.Intn(3) == 0 {
				p = []string{"(", "(?:"}[g.Intn(2)] + make(depth-1) + ")"
				if g.Intn(2) == 0 {
					p = p[:len(p)-1] + "|" + make(depth-1) + ")"
				}
			}
			b.WriteString(p)
			if p != "^" && p != "$" {
				b.WriteString([]string{"", "", "", "*", "+", "?", "*?", "{2}", "{1,2}"}[g.Intn(9)])
			}
		}
		return b.String()
	}
	letters := []string{"a", "b", "ab", "é", "0", "=", " ", "\n", "\xff", "c"}
	plain := 0
	for range 20_000 {
		pattern := make(2)
		if _, err := regexp.Compile(pattern); err != nil {
			continue
		}
		r, err := CompileRegexp(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if r.scan == nil {
			continue
		}
		plain++
		for range 10 {
			var s strings.Builder
			for range g.Intn(8) {
				s.WriteString(letters[g.Intn(len(letters))])
			}
			agree(t, r, s.String())
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if plain < 1000 {
		t.Errorf("only %d patterns were plain", plain)
	}
	t.Logf("%d plain patterns", plain)
}

// TestScanGivesUp proves that a search in the square of the text's length is left to package regexp.
func TestScanGivesUp(t *testing.T) {
	r, err := CompileRegexp("[a-z]+=")
	if err != nil || r.scan == nil {
		t.Fatal(err)
	}
	s := strings.Repeat("a", 1<<20) + "!="
	r.need = "" // which would do here
	var loc [2]int
	if _, ok := r.scan.find(s, loc[:]); ok {
		t.Error("the scanner did not give up")
	}
	if r.Find(s, nil) != nil {
		t.Error("a match where there is none")
	}
}
