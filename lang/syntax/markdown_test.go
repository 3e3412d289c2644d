package syntax

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const page = "# A page\n\n" +
	"```ebb orders.ebb\nlet a = 1\nlet b = 2\n```\n\n" +
	"1. In a list:\n\n" +
	"   ```ebb\n   let größe = 3\n\n   rows([{x: 1}])\n     |> where x > größe\n   ```\n\n" +
	"```sh\n```ebb\nlet no = 1\n```\n\n" + // a fence inside of another block is its text
	"``` ebb `code` in a line\n" +
	"~~~~ebb\nlet c = \"```\"\n~~~\n~~~~\n\n" +
	"```ebb\n```\n" +
	"```ebb\nlet d = 4"

func TestBlocks(t *testing.T) {
	src := NewSource("page.md", page)
	blocks := Blocks(src)
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	require.Equal(t, []string{"let a = 1\nlet b = 2\n", "let größe = 3\n\nrows([{x: 1}])\n  |> where x > größe\n", "let c = \"```\"\n~~~\n", "", "let d = 4"}, texts)
	require.Equal(t, "orders.ebb", blocks[0].Info)
	require.Equal(t, page, Replace(src, blocks, texts))

	// Every place of a block lies in the page where its text says.
	for _, b := range blocks {
		own := NewSource("", b.Text)
		for i := range b.Text {
			at := b.Lift(own.Pos(i))
			require.Equal(t, src.Pos(at.Offset), at)
			require.True(t, strings.HasPrefix(page[at.Offset:], b.Text[i:i+1]))
		}
		at := b.Lift(own.Pos(len(b.Text)))
		require.Equal(t, src.Pos(at.Offset), at)
		require.LessOrEqual(t, at.Offset, b.End)
	}

	texts[1] = "let größe = 4\n\nrows([])\n"
	require.Contains(t, Replace(src, blocks, texts), "   ```ebb\n   let größe = 4\n\n   rows([])\n   ```\n")
}

func TestBlocksOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"```", "```ebb", " ```ebb", "\t~~~ebb x", "~~~", "  let a = 1", "ä", "", "``` `", "````"})).Draw(t, "lines")
		src := NewSource("page.md", strings.Join(lines, "\n"))
		blocks := Blocks(src)
		var texts []string
		for _, b := range blocks {
			texts = append(texts, b.Text)
			own := NewSource("", b.Text)
			for i := 0; i <= len(b.Text); i++ {
				if i < len(b.Text) && b.Text[i]&0xC0 == 0x80 {
					continue
				}
				at := b.Lift(own.Pos(i))
				require.Equal(t, src.Pos(at.Offset), at)
			}
		}
		require.Equal(t, src.Text, Replace(src, blocks, texts))
	})
}
