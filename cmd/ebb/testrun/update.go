package testrun

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Updated is what --update made of a script.
type Updated struct {
	Text  string   // with lines ending in \n, and without byte-order mark
	Count int      // expectations that were rewritten
	Left  []Unable // that were not
}

// Unable is an expectation that cannot be rewritten.
type Unable struct {
	Line int
	Why  string
}

// lineWidth is how long a line of a script may be.
const lineWidth = 100

// Update writes the rows that there were into the expectations that differ; the rest of the text stays as it is.
func (s *Script) Update(results []*Result) (*Updated, error) {
	u := &Updated{}
	type edit struct {
		at   syntax.Span
		text string
	}
	var edits []edit
	for _, r := range results {
		for _, f := range r.Failures {
			switch why := unable(r, f, s.Text); {
			case why != "":
				u.Left = append(u.Left, Unable{f.At.Start.Line, why})
			default:
				edits = append(edits, edit{f.Diff.Step.Value.Span, f.Diff.rewrite(s.Text)})
			}
		}
	}
	u.Count = len(edits)
	slices.SortFunc(edits, func(a, b edit) int { return b.at.Start.Offset - a.at.Start.Offset })
	own := s.from.before() // what stands before it is the page's
	was, text := s.Text[own:], s.Text
	for _, e := range edits {
		text = text[:e.at.Start.Offset] + e.text + text[e.at.End.Offset:]
	}
	text = text[own:]
	if laid, _ := syntax.Format(s.Name, was); laid == was {
		text, _ = syntax.Format(s.Name, text)
	}
	now := s.from
	now.Text = text
	if x, _ := Load(now, s.options); x == nil {
		return nil, errors.New("the rows that came cannot be written as a script")
	}
	u.Text = text
	return u, nil
}

// unable says why a failure cannot be made good by other rows; "" if it can.
func unable(r *Result, f Failure, text string) string {
	switch {
	case r.Stormy:
		return "it fails under chaos only"
	case f.Diff == nil:
		return "it is not about rows"
	case !f.Diff.Step.Listed:
		return "its rows do not stand in the step"
	}
	tokens, _ := syntax.Lex(syntax.NewSource("", text))
	at := f.Diff.Step.Value.Span
	for _, t := range tokens {
		if t.Kind == syntax.KindComment && t.Span.Start.Offset > at.Start.Offset && t.Span.End.Offset <= at.End.Offset {
			return "there are comments between its rows, which would be lost"
		}
	}
	return ""
}

// rewrite returns the list of rows as it should stand in the text. Rows that are right stay as they were written.
func (d *Diff) rewrite(text string) string {
	written := func(i int) string {
		at := d.Step.Rows[i].At
		return text[at.Start.Offset:at.End.Offset]
	}
	var rows []string
	if d.Step.Mode == "ordered" {
		owner := map[int]int{}
		for i, k := range d.Match {
			if k >= 0 {
				owner[k] = i
			}
		}
		for k, row := range d.Have {
			if i, ok := owner[k]; ok {
				rows = append(rows, written(i))
			} else {
				rows = append(rows, d.have(row))
			}
		}
	} else {
		near := map[int]int{}
		paired := map[int]bool{}
		for _, p := range d.Pairs {
			near[p[0]], paired[p[1]] = p[1], true
		}
		missing := 0
		for i, k := range d.Match {
			if k >= 0 {
				rows = append(rows, written(i))
				continue
			}
			if other, ok := near[missing]; ok {
				rows = append(rows, d.as(d.Missing[missing], d.Unexpected[other]))
			}
			missing++
		}
		for k, row := range d.Unexpected {
			if !paired[k] {
				rows = append(rows, d.have(row))
			}
		}
	}
	return d.list(rows, text)
}

// as is a row with the columns that another one names, in its order.
func (d *Diff) as(want check.TestRow, row Row) string {
	only := *d
	only.Columns = want.Names
	if want.Change != "" {
		only.Columns = append([]string{changeColumn}, want.Names...)
	}
	return only.have(row)
}

// list lays rows out: on one line where they stood on one and fit, else on a line each.
func (d *Diff) list(rows []string, text string) string {
	if len(rows) == 0 {
		return "[]"
	}
	at := d.Step.Value.Span
	one := "[" + strings.Join(rows, ", ") + "]"
	fits := at.Start.Column-1+utf8.RuneCountInString(one) <= lineWidth
	if fits && !strings.Contains(text[at.Start.Offset:at.End.Offset], "\n") {
		return one
	}
	step := d.Step.TestStep.Span.Start
	line := text[:step.Offset]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	margin := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	deeper := margin + "    "
	if strings.HasPrefix(margin, "\t") {
		deeper = margin + "\t"
	}
	return "[\n" + deeper + strings.Join(rows, ",\n"+deeper) + ",\n" + margin + "]"
}
