package syntax

// This file says between which tokens of a line a blank stands.

// How tightly the operators bind at which a long expression is broken, those that are broken first first.
const (
	levelNone   uint8 = iota
	levelNext         // the `;` behind a `let`
	levelElse         // the `:` of a chain of choices
	levelChoice       // `?` and `:`
	levelPipe
	levelOr
	levelAnd
	levelSum
	levelWord // no operator: a word that must not start a line
)

// grammarBlanks is the rule for tokens that belong to a statement itself.
func (f *formatter) grammarBlanks(from, to int) {
	for i := from; i < to; i++ {
		t := f.tokens[i]
		f.blank[i] = t.Kind != KindComma && t.Text != ":" && !f.isTight(i) && (i == 0 || !f.isTight(i-1))
	}
}

// isTight reports whether no blank stands on either side: the dot of a key, the dots of a range.
func (f *formatter) isTight(i int) bool {
	t := f.tokens[i]
	return t.Kind == KindOp && (t.Text == "." || t.Text == "..")
}

// typeBlanks is the rule inside of types, schemas and parameters. The blank before the first token is the caller's.
func (f *formatter) typeBlanks(from, to int) {
	for i := from; i < to; i++ {
		t := f.tokens[i]
		if t.Text == "{" && t.Kind == KindOpen {
			f.padded[i], f.padded[f.match[i]] = true, true
		}
		if i == from {
			continue
		}
		prev := f.tokens[i-1]
		switch {
		case prev.Kind == KindOpen:
			f.blank[i] = f.padded[i-1] && t.Kind != KindClose
		case t.Kind == KindClose:
			f.blank[i] = f.padded[i]
		default:
			f.blank[i] = t.Kind != KindComma && t.Text != ":" && t.Text != "?" && t.Text != "("
		}
	}
}

// exprState is where exprBlanks stands inside of one bracket.
type exprState struct {
	choices int  // `?` whose `:` is to come
	index   bool // the bracket is behind an operand: a call or an index
}

// exprBlanks is the rule inside of expressions. It also finds the levels of operators. The blank before the first token is
// the caller's.
func (f *formatter) exprBlanks(from, to int) {
	states := []exprState{{}}
	complete := false   // an operand stands to the left
	unary := false      // a sign or `!` does
	tightColon := false // the `:` of a slice does
	for i := from; i < to; i++ {
		t := f.tokens[i]
		st := &states[len(states)-1]
		var prev Token
		if i > from {
			prev = f.tokens[i-1]
		}
		member := prev.Kind == KindOp && (prev.Text == "." || prev.Text == "?." || prev.Text == "::")
		sign := t.Kind == KindOp && !complete && (t.Text == "-" || t.Text == "+" || t.Text == "!")
		blank := true
		switch {
		case prev.Kind == KindOpen:
			blank = f.padded[i-1] && t.Kind != KindClose
		case t.Kind == KindClose:
			blank = f.padded[i]
		case t.Kind == KindComma || t.Text == ";", member, tightColon, t.Text == "..", prev.Text == "..":
			blank = false
		case unary && !sign, (unary && sign || prev.Text == "#" && t.Kind == KindIdent) && prev.Span.End == t.Span.Start:
			blank = false
		case t.Kind == KindOpen && t.Text != "{":
			blank = !complete
		case t.Kind == KindOp && (t.Text == "." || t.Text == "?."):
			blank = !complete
		case t.Kind == KindOp && t.Text == ":":
			blank = st.choices > 0 && !(prev.Kind == KindOp && prev.Text == "?")
		}
		unary, tightColon = sign, false
		f.level[i] = levelNone
		switch t.Kind {
		case KindOpen:
			if t.Text == "{" && (complete || prev.Text == "else" && !member) { // of expr's `if c { a } else { b }`
				f.padded[i], f.padded[f.match[i]] = true, true
			}
			states = append(states, exprState{index: complete && t.Text == "["})
			complete = false
		case KindClose:
			if len(states) > 1 {
				states = states[:len(states)-1]
			}
			complete = true
		case KindIdent:
			complete = f.exprWord(i, complete, member)
		case KindOp:
			switch {
			case t.Text == ";":
				f.level[i] = levelNext
			case t.Text == "?" && complete:
				st.choices++
				f.level[i] = levelChoice
			case t.Text == ":":
				if st.choices > 0 {
					st.choices--
					f.level[i] = levelChoice
				} else {
					tightColon = st.index
				}
			case complete && (t.Text == "+" || t.Text == "-"):
				f.level[i] = levelSum
			case complete && t.Text == "||":
				f.level[i] = levelOr
			case complete && t.Text == "&&":
				f.level[i] = levelAnd
			case complete && t.Text == "|":
				f.level[i] = levelPipe
			}
			complete = t.Text == "#"
		case KindComma, KindAssign, KindArrow:
			complete = false
		default:
			complete = true
		}
		if i == from {
			continue
		}
		f.blank[i] = blank || !f.joins(prev, t)
	}
}

// exprWord classifies a name or a word of an expression, and reports whether an operand ends with it.
func (f *formatter) exprWord(i int, complete, member bool) bool {
	t := f.tokens[i]
	if i+1 < len(f.tokens) && isStatement(t.Text) && !f.binds(i) {
		// A line that starts so would be a statement.
		if k := f.tokens[i+1].Kind; k == KindIdent || k == KindQuoted || k == KindString || k == KindRaw {
			f.level[i] = levelWord
		}
	}
	switch {
	case member:
		return true
	case isBinaryWord(t.Text) && complete:
		switch t.Text {
		case "or":
			f.level[i] = levelOr
		case "and":
			f.level[i] = levelAnd
		}
		return false
	case t.Text == "not": // of `a not in b`, if an operand stands before it
		return complete
	case t.Text == "if", t.Text == "else", t.Text == "let":
		return false
	}
	return true
}

// joins reports whether two tokens are still two without a blank between them.
func (f *formatter) joins(a, b Token) bool {
	if a.Span.End == b.Span.Start || a.Kind == KindOpen || b.Kind == KindClose || a.Kind == KindComma || b.Kind == KindComma || b.Kind == KindOpen {
		return true
	}
	tokens, diags := Lex(&Source{Text: a.Text + b.Text})
	return len(diags) == 0 && len(tokens) == 3 && tokens[0].Text == a.Text && tokens[0].Kind == a.Kind && tokens[1].Kind == b.Kind
}
