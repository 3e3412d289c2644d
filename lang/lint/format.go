package lint

import (
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// F: how a script is laid out.
var _ = define(
	Rule{
		Code: "F001", Name: "not-formatted", Severity: syntax.SevWarn, Fix: Safe,
		Text: "A script is not laid out as `ebb fmt` lays it out.",
		Why: "One layout for all scripts makes changes small and leaves nothing to argue about. The fix changes blanks and line breaks only. " +
			"Statements with errors may look as they like, and of `\\r\\n`, a byte-order mark and a last line without an end nothing is said: `ebb fmt` mends them.",
		Bad:   "csv(\"orders.csv\")\n  |> where amount>15\n",
		Good:  "csv(\"orders.csv\")\n    |> where amount > 15\n",
		Check: notFormatted,
	},
)

// notFormatted points at the first line that would change.
func notFormatted(p *Pass) {
	src := p.Tree.Source
	after := syntax.FormatScript(p.Tree)
	if !strings.HasSuffix(src.Text, "\n") { // a last line without an end is no finding
		after = strings.TrimSuffix(after, "\n")
	}
	if after == src.Text {
		return
	}
	// The edit is of the lines between the first and the last that change.
	before := src.Text
	from := 0
	for from < len(before) && from < len(after) && before[from] == after[from] {
		from++
	}
	from = strings.LastIndexByte(before[:from], '\n') + 1
	same := 0
	for same < len(before)-from && same < len(after)-from && before[len(before)-1-same] == after[len(after)-1-same] {
		same++
	}
	for same > 0 && before[len(before)-same-1] != '\n' {
		same--
	}
	to := len(before) - same
	line := to
	if i := strings.IndexByte(before[from:to], '\n'); i >= 0 {
		line = from + i
	}
	fix := &Fix{Applicability: Safe, Text: "lay it out as `ebb fmt` does", Edits: []Edit{
		{syntax.Span{Start: src.Pos(from), End: src.Pos(to)}, after[from : len(after)-same]},
	}}
	p.Report(syntax.Span{Start: src.Pos(from), End: src.Pos(line)}, "the script is not formatted from here on", "`ebb fmt` formats it", fix)
}
