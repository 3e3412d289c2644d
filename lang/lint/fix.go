package lint

import (
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// Apply makes edits in a text. They must not overlap; their order does not matter.
func Apply(text string, edits []Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Span.Start.Offset - b.Span.Start.Offset })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Span.Start.Offset])
		b.WriteString(e.Text)
		at = e.Span.End.Offset
	}
	b.WriteString(text[at:])
	return b.String()
}

// Mended is a text whose fixes are made.
type Mended struct {
	Text string    // lines end in \n
	Made int       // fixes
	Left []Finding // of Text
}

// maxRounds bounds how often a text is looked at again. A fix may make the next one possible.
const maxRounds = 100

// Mend makes the fixes of a text up to an applicability, those of findings that Lint shows, until nothing changes. A fix is left
// out if the script cannot be parsed any more, or does not run any more, or is one that was there before.
func Mend(t Text, most Applicability) Mended {
	now := Lint([]Text{t})[0]
	m := Mended{Text: now.Tree.Source.Text, Left: now.Found}
	refused := map[string]bool{}
	seen := map[string]bool{m.Text: true}
	for range maxRounds {
		list := chosen(now, most, refused)
		if len(list) == 0 {
			break
		}
		try := func(list []Finding) (Result, bool) {
			var edits []Edit
			for _, f := range list {
				edits = append(edits, f.Fix.Edits...)
			}
			next := t
			next.Text = Apply(m.Text, edits)
			if seen[next.Text] {
				return Result{}, false
			}
			r := Lint([]Text{next})[0]
			return r, !worse(now.Script, r.Script)
		}
		next, ok := try(list)
		if !ok {
			var good []Finding
			for _, f := range list {
				if alone, fine := try([]Finding{f}); fine && good == nil {
					next, good = alone, []Finding{f}
				} else if !fine {
					refused[f.same()] = true
				}
			}
			if list = good; list == nil {
				continue
			}
		}
		now = next
		m = Mended{Text: now.Tree.Source.Text, Made: m.Made + len(list), Left: now.Found}
		seen[m.Text] = true
	}
	return m
}

// chosen are the findings whose fixes are made together: none touches another. Small fixes come first.
func chosen(r Result, most Applicability, refused map[string]bool) []Finding {
	var list []Finding
	for _, f := range r.Found {
		if f.Fix != nil && f.Fix.Applicability != NoFix && f.Fix.Applicability <= most && f.Source == r.Tree.Source && len(f.Fix.Edits) > 0 && !refused[f.same()] {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		from, to := a.Fix.span()
		from2, to2 := b.Fix.span()
		return (to - from) - (to2 - from2)
	})
	var taken []Finding
	for _, f := range list {
		from, to := f.Fix.span()
		if !slices.ContainsFunc(taken, func(g Finding) bool {
			from2, to2 := g.Fix.span()
			return from <= to2 && from2 <= to
		}) {
			taken = append(taken, f)
		}
	}
	return taken
}

func (f *Fix) span() (from, to int) {
	from, to = f.Edits[0].Span.Start.Offset, f.Edits[0].Span.End.Offset
	for _, e := range f.Edits {
		from, to = min(from, e.Span.Start.Offset), max(to, e.Span.End.Offset)
	}
	return from, to
}

// same tells findings apart in a text that changes.
func (f Finding) same() string {
	text := f.Source.Text
	line := text[strings.LastIndexByte(text[:f.Span.Start.Offset], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	return f.Code + "\n" + f.Message + "\n" + line
}

// worse reports whether a script has lost something by a fix. One that ran must run; of one that did not, more statements than
// before may be understood now, and so more may be found to be wrong with them.
func worse(before, after *Script) bool {
	if len(before.Errors) == 0 && len(after.Errors) > 0 {
		return true
	}
	return unparsed(before) < unparsed(after)
}

func unparsed(s *Script) (n int) {
	for _, d := range s.Errors {
		if _, ok := syntax.Codes[syntax.Code(d.Code)]; ok {
			n++
		}
	}
	return n
}

// Restore gives a text that was read with lines ending in \n, and without byte-order mark, both as the original has them. Lines
// that ended now so, now so, end as most of them did.
func Restore(original, text string) string {
	if strings.HasPrefix(original, "\uFEFF") {
		text = "\uFEFF" + text
	}
	if 2*strings.Count(original, "\r\n") > strings.Count(original, "\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}
