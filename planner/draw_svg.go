package planner

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes of a drawing, in units of SVG.
const (
	boxWidth  = 280
	boxGap    = 40
	layerGap  = 56
	lineHigh  = 16
	boxPad    = 10
	wrapAt    = 40 // characters a line
	pictureAt = 10 // margin
)

// placed is a box with its place.
type placed struct {
	box
	layer, x, y, high int
	lines             []string // of the text
	notes             []string
}

// SVG draws the parallel plan, sources above, with the notes of each stage. It is a self-contained <svg> element.
func (p *Physical) SVG(notes Notes) string {
	boxes, arrows := p.drawing()
	at := map[string]*placed{}
	var all []*placed
	for _, b := range boxes {
		text := notes.lines(b)
		x := &placed{box: b, lines: wrap(text[0], wrapAt), notes: text[1:]}
		x.high = 2*boxPad + lineHigh*(1+len(x.lines)+len(x.notes))
		at[b.id], all = x, append(all, x)
	}
	width, height := layout(all, arrows, at)
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="ui-monospace, monospace" font-size="11">`+"\n",
		width, height, width, height)
	s.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">` +
		`<path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>` + "\n")
	for _, a := range arrows {
		from, to := at[a.from], at[a.to]
		if from == nil || to == nil {
			continue
		}
		x1, y1, x2, y2 := from.x+boxWidth/2, from.y+from.high, to.x+boxWidth/2, to.y
		fmt.Fprintf(&s, `<path d="M%d,%d C%d,%d %d,%d %d,%d" fill="none" stroke="#555" marker-end="url(#tip)"/>`+"\n", x1, y1, x1, y1+layerGap/2, x2, y2-layerGap/2, x2, y2)
		if a.text != "" {
			fmt.Fprintf(&s, `<text x="%d" y="%d" fill="#555">%s</text>`+"\n", (x1+x2)/2+6, (y1+y2)/2+4, html.EscapeString(label(a.text)))
		}
	}
	for _, b := range all {
		fmt.Fprintf(&s, `<g transform="translate(%d,%d)"><title>%s</title><rect width="%d" height="%d" rx="6" fill="%s" stroke="#444"/>`+"\n",
			b.x, b.y, html.EscapeString(b.stage+": "+b.text), boxWidth, b.high, tints[b.group.ID%len(tints)])
		y := boxPad + lineHigh - 4
		line := func(text, style string) {
			fmt.Fprintf(&s, `<text x="%d" y="%d"%s>%s</text>`+"\n", boxPad, y, style, html.EscapeString(text))
			y += lineHigh
		}
		line(fmt.Sprintf("%s · group %d × %d", b.stage, b.group.ID, b.group.Width), ` fill="#777"`)
		for _, l := range b.lines {
			line(l, ` fill="#111"`)
		}
		for _, n := range b.notes {
			line(n, ` fill="#0a58a8" font-weight="bold"`)
		}
		s.WriteString("</g>\n")
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// tints tell the groups apart.
var tints = []string{"#fdf6e3", "#e8f4ea", "#e7f0fa", "#f6e9f3", "#f3f0e6", "#e6f5f5"}

// layout gives each box its place: as far down as its longest way from a source, below what leads to it.
func layout(all []*placed, arrows []arrow, at map[string]*placed) (width, height int) {
	for range all { // plans have no circles, so this many rounds are enough
		moved := false
		for _, a := range arrows {
			if from, to := at[a.from], at[a.to]; from != nil && to != nil && to.layer <= from.layer {
				to.layer, moved = from.layer+1, true
			}
		}
		if !moved {
			break
		}
	}
	deepest, widest := 0, 1
	for _, b := range all {
		deepest = max(deepest, b.layer)
	}
	layers := make([][]*placed, deepest+1)
	for _, b := range all {
		layers[b.layer] = append(layers[b.layer], b)
		widest = max(widest, len(layers[b.layer]))
	}
	width = 2*pictureAt + widest*(boxWidth+boxGap) - boxGap
	y := pictureAt
	for _, boxes := range layers {
		mid := map[*placed]int{}
		for _, b := range boxes {
			n := 0
			for _, a := range arrows {
				if a.to == b.id && at[a.from] != nil {
					mid[b] += at[a.from].x
					n++
				}
			}
			if n > 0 {
				mid[b] /= n
			}
		}
		slices.SortStableFunc(boxes, func(a, b *placed) int { return mid[a] - mid[b] })
		x := (width - len(boxes)*(boxWidth+boxGap) + boxGap) / 2
		tallest := 0
		for _, b := range boxes {
			b.x, b.y = x, y
			x += boxWidth + boxGap
			tallest = max(tallest, b.high)
		}
		y += tallest + layerGap
	}
	return width, y - layerGap + pictureAt
}

// wrap breaks a text into lines of at most n characters, at blanks where it can.
func wrap(text string, n int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		for utf8.RuneCountInString(word) > n {
			r := []rune(word)
			if line != "" {
				out, line = append(out, line), ""
			}
			out, word = append(out, string(r[:n])), string(r[n:])
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= n:
			line += " " + word
		default:
			out, line = append(out, line), word
		}
	}
	return append(out, line)
}
