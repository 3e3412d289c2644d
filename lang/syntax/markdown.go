package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Block is what stands between the fences of a page of Markdown.
type Block struct {
	Page *Source
	Kind string // the first word on the fence: `ebb` of a script
	Info string // the others, such as the name of a file
	Text string // without the indentation of the fence
	// Start and End are the lines of the block in Page.Text, from the beginning of the first to the end of the last.
	Start, End int

	indent string
	line   int   // of Start, from 1
	begin  []int // offsets in Page.Text where the lines of Text begin, behind their indentation
	at     []int // offsets in Text where its lines begin
}

// Blocks finds the scripts of a page.
func Blocks(page *Source) []*Block {
	return slices.DeleteFunc(AllBlocks(page), func(b *Block) bool { return b.Kind != "ebb" })
}

// AllBlocks finds the blocks of a page.
func AllBlocks(page *Source) []*Block {
	var list []*Block
	var open *Block // nil outside of fences
	var body strings.Builder
	fence := ""
	line := 0
	for at := 0; at < len(page.Text); {
		line++
		end := len(page.Text)
		if i := strings.IndexByte(page.Text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		text := page.Text[at:end]
		bare := strings.TrimLeft(text, " \t")
		indent := text[:len(text)-len(bare)]
		ticks := len(bare) - len(strings.TrimLeft(bare, "`"))
		if ticks == 0 {
			ticks = len(bare) - len(strings.TrimLeft(bare, "~"))
		}
		switch {
		case fence == "" && ticks >= 3:
			words := strings.Fields(bare[ticks:])
			if bare[0] == '`' && strings.ContainsRune(bare[ticks:], '`') { // code in a line of text
				break
			}
			fence = bare[:ticks]
			open = &Block{Page: page, Start: end, indent: indent, line: line + 1}
			if len(words) > 0 {
				open.Kind, open.Info = words[0], strings.Join(words[1:], " ")
			}
		case fence != "" && ticks >= len(fence) && bare[0] == fence[0] && strings.TrimSpace(bare[ticks:]) == "":
			open.End, open.Text = at, body.String()
			list = append(list, open)
			fence, open = "", nil
			body.Reset()
		case open != nil:
			skip := 0
			for skip < len(open.indent) && skip < len(text) && (text[skip] == ' ' || text[skip] == '\t') {
				skip++
			}
			open.at = append(open.at, body.Len())
			open.begin = append(open.begin, at+skip)
			body.WriteString(text[skip:])
		}
		at = end
	}
	if open != nil { // a fence that is never closed goes to the end of the page
		open.End, open.Text = len(page.Text), body.String()
		list = append(list, open)
	}
	return list
}

// Lift is where a place in the block's text lies in the page.
func (b *Block) Lift(p Pos) Pos {
	i := p.Line - 1
	if i >= len(b.at) { // the end, behind the last line
		return b.Page.Pos(b.End)
	}
	start := strings.LastIndexByte(b.Page.Text[:b.begin[i]], '\n') + 1
	indent := utf8.RuneCountInString(b.Page.Text[start:b.begin[i]])
	return Pos{Offset: b.begin[i] + p.Offset - b.at[i], Line: b.line + i, Column: p.Column + indent}
}

// Indented gives the further lines of a text the indentation that they have in the page.
func (b *Block) Indented(text string) string {
	if b.indent == "" {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i := 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			lines[i] = b.indent + lines[i]
		}
	}
	return strings.Join(lines, "")
}

// Replace puts other texts in the place of blocks of a page; texts[i] is that of blocks[i].
func Replace(page *Source, blocks []*Block, texts []string) string {
	var b strings.Builder
	at := 0
	for i, x := range blocks {
		b.WriteString(page.Text[at:x.Start])
		if texts[i] == x.Text {
			b.WriteString(page.Text[x.Start:x.End])
		} else if texts[i] != "" {
			b.WriteString(strings.TrimPrefix(x.Indented("\n"+texts[i]), "\n"))
			if !strings.HasSuffix(texts[i], "\n") {
				b.WriteByte('\n')
			}
		}
		at = x.End
	}
	b.WriteString(page.Text[at:])
	return b.String()
}
