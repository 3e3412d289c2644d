package check

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Bounds of one expression. expr's parser recurses at most once a token, and this package at most maxDepth deep.
const (
	maxTokens = 100_000
	maxDepth  = 1_000
)

// exprText is the text of an expression as expr's parser gets it. What that parser does not know is replaced by names of
// the same number of runes, so that its positions are ours: a node is recognised by where it stands, not by its name.
type exprText struct {
	expr  *syntax.Expr
	text  string
	words map[int]word     // what was replaced, by rune offset; nil: nothing
	named map[int][]string // of calls with named arguments: the name of each argument in the parentheses, by the call's rune offset; nil: none
	odd   bool             // it holds line breaks, or runes of several bytes
	at    []syntax.Pos     // of an odd text: position of each rune, and of the end; made when it is needed
	toks  []file.Location  // of the tokens
	kinds []byte           // of the tokens: 0, '(' for what opens and ')' for what closes a bracket
}

// word is what stands behind a replaced name.
type word struct {
	name  string      // a name: quoted, or one that expr would take for its builtin
	value *types.Expr // a duration or a time
}

// typer prepares the typing of e; nil if it does not parse, which has been reported.
func (c *checker) typer(e *syntax.Expr, sc *scope) *typer {
	small := &struct { // all that a small expression needs, in one piece of memory
		typer
		exprText
		toks  [1]file.Location
		kinds [1]byte
		known [4]typed
		above [4]ast.Node
	}{}
	x, t := &small.exprText, &small.typer
	*x = exprText{expr: e, odd: strings.IndexFunc(e.Text, func(r rune) bool { return r == '\n' || r >= utf8.RuneSelf }) >= 0,
		toks: small.toks[:0], kinds: small.kinds[:0]}
	*t = typer{c: c, sc: sc, text: x, memo: memo{few: small.known[:0]}, above: small.above[:0]}
	tokens := e.Tokens
	if tokens == nil {
		all, diags := syntax.Lex(syntax.NewSource("", e.Text))
		for _, d := range diags {
			c.report(e.Source, e.Span, d.Code, d.Message, d.Help)
		}
		if len(diags) > 0 {
			return nil
		}
		for _, tok := range all {
			if !tok.Trivia() && tok.Kind != syntax.KindEOF {
				tok.Span.Start.Offset += e.Start.Offset
				tok.Span.End.Offset += e.Start.Offset
				tokens = append(tokens, tok)
			}
		}
	}
	if len(tokens) == 0 {
		c.report(e.Source, e.Span, "P100", "an expression is missing", "")
		return nil
	}
	if len(tokens) > maxTokens {
		c.report(e.Source, e.Span, "T229", "the expression is too long", "keep lists of that length in a file and join with it")
		return nil
	}
	if len(tokens) == 1 && tokens[0].Kind == syntax.KindIdent && readAsName(tokens[0]) && tokens[0].Text == e.Text {
		x.text, x.toks, x.kinds = e.Text, append(x.toks, file.Location{To: utf8.RuneCountInString(e.Text)}), append(x.kinds, 0)
	} else if !t.rewrite(tokens) {
		return nil
	}
	if len(tokens) == 1 { // more than half of all expressions, and nothing to parse
		t.tree = t.single(tokens[0])
	}
	if t.tree == nil {
		t.tree = t.parse()
	}
	if t.tree == nil {
		return nil
	}
	return t
}

// single is the tree of a token that expr's parser would take for a name or a plain string; nil: it should look itself.
func (t *typer) single(tok syntax.Token) ast.Node {
	at := t.text.toks[0]
	switch {
	case readAsName(tok):
		n := &ast.IdentifierNode{Value: t.text.slice(at)}
		n.SetLocation(at)
		return n
	case tok.Kind == syntax.KindString && (tok.Text[0] == '"' || tok.Text[0] == '\'') && !strings.ContainsAny(tok.Text, "\\\r\n"):
		n := &ast.StringNode{Value: syntax.Unquote(tok.Text)}
		n.SetLocation(at)
		return n
	}
	return nil
}

// readAsName reports whether expr's parser takes a token for a name: one, or what a name stands for in its text.
func readAsName(tok syntax.Token) bool {
	switch tok.Kind {
	case syntax.KindQuoted, syntax.KindDuration, syntax.KindTime:
		return true
	}
	return tok.Kind == syntax.KindIdent && !isOperatorWord(tok.Text) && !isLiteral(tok)
}

// rewrite makes the text for the parser.
func (t *typer) rewrite(tokens []syntax.Token) bool {
	x := t.text
	base := x.expr.Start.Offset
	var b strings.Builder
	b.Grow(len(x.expr.Text))
	x.toks, x.kinds = slices.Grow(x.toks, len(tokens)), slices.Grow(x.kinds, len(tokens))
	done, runes := 0, 0 // of the text
	var calls []openCall
	depth, colon := 0, -1
	for i, tok := range tokens {
		from, to := tok.Span.Start.Offset-base, tok.Span.End.Offset-base
		if tok.Kind == syntax.KindBad || tok.Kind == syntax.KindUnknown {
			return false // reported by the lexer
		}
		b.WriteString(x.expr.Text[done:from])
		runes += utf8.RuneCountInString(x.expr.Text[done:from])
		done = from
		var w word
		replace := false
		switch tok.Kind {
		case syntax.KindDuration:
			d, err := syntax.ParseDuration(tok.Text)
			if err != nil {
				return false
			}
			w.value, replace = types.Const(types.T(types.Duration), int64(d)), true
		case syntax.KindTime:
			at, err := syntax.ParseTime(tok.Text)
			if err != nil {
				return false
			}
			w.value, replace = types.Const(types.T(types.Time), at.UnixNano()), true
		case syntax.KindQuoted:
			w.name, replace = syntax.Unquote(strings.TrimPrefix(tok.Text, "@")), true
		case syntax.KindIdent:
			w.name, replace = tok.Text, t.ownCall(tokens, i)
		case syntax.KindOpen:
			depth++
			call := openCall{at: -1}
			if tok.Text == "(" && i > 0 && tokens[i-1].Kind == syntax.KindIdent && !isOperatorWord(tokens[i-1].Text) {
				call.at = runes - utf8.RuneCountInString(x.expr.Text[tokens[i-1].Span.Start.Offset-base:from])
			}
			calls = append(calls, call)
		case syntax.KindClose:
			depth--
			if n := len(calls) - 1; n >= 0 {
				if c := calls[n]; c.found {
					if prev := tokens[i-1]; prev.Kind != syntax.KindComma && prev.Text != "(" {
						c.names = append(c.names, c.name)
					}
					if x.named == nil {
						x.named = map[int][]string{}
					}
					x.named[c.at] = c.names
				}
				calls = calls[:n]
			}
		case syntax.KindComma:
			if n := len(calls) - 1; n >= 0 {
				calls[n].names = append(calls[n].names, calls[n].name)
				calls[n].name = ""
			}
		}
		if depth > 200 {
			t.c.report(x.expr.Source, tok.Span, "P023", "brackets are nested deeper than 200", "")
			return false
		}
		switch n := len(calls) - 1; {
		case replace:
			if x.words == nil {
				x.words = map[int]word{}
			}
			x.words[runes] = w
			n := utf8.RuneCountInString(tok.Text)
			b.WriteString(strings.Repeat("x", n))
			if i+1 < len(tokens) && tokens[i+1].Span.Start.Offset-base == to && operandText(tokens[i+1]) {
				t.c.report(x.expr.Source, tokens[i+1].Span, "P100", "an operator is missing before `"+short(tokens[i+1].Text)+"`", "")
				return false
			}
		case tok.Kind == syntax.KindIdent && n >= 0 && calls[n].at >= 0 && (tokens[i-1].Text == "(" || tokens[i-1].Kind == syntax.KindComma) &&
			i+1 < len(tokens) && tokens[i+1].Text == ":":
			calls[n].name, calls[n].found = tok.Text, true
			colon = i + 1
			b.WriteString(strings.Repeat(" ", utf8.RuneCountInString(tok.Text)))
		case i == colon:
			b.WriteByte(' ')
		default:
			b.WriteString(tok.Text)
		}
		done = to
		loc := file.Location{From: runes}
		runes += utf8.RuneCountInString(tok.Text)
		loc.To = runes
		kind := byte(0)
		switch tok.Kind {
		case syntax.KindOpen:
			kind = '('
		case syntax.KindClose:
			kind = ')'
		}
		x.toks, x.kinds = append(x.toks, loc), append(x.kinds, kind)
	}
	b.WriteString(x.expr.Text[min(done, len(x.expr.Text)):])
	x.text = b.String()
	return true
}

// openCall is a bracket that is open while the text is rewritten.
type openCall struct {
	at    int // rune offset of the function's name; -1: no call
	name  string
	names []string
	found bool // an argument has a name
}

// isOperatorWord reports whether a word in front of a bracket is an operator, not the name of a function.
func isOperatorWord(s string) bool {
	switch s {
	case "and", "or", "not", "in", "matches", "contains", "startsWith", "endsWith", "if", "else", "let":
		return true
	}
	return false
}

// operandText reports whether a token would run into a name that stands before it.
func operandText(tok syntax.Token) bool {
	switch tok.Kind {
	case syntax.KindIdent, syntax.KindQuoted, syntax.KindNumber, syntax.KindDuration, syntax.KindTime:
		return true
	}
	return false
}

// ownCall reports whether token i is the name of a call that expr would take for one of its own builtins, and is not.
func (t *typer) ownCall(tokens []syntax.Token, i int) bool {
	if i+1 >= len(tokens) || tokens[i+1].Text != "(" || tokens[i+1].Kind != syntax.KindOpen {
		return false
	}
	name := tokens[i].Text
	if _, ok := builtin.Index[name]; !ok {
		return false
	}
	if i > 0 {
		switch tokens[i-1].Text {
		case ".", "?.", "::", "#":
			return false
		}
	}
	if t.sc.fns[name] != nil {
		return true
	}
	return t.sc.aggs != nil && t.c.env.Agg(name) != nil
}

var exprConfig = &conf.Config{MaxNodes: 4 * maxTokens}

// parse runs expr's parser. Its empty environment makes it take every builtin by its name, whatever the columns are called.
func (t *typer) parse() (node ast.Node) {
	defer func() {
		if r := recover(); r != nil {
			t.c.report(t.text.expr.Source, t.text.expr.Span, "P100", "the expression cannot be read", "")
			node = nil
		}
	}()
	tree, err := parser.ParseWithConfig(t.text.text, exprConfig)
	if err != nil {
		t.parseError(err)
		return nil
	}
	return tree.Node
}

// position gives the place of a rune of the expression in the script.
func (x *exprText) position(r int) syntax.Pos {
	if !x.odd {
		p := x.expr.Start
		r = min(max(r, 0), len(x.expr.Text))
		p.Offset, p.Column = p.Offset+r, p.Column+r
		return p
	}
	if x.at == nil {
		p := x.expr.Start
		for i, c := range x.expr.Text {
			p.Offset = x.expr.Start.Offset + i
			x.at = append(x.at, p)
			if p.Column++; c == '\n' {
				p.Line, p.Column = p.Line+1, 1
			}
		}
		p.Offset = x.expr.Start.Offset + len(x.expr.Text)
		x.at = append(x.at, p)
	}
	return x.at[min(max(r, 0), len(x.at)-1)]
}

func (x *exprText) span(l file.Location) syntax.Span {
	return syntax.Span{Start: x.position(l.From), End: x.position(l.To)}
}

// slice is the text as written at a location.
func (x *exprText) slice(l file.Location) string {
	s := x.span(l)
	base := x.expr.Start.Offset
	return x.expr.Text[s.Start.Offset-base : s.End.Offset-base]
}

// place is where a node stands, for run-time errors.
func (t *typer) place(n ast.Node) types.Place {
	l := n.Location()
	if l.To == 0 {
		l = whole(n)
	}
	p := t.text.position(l.From)
	return types.Place{File: t.file(), Line: p.Line, Column: p.Column}
}

// file is the name of the text that the expression stands in.
func (t *typer) file() string {
	if t.text.expr.Source == nil {
		return ""
	}
	return t.text.expr.Source.Name
}

// tokenAt is the span of the token at a place, if it is in this text.
func (t *typer) tokenAt(p types.Place) (syntax.Span, bool) {
	for _, l := range t.text.toks {
		if at := t.text.position(l.From); at.Line == p.Line && at.Column == p.Column && t.file() == p.File {
			return t.text.span(l), true
		}
	}
	return syntax.Span{}, false
}

// closed is the location of a node with all below it and the brackets that belong to it.
func (t *typer) closed(n ast.Node) file.Location {
	l := whole(n)
	x := t.text
	i := sort.Search(len(x.toks), func(i int) bool { return x.toks[i].To > l.From })
	j := sort.Search(len(x.toks), func(i int) bool { return x.toks[i].From >= l.To }) // behind the last
	if i >= j {
		return l
	}
	open, missing := 0, 0
	for _, k := range x.kinds[i:j] {
		switch {
		case k == '(':
			open++
		case k == ')' && open > 0:
			open--
		case k == ')':
			missing++
		}
	}
	if j < len(x.toks) && x.slice(x.toks[j]) == "(" && isName(x.slice(x.toks[j-1])) {
		open, j = open+1, j+1 // it ends with a call without arguments
	}
	for ; open > 0 && j < len(x.toks); j++ {
		switch x.kinds[j] {
		case '(':
			open++
		case ')':
			open--
		}
	}
	for ; missing > 0 && i > 0; i-- {
		switch x.kinds[i-1] {
		case '(':
			missing--
		case ')':
			missing++
		}
	}
	return file.Location{From: x.toks[i].From, To: x.toks[j-1].To}
}

// isName reports whether a token is a name that can stand in front of the bracket of a call.
func isName(tok string) bool {
	r, _ := utf8.DecodeRuneInString(tok)
	return (unicode.IsLetter(r) || r == '_') && !isOperatorWord(tok)
}

// whole is the location of a node with all below it. expr's own is the operator's or the name's.
func whole(n ast.Node) file.Location {
	v := &extent{left: maxTokens}
	v.l.From = -1
	v.node(n)
	if v.l.From < 0 {
		return file.Location{}
	}
	return v.l
}

// extent collects a location. It stops after some nodes: trees may share.
type extent struct {
	l    file.Location
	left int
}

func (v *extent) node(n ast.Node) {
	if v.left--; v.left < 0 || n == nil {
		return
	}
	if l := n.Location(); l.To > 0 {
		if _, if_ := n.(*ast.ConditionalNode); !if_ { // its own location is the token after it
			if v.l.From < 0 || l.From < v.l.From {
				v.l.From = l.From
			}
			v.l.To = max(v.l.To, l.To)
		}
	}
	for _, k := range Below(n) {
		v.node(k)
	}
}

// Below lists the children of a node of an expression in the order of the text, the name that a call calls included.
func Below(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.SliceNode:
		kids := []ast.Node{n.Node}
		if n.From != nil {
			kids = append(kids, n.From)
		}
		if n.To != nil {
			kids = append(kids, n.To)
		}
		return kids
	case *ast.CallNode:
		return append([]ast.Node{n.Callee}, n.Arguments...)
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.VariableDeclaratorNode:
		return []ast.Node{n.Value, n.Expr}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	}
	return nil
}
