// Package complete says what may stand at the end of a statement that is being written: for the Tab of a session and for
// editors. It knows the grammar, and asks a World for what only a catalog, a script and files can tell.
package complete

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Kind is what an item is.
type Kind uint8

// The kinds of items.
const (
	Word      Kind = iota // of the language: a statement, a clause, an operator
	Stage                 // of the language, or a pipe
	Connector             // of the catalog
	Option                // of a connector
	Function              // of the catalog, or a fn
	Aggregate             // of the catalog
	Column                // of the rows at hand
	Constant              // a param or a let
	Rows                  // a stream or a source
	Target                // a sink
	Type                  // the name of a type
	Value                 // of an option or a setting
	File                  // or folder
)

// Item is what may stand there.
type Item struct {
	Text string
	Kind Kind
	Type string // of a column; "" if it is not known
}

// World is what a completion asks.
type World interface {
	// Names, Conn and Stage are those of check.Env: what is deprecated is not among the names.
	Names(kind string) []string
	Conn(name string) *types.ConnSig
	Stage(name string) *types.StageSig
	// Named returns the names that statements with a keyword define: "param", "let", "fn", "pipe", "source", "sink", "stream".
	Named(keyword string) []string
	// Columns returns the columns of the rows that a text leads to: a pipeline, or the beginning of a stream.
	Columns(before string) []types.Field
	// Files returns what a path that is typed may go on with, as paths.
	Files(typed string) []string
}

// At returns what may stand at the end of a text, and from which byte on it would stand there. The text begins with the
// statement that is being written. Items are sorted, and begin with what is there.
func At(text string, w World) (from int, items []Item) {
	from, items = (&asking{World: w, text: text}).statement()
	typed := text[from:]
	items = slices.DeleteFunc(items, func(i Item) bool { return !strings.HasPrefix(i.Text, typed) })
	slices.SortFunc(items, func(a, b Item) int { return cmp.Or(strings.Compare(a.Text, b.Text), int(b.Kind)-int(a.Kind)) })
	return from, slices.CompactFunc(items, func(a, b Item) bool { return a.Text == b.Text })
}

// asking is one completion.
type asking struct {
	World
	text   string
	tokens []syntax.Token // before what is being typed, without trivia
	at     place
}

func (a *asking) statement() (int, []Item) {
	tokens, _ := syntax.Lex(&syntax.Source{Text: a.text})
	tokens = slices.DeleteFunc(tokens, func(t syntax.Token) bool { return t.Kind == syntax.KindSpace || t.Kind == syntax.KindEOF })
	from := len(a.text)
	if n := len(tokens); n > 0 {
		last := tokens[n-1]
		switch {
		case last.Kind == syntax.KindComment && (strings.HasPrefix(last.Text, "//") && last.Span.End.Offset == len(a.text) || !strings.HasSuffix(last.Text, "*/")):
			return from, nil
		case last.Kind == syntax.KindBad && strings.IndexByte("'\"`", last.Text[0]) >= 0:
			from = last.Span.Start.Offset + 1
			return from, list(File, a.Files(a.text[from:]))
		case last.Span.End.Offset == len(a.text) && (last.Kind == syntax.KindIdent || last.Kind == syntax.KindBad && last.Text == "@"):
			from, tokens = last.Span.Start.Offset, tokens[:n-1]
		case last.Kind == syntax.KindNumber || last.Kind == syntax.KindDuration || last.Kind == syntax.KindTime:
			if last.Span.End.Offset == len(a.text) {
				return from, nil
			}
		}
	}
	a.tokens = slices.DeleteFunc(tokens, syntax.Token.Trivia)
	a.at.look(a.tokens)
	return from, a.here()
}

// here offers what the grammar has a place for.
func (a *asking) here() []Item {
	at, n := a.at, len(a.tokens)
	if n == 0 {
		return slices.Concat(list(Word, syntax.Statements), a.inputs())
	}
	first, last := a.tokens[0].Text, a.tokens[n-1]
	switch {
	case last.Text == "." || last.Text == "?.":
		return a.fields()
	case at.typed:
		return list(Type, typeNames)
	case at.call != "" && last.Text == ":":
		return slices.Concat(list(Value, []string{"true", "false"}), a.constants())
	case at.call != "":
		return slices.Concat(a.options(at.call), a.constants())
	case last.Kind == syntax.KindPipe, first == "pipe" && last.Kind == syntax.KindAssign && at.stage == "":
		return a.stages()
	case last.Kind == syntax.KindArrow, (last.Text == "into" || last.Text == "tee") && at.stage != "aggregate":
		return slices.Concat(a.conns(false), list(Target, a.Named("sink")))
	case at.head:
		return a.head(first, last)
	case last.Text == "join" || at.stage == "union":
		return a.inputs()
	case a.tokens[n-2].Kind == syntax.KindPipe && slices.Contains([]string{"left", "full", "semi", "anti"}, last.Text):
		return list(Word, []string{"join"})
	case wordsBehind[last.Text] != nil && a.opens(a.tokens[n-2], last.Text):
		return list(Word, wordsBehind[last.Text])
	}
	return a.inStage(last)
}

// head offers what stands before the first `|>`.
func (a *asking) head(first string, last syntax.Token) []Item {
	switch {
	case first == "set" && last.Text == "set":
		return list(Word, check.Settings())
	case first == "set" || first == "use":
		return nil
	case last.Kind == syntax.KindAssign && first == "stream":
		return a.inputs()
	case last.Kind == syntax.KindAssign && (first == "source" || first == "sink"):
		return a.conns(first == "source")
	case first == "source" && (last.Text == "time" || last.Text == "key"):
		return nil
	case first == "source" && last.Text == "on_error":
		return list(Word, wordsBehind["on_error"])
	case first == "source":
		return list(Word, []string{"schema", "time", "lag", "idle", "key", "on_error"})
	case first == "sink":
		return list(Word, []string{"schema"})
	}
	return slices.Concat(list(Function, a.Names("func")), a.constants())
}

// opens reports whether a word opens a clause of the stage: the stage takes it, and an operand stands before it.
func (a *asking) opens(before syntax.Token, label string) bool {
	if before.Kind == syntax.KindComma || before.Kind == syntax.KindOp || before.Kind == syntax.KindOpen || before.Kind == syntax.KindAssign || slices.Contains(syntax.Labels, before.Text) {
		return false
	}
	sig := a.Stage(a.at.stage)
	return label == "on_error" || sig == nil || slices.Contains(sig.Clauses, label)
}

// inStage offers the columns that reach a stage, functions and clauses.
func (a *asking) inStage(last syntax.Token) []Item {
	out := slices.Concat(a.columns(), list(Function, a.Names("func")), a.constants())
	if a.at.stage == "aggregate" || a.at.stage == "derive" {
		out = append(out, list(Aggregate, a.Names("agg"))...)
	}
	if last.Kind == syntax.KindComma || last.Kind == syntax.KindOp || last.Kind == syntax.KindOpen || last.Kind == syntax.KindAssign || last.Text == a.at.stage {
		return out
	}
	labels := syntax.Labels
	if sig := a.Stage(a.at.stage); sig != nil {
		labels = append(slices.Clone(sig.Clauses), "on_error")
	}
	return append(out, list(Word, slices.Concat(labels, []string{"and", "or", "in", "not"}))...)
}

// columns are those of the rows in front of the stage, and what a join calls the rows that it adds.
func (a *asking) columns() []Item {
	out := columns(a.Columns(a.text[:a.at.pipe]))
	if alias, _ := a.joined(); alias != "" {
		out = append(out, Item{Text: alias, Kind: Column})
	}
	return out
}

func columns(fields []types.Field) []Item {
	out := make([]Item, len(fields))
	for i, f := range fields {
		out[i] = Item{Text: types.QuoteName(f.Name), Kind: Column, Type: f.Type.String()}
	}
	return out
}

// joined is the name that the rows on the other side of a join have, and what they are the rows of. "" outside of a join.
func (a *asking) joined() (alias, rows string) {
	if !strings.HasSuffix(a.at.stage, "join") {
		return "", ""
	}
	for i, t := range a.tokens {
		switch {
		case t.Span.Start.Offset <= a.at.pipe || i == 0:
		case a.tokens[i-1].Text == "join" && rows == "":
			alias, rows = t.Text, t.Text
		case a.tokens[i-1].Text == "as":
			alias = t.Text
		}
	}
	return alias, rows
}

// fields are those of the record whose name, or path, stands before the dot.
func (a *asking) fields() []Item {
	if a.at.head {
		return nil
	}
	i := len(a.tokens) - 1 // a dot
	var path []string
	for i >= 1 && (a.tokens[i].Text == "." || a.tokens[i].Text == "?.") {
		t := a.tokens[i-1]
		if t.Kind != syntax.KindIdent && t.Kind != syntax.KindQuoted {
			return nil
		}
		name := t.Text
		if t.Kind == syntax.KindQuoted {
			name = syntax.Unquote(strings.TrimPrefix(name, "@"))
		}
		path = append(path, name)
		i -= 2
	}
	at := a.Columns(a.text[:a.at.pipe])
	if alias, rows := a.joined(); alias != "" && len(path) > 0 && path[len(path)-1] == alias {
		at, path = a.Columns(rows), path[:len(path)-1]
	}
	for _, name := range slices.Backward(path) {
		k := slices.IndexFunc(at, func(f types.Field) bool { return f.Name == name })
		if k < 0 {
			return nil
		}
		at = at[k].Type.Fields
	}
	return columns(at)
}

// stages are what follows `|>`.
func (a *asking) stages() []Item {
	return list(Stage, slices.Concat(a.Names("stage"), a.Named("pipe")))
}

// inputs are what a pipeline begins with.
func (a *asking) inputs() []Item {
	return slices.Concat(list(Rows, a.Named("stream")), list(Rows, a.Named("source")), a.conns(true))
}

func (a *asking) conns(source bool) []Item {
	var out []Item
	for _, name := range a.Names("conn") {
		if sig := a.Conn(name); source && sig.Source || !source && sig.Sink {
			out = append(out, Item{Text: name, Kind: Connector})
		}
	}
	return out
}

func (a *asking) options(conn string) []Item {
	sig := a.Conn(conn)
	if sig == nil {
		return nil
	}
	var out []Item
	for _, p := range sig.Params {
		if p.Deprecated == nil {
			out = append(out, Item{Text: p.Name + ":", Kind: Option})
		}
	}
	return out
}

// constants are the params, lets and functions of the script.
func (a *asking) constants() []Item {
	return slices.Concat(list(Constant, a.Named("param")), list(Constant, a.Named("let")), list(Function, a.Named("fn")))
}

func list(kind Kind, words []string) []Item {
	out := make([]Item, len(words))
	for i, w := range words {
		out[i] = Item{Text: w, Kind: kind}
	}
	return out
}

// wordsBehind are the words that a label takes.
var wordsBehind = map[string][]string{
	"window":   {"tumbling", "hopping", "cumulate", "session", "count"},
	"emit":     {"final", "changes"},
	"late":     {"drop", "into", "allow"},
	"keep":     {"first", "last", "ties"},
	"retain":   {"forever"},
	"on_error": {"drop", "fail", "into"},
}

var typeNames = []string{"bool", "int", "float", "string", "bytes", "time", "duration", "any"}

// place is where in a statement a text ends.
type place struct {
	head  bool   // before the first `|>`
	pipe  int    // byte of the last `|>`, or behind the `=` of a pipe that begins with a stage
	stage string // first word of the stage
	call  string // the connector whose brackets are open, "" if it is none
	typed bool   // where a type is wanted
}

func (p *place) look(tokens []syntax.Token) {
	p.head = true
	var open []int
	for i, t := range tokens {
		switch t.Kind {
		case syntax.KindPipe:
			p.head, p.pipe, p.stage, open = false, t.Span.Start.Offset, "", nil
			if i+1 < len(tokens) {
				p.stage = tokens[i+1].Text
			}
			if i+2 < len(tokens) && tokens[i+2].Text == "join" {
				p.stage += " join"
			}
		case syntax.KindAssign:
			if p.head && len(open) == 0 && tokens[0].Text == "pipe" {
				p.head, p.pipe = false, t.Span.End.Offset
				if i+1 < len(tokens) {
					p.stage = tokens[i+1].Text
				}
			}
		case syntax.KindOpen:
			open = append(open, i)
		case syntax.KindClose:
			open = open[:max(0, len(open)-1)]
		}
	}
	n := len(open)
	if len(tokens) == 0 {
		return
	}
	first, last := tokens[0].Text, tokens[len(tokens)-1]
	if n == 0 || open[n-1] == 0 {
		p.typed = first == "param" && last.Text == ":"
		return
	}
	i := open[n-1] - 1
	before := ""
	if i > 0 {
		before = tokens[i-1].Text
	}
	switch bracket := tokens[open[n-1]].Text; {
	case last.Text == ":" && (bracket == "{" && tokens[i].Text == "schema" || bracket == "(" && i == 1 && (first == "fn" || first == "pipe")):
		p.typed = true
	case bracket == "(":
		starts := i == 0 || tokens[i].Lead == syntax.LeadMargin || slices.Contains([]string{"=", "into", "tee", "join", "union", "=>"}, before)
		if starts && tokens[i].Kind == syntax.KindIdent && first != "let" && first != "fn" && first != "param" {
			p.call = tokens[i].Text
		}
	}
}
