package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"
)

// gExpr is the leaf that captures an expression as a range of tokens. Two operands side by side never occur in a valid
// expression, so it ends by itself at the first token that cannot continue it; no context is needed, and clause labels
// need not be reserved words.
type gExpr struct{ From, To int }

// Parse implements participle.Parseable.
func (e *gExpr) Parse(lex *lexer.PeekingLexer) error {
	s := exprScan{lex: lex}
	e.From = lex.Peek().Pos.Offset
	if f := s.run(); f != nil {
		return f
	}
	e.To = lex.Peek().Pos.Offset
	return nil
}

// exprScan walks over an expression. complete says whether an operand stands to the left of the cursor.
type exprScan struct {
	lex      *lexer.PeekingLexer
	complete bool
	begun    bool
	ternary  []int // token indexes of `?` without their `:`
	lets     int   // `let x = … ;` whose semicolon is to come
	ifs      []ifState
	last     lexer.Token // the operator that waits for its operand
}

// ifState is where an `if c { a } else { b }` of expr stands.
type ifState uint8

const (
	ifCond ifState = iota // the condition; a block follows
	ifElse                // after the first block
)

func (s *exprScan) run() *fault {
	for {
		t := s.lex.Peek()
		more, f := s.step(t)
		if f != nil {
			return f
		}
		if more {
			s.begun = true
			continue
		}
		return s.finish(t)
	}
}

func (s *exprScan) finish(t *lexer.Token) *fault {
	switch {
	case !s.complete && !s.begun:
		return missingExpr(s.lex)
	case !s.complete:
		help := ""
		if s.last.Value == "|" {
			help = "stages are separated by `|>`"
		}
		f := faultAt(&s.last, P057, help, "%s has no operand to its right", show(&s.last))
		if !t.EOF() {
			f.msg += ", but " + show(t)
		}
		return f
	case len(s.ternary) > 0:
		at := s.ternary[len(s.ternary)-1]
		return &fault{code: P057, from: at, to: at + 1, msg: "`?` without its `:`", help: "a choice is written `condition ? one : other`"}
	case len(s.ifs) > 0:
		what := "`{`"
		if prev := before(s.lex); prev.Value == "}" {
			what = "`else`"
		}
		return expected(s.lex, P057, "the choice of expr is `if a { 1 } else { 2 }`; `a ? 1 : 2` is shorter", what)
	}
	return nil
}

// operator takes a token after which an operand must come.
func (s *exprScan) operator() bool {
	s.last = *s.lex.Next()
	s.complete = false
	return true
}

// operand takes a token that is a value by itself, unless there is one already.
func (s *exprScan) operand() bool {
	if s.complete {
		return false
	}
	s.lex.Next()
	s.complete = true
	return true
}

// step takes the next token or says that the expression ends in front of it.
func (s *exprScan) step(t *lexer.Token) (bool, *fault) {
	switch kind := kindOf(t); kind {
	case KindOpen:
		return s.open(t), nil
	case KindIdent:
		return s.word(t)
	case KindOp:
		return s.op(t)
	case KindAssign:
		if s.lets > 0 && s.complete && s.last.Value == "let" {
			return s.operator(), nil
		}
		return false, nil
	default:
		return kind.operand() && s.operand(), nil
	}
}

func (s *exprScan) open(t *lexer.Token) bool {
	if t.Value == "{" && s.complete {
		n := len(s.ifs)
		if n == 0 {
			return false
		}
		skipGroup(s.lex)
		if s.ifs[n-1] == ifElse {
			s.ifs = s.ifs[:n-1]
		} else if next := s.lex.Peek(); next.Value == "else" {
			s.lex.Next()
			s.ifs[n-1] = ifElse
			switch s.lex.Peek().Value {
			case "if":
				s.ifs = s.ifs[:n-1]
				s.complete = false
				s.last = *next
			}
		}
		return true
	}
	skipGroup(s.lex)
	s.complete = true
	return true
}

// skipGroup goes past a bracket and all it holds. The brackets of a piece are balanced (cut.go).
func skipGroup(lex *lexer.PeekingLexer) {
	depth := 0
	for {
		t := lex.Next()
		switch kindOf(t) {
		case KindEOF:
			return
		case KindOpen:
			depth++
		case KindClose:
			if depth--; depth == 0 {
				return
			}
		}
	}
}

func (s *exprScan) word(t *lexer.Token) (bool, *fault) {
	word := t.Value
	switch {
	case isBinaryWord(word):
		if s.complete {
			return s.operator(), nil
		}
		return false, s.noLeft(t)
	case word == "not":
		if !s.complete {
			return s.operator(), nil
		}
		if next := peekAt(s.lex, 1); isBinaryWord(next.Value) && next.Value != "and" && next.Value != "or" {
			s.lex.Next()
			return s.operator(), nil
		}
		return false, nil
	case word == "let" && !s.complete:
		s.lets++
		s.operator()
		return true, nil
	case word == "if" && !s.complete:
		s.ifs = append(s.ifs, ifCond)
		return s.operator(), nil
	case word == "else":
		return false, nil
	}
	return s.operand(), nil
}

// noLeft reports an operator that has nothing to its left.
func (s *exprScan) noLeft(t *lexer.Token) *fault {
	if s.last.Value == "<" && t.Value == ">" {
		return faultAt(t, P057, "it is written "+OtherWords["<>"]+" here", "`<>` does not compare")
	}
	help := ""
	if next := peekAt(s.lex, 1); t.Value == "." && kindOf(&next) == KindIdent {
		help = "columns are named without a dot: `" + next.Value + "`"
	}
	if s.begun {
		return faultAt(t, P057, help, "%s follows %s without an operand between them", show(t), show(&s.last))
	}
	if t.Value == "*" {
		help = "all columns go on by themselves, and `derive` adds to them"
	}
	return faultAt(t, P057, help, "%s has no operand to its left", show(t))
}

func (s *exprScan) op(t *lexer.Token) (bool, *fault) {
	switch op := t.Value; op {
	case ".", "?.":
		return s.member(t)
	case "::":
		if s.complete {
			return false, nil
		}
		return s.operator(), nil
	case "#":
		return s.operand(), nil
	case "!":
		return !s.complete && s.operator(), nil
	case "-", "+":
		return s.operator(), nil
	case "?":
		if !s.complete {
			return false, s.orEnd(t)
		}
		s.ternary = append(s.ternary, t.Pos.Offset)
		return s.operator(), nil
	case ":":
		elvis := s.begun && !s.complete && s.last.Value == "?" // `a ?: b`
		if n := len(s.ternary); n > 0 && (s.complete || elvis) {
			s.ternary = s.ternary[:n-1]
			return s.operator(), nil
		}
		return false, nil
	case ";":
		if s.lets > 0 && s.complete {
			s.lets--
			return s.operator(), nil
		}
		return false, nil
	case "&":
		return false, faultAt(t, P013, "write `and`", "`&` means nothing here")
	case "|":
		if !s.complete {
			return false, s.noLeft(t)
		}
		name, paren := peekAt(s.lex, 1), peekAt(s.lex, 2)
		if kindOf(&name) == KindIdent && paren.Value != "(" {
			f := faultAt(t, P001, "write `|>` between stages; inside an expression `|` is followed by a call: `name | lower()`",
				"a single `|` before `%s`, which is no call%s", shorten(name.Value), didYouMean(name.Value, stageWords))
			return false, f
		}
		return s.operator(), nil
	}
	if !s.complete {
		return false, s.orEnd(t)
	}
	return s.operator(), nil
}

// orEnd reports a binary operator without a left side; at the start of an expression what is missing is the expression.
func (s *exprScan) orEnd(t *lexer.Token) *fault { return s.noLeft(t) }

// member takes `.name`, `?.name` and the dot of `?.[`.
func (s *exprScan) member(t *lexer.Token) (bool, *fault) {
	if !s.complete {
		return false, s.noLeft(t)
	}
	s.lex.Next()
	next := s.lex.Peek()
	switch {
	case kindOf(next) == KindIdent || kindOf(next) == KindQuoted:
		s.lex.Next()
	case t.Value == "?." && next.Value == "[":
	default:
		return false, expected(s.lex, P057, "", "a name")
	}
	return true, nil
}

// missingExpr says which expression is missing, by what stands before it.
func missingExpr(lex *lexer.PeekingLexer) *fault {
	prev, next := before(lex), lex.Peek()
	if prev == nil {
		return expected(lex, P033, "", "an expression")
	}
	switch {
	case kindOf(prev) == KindIdent && isStageWord(prev.Value):
		return expected(lex, P056, "for example `|> "+stageForms[prev.Value].example+"`", "an argument")
	case kindOf(prev) == KindIdent && clauseExample[prev.Value] != "":
		f := expected(lex, P061, "for example `"+clauseExample[prev.Value]+"`", "an operand")
		f.msg = "the clause `" + prev.Value + "` is empty"
		if !isLabel(prev.Value) {
			f.msg = "`" + prev.Value + "` needs an operand"
		}
		if !next.EOF() {
			f.msg += ": found " + show(next)
		}
		return f
	case prev.Value == ",":
		return expected(lex, P033, "a comma stands between two elements, not at the end", "another element")
	}
	return expected(lex, P033, "", "an expression")
}

// clauseExample shows a use of each label and inner word that an expression follows.
var clauseExample = map[string]string{
	"by": "by customer", "per": "per customer", "on": "on id == o.id", "within": "within 10m", "window": "window tumbling(1m)",
	"retain": "retain 1d", "rows": "rows 10", "every": "emit changes every 10s", "allow": "late allow 1m", "time": "time at lag 5s",
	"lag": "time at lag 5s", "idle": "time at idle 1m", "times": "times 2..5", "for": "for 2m", "when": "when amount > 100 => large",
}
