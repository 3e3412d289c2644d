package langserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// A script of 2,100 lines, one letter after the other.
func BenchmarkTyping(b *testing.B) {
	var long strings.Builder
	long.WriteString("source orders = csv(\"orders.csv\") schema { customer: string, amount: int }\n")
	for i := range 300 {
		fmt.Fprintf(&long, "\nstream s%d = orders\n    |> where amount > %d\n    |> derive x%d = amount * %d\n    |> aggregate n = count(), m = max(x%d) by customer\n\ns%d |> into jsonl(\"s%d.jsonl\")\n", i, i, i, i+2, i, i, i)
	}
	s := New(Options{})
	at := func(line string) (*document, positionParams) {
		d := &document{s: s, uri: "file:///f.ebb", path: "/f.ebb", text: newText(long.String() + line)}
		return d, positionParams{documentParams{documentID{URI: d.uri}}, d.text.position(len(d.text.plain))}
	}
	b.Run("completion", func(b *testing.B) {
		for range b.N {
			d, p := at("\ns7 |> where m")
			completion(context.Background(), s, d, p)
		}
	})
	b.Run("diagnostics", func(b *testing.B) {
		for range b.N {
			d, _ := at("\ns7 |> where m > 1")
			s.diagnostics(d.look())
		}
	})
	b.Run("colours", func(b *testing.B) {
		d, p := at("")
		d.look()
		for range b.N {
			semanticTokensOf(context.Background(), s, d, p.documentParams)
		}
	})
	b.Run("references", func(b *testing.B) {
		d, p := at("\norders")
		d.look()
		for range b.N {
			references(context.Background(), s, d, referenceParams{positionParams: p})
		}
	})
}
