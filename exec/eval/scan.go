package eval

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// scanner matches plain patterns: literals, runs of character classes, groups, alternatives and anchors, where the next
// byte always tells how to go on. So a run takes all it can and is never given back, and the leftmost match is what
// package regexp finds, many times faster.
type scanner struct {
	start *scanStep
	slots int // 2 for the match and for each group

	// Where a literal stands at a bounded distance from the start of every match, only the places before it are tried.
	literal  string
	min, max int
}

// maxScanSlots bounds the groups of a scanner.
const maxScanSlots = 32

type scanOp uint8

const (
	scanLiteral scanOp = iota
	scanRun            // from least to most (-1: any number of) bytes of set
	scanSlot           // the place goes to slot
	scanChoice         // one of alts
	scanBegin          // at the start of the text
	scanEnd            // at the end of the text
	scanDone
)

type scanStep struct {
	op          scanOp
	text        string
	set         byteSet
	least, most int
	slot        int
	alts        []*scanStep // each goes on with next in the end
	next        *scanStep

	lead  byteSet // what a match from here may start with
	empty bool    // whether it may be of no bytes at all
}

// ready computes lead and empty of a step whose successors are ready.
func (s *scanStep) ready() *scanStep {
	switch s.op {
	case scanLiteral:
		s.lead.add(s.text[0])
	case scanRun:
		if s.lead = s.set; s.least == 0 {
			s.lead, s.empty = s.set.with(s.next.lead), s.next.empty
		}
	case scanSlot, scanBegin:
		s.lead, s.empty = s.next.lead, s.next.empty
	case scanChoice:
		for _, a := range s.alts {
			s.lead, s.empty = s.lead.with(a.lead), s.empty || a.empty
		}
	case scanDone:
		s.empty = true
	}
	return s
}

// byteSet is a set of bytes. Bytes of 0x80 and above are all in it or none.
type byteSet [4]uint64

func (s *byteSet) has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }
func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }

func (s byteSet) meets(t byteSet) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

func (s byteSet) with(t byteSet) byteSet {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// newScanner returns nil if the pattern is not plain.
func newScanner(re *syntax.Regexp) *scanner {
	b := &scanBuilder{plain: true, slots: 2}
	s := &scanner{}
	done := (&scanStep{op: scanDone}).ready()
	s.start = b.build(re, done, true)
	if s.slots = b.slots; !b.plain || s.slots > maxScanSlots {
		return nil
	}
	s.literal, s.min, s.max = anchor(s.start)
	return s
}

type scanBuilder struct {
	plain bool
	slots int
	steps int
}

// build returns the steps of re, to go on with next. first tells that nothing of the match stands before.
func (b *scanBuilder) build(re *syntax.Regexp, next *scanStep, first bool) *scanStep {
	if b.steps++; b.steps > 500 {
		b.plain = false
	}
	if !b.plain {
		return next
	}
	switch re.Op {
	case syntax.OpEmptyMatch:
		return next
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 || len(re.Rune) == 0 {
			break
		}
		return (&scanStep{op: scanLiteral, text: string(re.Rune), next: next}).ready()
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return b.run(re, 1, 1, false, next)
	case syntax.OpStar:
		return b.run(re.Sub[0], 0, -1, re.Flags&syntax.NonGreedy != 0, next)
	case syntax.OpPlus:
		return b.run(re.Sub[0], 1, -1, re.Flags&syntax.NonGreedy != 0, next)
	case syntax.OpRepeat:
		return b.run(re.Sub[0], re.Min, re.Max, re.Flags&syntax.NonGreedy != 0, next)
	case syntax.OpQuest:
		if re.Flags&syntax.NonGreedy != 0 {
			break
		}
		return b.choice(next, b.build(re.Sub[0], next, first), next)
	case syntax.OpAlternate:
		alts := make([]*scanStep, len(re.Sub))
		for i, sub := range re.Sub {
			alts[i] = b.build(sub, next, first)
		}
		return b.choice(next, alts...)
	case syntax.OpCapture:
		b.slots = max(b.slots, 2*re.Cap+2)
		end := (&scanStep{op: scanSlot, slot: 2*re.Cap + 1, next: next}).ready()
		return (&scanStep{op: scanSlot, slot: 2 * re.Cap, next: b.build(re.Sub[0], end, first)}).ready()
	case syntax.OpConcat:
		for i := len(re.Sub) - 1; i >= 0; i-- {
			next = b.build(re.Sub[i], next, first && onlyBegins(re.Sub[:i]))
		}
		return next
	case syntax.OpBeginText:
		if first {
			return (&scanStep{op: scanBegin, next: next}).ready()
		}
	case syntax.OpEndText:
		return (&scanStep{op: scanEnd, next: next}).ready()
	}
	b.plain = false
	return next
}

func onlyBegins(res []*syntax.Regexp) bool {
	for _, re := range res {
		if re.Op != syntax.OpBeginText && re.Op != syntax.OpEmptyMatch {
			return false
		}
	}
	return true
}

func (b *scanBuilder) run(re *syntax.Regexp, least, most int, lazy bool, next *scanStep) *scanStep {
	set, ok := setOf(re)
	wide := set[2] != 0 // characters of several bytes: they cannot be counted
	open := least != most && (set.meets(next.lead) || lazy && next.empty)
	if !ok || open || wide && (least > 1 || most >= 0) {
		b.plain = false
		return next
	}
	return (&scanStep{op: scanRun, set: set, least: least, most: most, next: next}).ready()
}

// setOf returns the bytes of a class, false if bytes do not tell its characters.
func setOf(re *syntax.Regexp) (set byteSet, ok bool) {
	addWide := func() { set[2], set[3] = ^uint64(0), ^uint64(0) }
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) != 1 || re.Rune[0] >= utf8.RuneSelf || re.Flags&syntax.FoldCase != 0 {
			return set, false
		}
		set.add(byte(re.Rune[0]))
		return set, true
	case syntax.OpAnyChar:
		set[0], set[1] = ^uint64(0), ^uint64(0)
		addWide()
		return set, true
	case syntax.OpAnyCharNotNL:
		set[0], set[1] = ^uint64(0)&^(1<<'\n'), ^uint64(0)
		addWide()
		return set, true
	case syntax.OpCharClass:
		covered := rune(utf8.RuneSelf) // up to where the ranges cover all characters that are no ASCII
		wide := false
		for i := 0; i < len(re.Rune); i += 2 {
			lo, hi := re.Rune[i], re.Rune[i+1]
			for r := lo; r <= min(hi, utf8.RuneSelf-1); r++ {
				set.add(byte(r))
			}
			if hi >= utf8.RuneSelf {
				if wide = true; lo > covered {
					return set, false
				}
				covered = hi + 1
			}
		}
		if wide {
			if covered <= utf8.MaxRune {
				return set, false
			}
			addWide()
		}
		return set, true
	}
	return set, false
}

// choice makes the step that tries alternatives in order. The next byte must rule out all but one.
func (b *scanBuilder) choice(next *scanStep, alts ...*scanStep) *scanStep {
	var seen byteSet
	for _, a := range alts {
		if a.lead.meets(seen) {
			b.plain = false
		}
		seen = seen.with(a.lead)
	}
	return (&scanStep{op: scanChoice, alts: alts, next: next}).ready()
}

// anchor returns a literal that stands from min to max bytes after the start of every match, "" if there is none.
func anchor(s *scanStep) (literal string, min, max int) {
	for ; ; s = s.next {
		switch s.op {
		case scanLiteral:
			return s.text, min, max
		case scanRun:
			if s.most < 0 {
				return "", 0, 0
			}
			min, max = min+s.least, max+s.most
		case scanChoice:
			least, most := 1<<30, 0
			for _, a := range s.alts {
				n := 0
				for ; a != s.next; a = a.next {
					if a.op != scanLiteral && a.op != scanBegin && a.op != scanSlot {
						return "", 0, 0
					}
					n += len(a.text)
				}
				if n < least {
					least = n
				}
				if n > most {
					most = n
				}
			}
			min, max = min+least, max+most
		case scanSlot, scanBegin:
		default:
			return "", 0, 0
		}
	}
}

// find looks for the leftmost match and fills loc. ok is false if it gave up: package regexp must do it.
func (p *scanner) find(s string, loc []int) (found, ok bool) {
	work := scanWork{s: s, loc: loc, left: 8*len(s) + 1024}
	try := func(at int) bool {
		for i := range loc {
			loc[i] = -1
		}
		end := work.match(p.start, at)
		if end < 0 {
			return false
		}
		loc[0], loc[1] = at, end
		return true
	}
	if p.start.op == scanBegin {
		return try(0), work.left > 0
	}
	if p.literal == "" {
		for at := 0; at <= len(s); at++ {
			if try(at) {
				return true, true
			}
			if work.left <= 0 {
				return false, false
			}
		}
		return false, true
	}
	tried := 0 // places before it were tried
	for from := 0; ; {
		k := strings.Index(s[from:], p.literal)
		if k < 0 {
			return false, true
		}
		k += from
		for at := max(tried, k-p.max); at <= k-p.min; at++ {
			if try(at) {
				return true, true
			}
			if work.left <= 0 {
				return false, false
			}
			tried = at + 1
		}
		from = k + 1
	}
}

// scanWork is one search.
type scanWork struct {
	s    string
	loc  []int
	left int // steps that may still be made: a search in the square of the text's length is left to package regexp
}

// match returns the end of the match of the steps at a place, -1 if there is none.
func (w *scanWork) match(p *scanStep, at int) int {
	for {
		w.left--
		switch p.op {
		case scanLiteral:
			if !strings.HasPrefix(w.s[at:], p.text) {
				return -1
			}
			at += len(p.text)
		case scanRun:
			from := at
			for at < len(w.s) && p.set.has(w.s[at]) && at-from != p.most {
				at++
			}
			w.left -= at - from
			if at-from < p.least {
				return -1
			}
		case scanSlot:
			w.loc[p.slot] = at
		case scanBegin:
			if at != 0 {
				return -1
			}
		case scanEnd:
			if at != len(w.s) {
				return -1
			}
		case scanDone:
			return at
		case scanChoice:
			var only *scanStep
			for _, a := range p.alts {
				if !a.empty && at < len(w.s) && !a.lead.has(w.s[at]) {
					continue
				}
				if only != nil {
					return w.choose(p, at)
				}
				only = a
			}
			if only == nil {
				return -1
			}
			p = only
			continue
		}
		p = p.next
	}
}

// choose tries the alternatives of p in order.
func (w *scanWork) choose(p *scanStep, at int) int {
	var kept [maxScanSlots]int
	copy(kept[:], w.loc)
	for _, a := range p.alts {
		if end := w.match(a, at); end >= 0 {
			return end
		}
		copy(w.loc, kept[:])
	}
	return -1
}
