package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// L: comments that suppress findings. They are looked at behind all other rules, so these have no Check.
var (
	unusedSuppression = &Rule{
		Code: "L001", Name: "unused-suppression", Severity: syntax.SevWarn, Fix: Safe,
		Text: "A `lint:ignore` suppresses nothing.",
		Why:  "What it was written for is mended, or it stands in the wrong place, and then it hides the next finding that comes there. The fix takes it out.",
		Bad:  "// lint:ignore W404 the gaps are meant\ncsv(\"orders.csv\") |> where amount > 15.0\n",
		Good: "csv(\"orders.csv\") |> where amount > 15.0\n",
	}
	bareSuppression = &Rule{
		Code: "L002", Name: "bare-suppression", Severity: syntax.SevWarn,
		Text: "A `lint:ignore` has no code, or no reason. It suppresses nothing.",
		Why:  "Without a code it would hide everything, also what nobody has seen yet. Without a reason nobody can say later whether it may go.",
		Bad:  "// lint:ignore W404\ncsv(\"orders.csv\") |> where amount > 15.0\n",
		Good: "csv(\"orders.csv\") |> where amount > 15.0\n",
	}
)

func init() { rules = append(rules, unusedSuppression, bareSuppression) }

// suppression is a comment that says which findings are meant to be.
type suppression struct {
	comment syntax.Span
	codes   []string
	at      []syntax.Span // of codes
	used    []bool        // of codes
	reason  string
	// Findings that start in [from, to) are suppressed.
	from, to int
}

var (
	directive = regexp.MustCompile(`(?s)^(?://|/\*)[ \t]*lint:([\w-]*)\s*(.*?)\s*(?:\*/)?$`)
	codeList  = regexp.MustCompile(`^[A-Z]\d{3}(\s*,\s*[A-Z]\d{3})*(\s+|$)`)
	oneCode   = regexp.MustCompile(`[A-Z]\d{3}`)
	nearly    = regexp.MustCompile(`^[A-Za-z]+\d+\b`) // meant as a code
)

// suppress drops what is not chosen and what comments suppress, and adds what is wrong with those comments.
func suppress(s *Script, found []Finding, choice Choice) []Finding {
	var list []*suppression
	var wrong []Finding
	report := func(rule *Rule, at syntax.Span, fix *Fix, help, format string, args ...any) {
		(&Pass{Script: s, rule: rule, found: &wrong}).Report(at, fmt.Sprintf(format, args...), help, fix)
	}
	for _, c := range s.Tree.Comments {
		m := directive.FindStringSubmatchIndex(c.Text)
		if m == nil {
			continue
		}
		word, rest := c.Text[m[2]:m[3]], c.Text[m[4]:m[5]]
		if word != "ignore" && word != "file-ignore" {
			report(bareSuppression, c.Span, nil, "write `// lint:ignore CODE reason` or `// lint:file-ignore CODE reason`", "unknown comment `lint:%s`%s", word,
				suggestion(word, []string{"ignore", "file-ignore"}))
			continue
		}
		codes := codeList.FindString(rest)
		reason := rest[len(codes):]
		almost, hint := nearly.FindString(rest), ""
		if up := strings.ToUpper(almost); slices.Contains(Codes(), up) {
			hint = "; did you mean `" + up + "`?"
		}
		switch {
		case codes == "" && almost != "":
			report(bareSuppression, c.Span, nil, "`ebb lint --explain all` lists the codes", "`%s` is no code, so this `lint:%s` suppresses nothing%s", almost, word, hint)
			continue
		case codes == "":
			report(bareSuppression, c.Span, nil, "name the codes, and say why: `// lint:"+word+" W406 late rows do not matter here`", "`lint:%s` without a code suppresses nothing", word)
			continue
		case reason == "":
			report(bareSuppression, c.Span, nil, "say why: `// lint:"+word+" "+codes+" late rows do not matter here`", "`lint:%s %s` without a reason suppresses nothing", word, codes)
			continue
		}
		x := &suppression{comment: c.Span, reason: reason, to: len(s.Tree.Source.Text) + 1}
		for _, at := range oneCode.FindAllStringIndex(codes, -1) {
			from, to := c.Span.Start.Offset+m[4]+at[0], c.Span.Start.Offset+m[4]+at[1]
			x.codes = append(x.codes, codes[at[0]:at[1]])
			x.at = append(x.at, syntax.Span{Start: s.Tree.Source.Pos(from), End: s.Tree.Source.Pos(to)})
		}
		x.used = make([]bool, len(x.codes))
		if word == "ignore" {
			x.from, x.to = s.reach(c)
		}
		list = append(list, x)
	}
	keep := func(f Finding) bool {
		if f.Refuses {
			return true
		}
		if !choice.Takes(f.Code) {
			return false
		}
		hidden := false
		for _, x := range list {
			if i := slices.Index(x.codes, f.Code); i >= 0 && f.Source == s.Tree.Source && x.from <= f.Span.Start.Offset && f.Span.Start.Offset < x.to {
				x.used[i], hidden = true, true
			}
		}
		return !hidden
	}
	var kept []Finding
	for _, f := range found {
		if keep(f) {
			kept = append(kept, f)
		}
	}
	for _, x := range list {
		for i, code := range x.codes {
			// What is not looked for cannot be found. L codes are about comments like this one.
			if x.used[i] || code[0] == 'L' || !choice.Takes(code) {
				continue
			}
			text := "nothing of `" + code + "` is found here"
			if !slices.Contains(Codes(), code) {
				text = "no rule has the code `" + code + "`" + suggestion(code, Codes())
			} else if slices.ContainsFunc(found, func(f Finding) bool { return f.Code == code && f.Refuses }) {
				text = "`" + code + "` keeps the script from running and cannot be suppressed"
			}
			report(unusedSuppression, x.at[i], s.without(x, i), "", "%s", text)
		}
	}
	for _, f := range wrong {
		if keep(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// reach is where a `lint:ignore` counts: in its line if something stands there, else in the stage or statement that comes
// next, or in the next line if that starts neither.
func (s *Script) reach(c syntax.Token) (from, to int) {
	text := s.Tree.Source.Text
	line := strings.LastIndexByte(text[:c.Span.Start.Offset], '\n') + 1
	if strings.TrimSpace(text[line:c.Span.Start.Offset]) != "" {
		return line, lineEnd(text, c.Span.End.Offset)
	}
	next := s.nextToken(c.Span.End.Offset)
	for _, x := range s.Tree.Stmts {
		at := x.Range()
		if at.Start.Offset == next {
			return c.Span.End.Offset, lineEnd(text, at.End.Offset)
		}
		if next < at.Start.Offset || next >= at.End.Offset {
			continue
		}
		for _, st := range syntax.Stages(x) {
			if st.Start.Offset == next || s.nextToken(next+len("|>")) == st.Name.Start.Offset && strings.HasPrefix(text[next:], "|>") {
				return c.Span.End.Offset, st.End.Offset
			}
		}
	}
	return c.Span.End.Offset, lineEnd(text, next)
}

// nextToken is where something stands, at an offset or behind it, that is neither blank nor comment.
func (s *Script) nextToken(at int) int {
	text := s.Tree.Source.Text
	for {
		for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
			at++
		}
		i, ok := slices.BinarySearchFunc(s.Tree.Comments, at, func(c syntax.Token, at int) int { return cmp.Compare(c.Span.Start.Offset, at) })
		if !ok {
			return at
		}
		at = s.Tree.Comments[i].Span.End.Offset
	}
}

func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text) + 1
}

// without takes a code out of a comment, and the comment out of the text if it is the only one.
func (s *Script) without(x *suppression, i int) *Fix {
	text := s.Tree.Source.Text
	from, to := x.at[i].Start.Offset, x.at[i].End.Offset
	switch {
	case len(x.codes) > 1 && i+1 < len(x.codes):
		to = x.at[i+1].Start.Offset
	case len(x.codes) > 1:
		from = x.at[i-1].End.Offset
	default:
		from, to = x.comment.Start.Offset, x.comment.End.Offset
		line := strings.LastIndexByte(text[:from], '\n') + 1
		alone := strings.TrimSpace(text[line:from]) == ""
		if rest := text[to:lineEnd(text+"\n", to)]; strings.TrimSpace(rest) == "" {
			to += len(rest)
			if alone && to < len(text) {
				to++
			}
			from = line + len(strings.TrimRight(text[line:from], " \t"))
		}
	}
	return replace(syntax.Span{Start: s.Tree.Source.Pos(from), End: s.Tree.Source.Pos(to)}, "", Safe, "take it out")
}

// suggestion is "; did you mean `x`?" or "".
func suggestion(word string, words []string) string {
	if s := syntax.Suggest(word, words); s != "" {
		return "; did you mean `" + s + "`?"
	}
	return ""
}
