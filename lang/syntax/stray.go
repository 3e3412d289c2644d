package syntax

import (
	"slices"
	"strings"
)

// What stands where a statement, a head or a stage is complete. These messages are worth the most care: a lost comma or
// `|>` shows up here and nowhere else.

// stray reports text after a complete statement.
func (p *parser) stray(at, from, to int, what string) {
	t := p.tokens[at]
	switch {
	case p.strayMark(at, what):
	case what == "source" || what == "sink":
		p.strayInput(at, "a "+what)
	case t.Text == ")" || t.Text == "]" || t.Text == "}":
		p.errorAt(at, P021, "", "`%s` closes nothing", t.Text)
	case t.Kind == KindComma:
		help := "a statement defines one thing; write another `" + what + "`"
		p.errorAt(at, P003, help, "unexpected `,` after the %s", whole_(what))
	case t.Kind == KindAssign:
		p.errorAt(at, P058, "a comparison is written `==`", "unexpected second `=`")
	case what == "param" && (t.Text == "??" || t.Text == "?"):
		p.errorAt(at, P034, "", "a type takes one `?`")
	case what == "param" && t.Kind.operand():
		p.errorAt(at, P032, "for example `param limit: int = 5`", "expected `=` before the default %s", display(t))
	case t.Text == ":" && what == "let":
		p.errorAt(at, P003, "a `let` has no type", "unexpected `:`")
	case t.Kind == KindIdent && isStatement(t.Text) && what != "step":
		p.errorAt(at, P003, "start it on a new line at the left margin", "the statement `%s …` must start on a new line", t.Text)
	case t.Kind == KindIdent && isStageWord(t.Text):
		p.errorAt(at, P041, "stages stand in a `stream` or in a pipeline", "the stage `%s` cannot follow a `%s` statement", t.Text, what)
	default:
		p.errorAt(at, P003, "two values need an operator or a comma between them; another statement starts on a new line at the left margin",
			"unexpected %s after the complete %s", display(t), whole_(what))
	}
}

func whole_(what string) string {
	if what == "step" {
		return "step"
	}
	return "`" + what + "` statement"
}

// strayMark reports the marks that mean the same mistake everywhere.
func (p *parser) strayMark(at int, what string) bool {
	t := p.tokens[at]
	switch {
	case t.Text == ";":
		p.errorAt(at, P012, "a statement ends where the next one starts, at the left margin", "`;` does not end statements")
	case t.Text == "|":
		p.errorAt(at, P001, "write `|>` between stages", "stages are separated by `|>`, not by `|`")
	case t.Text == "#":
		p.errorAt(at, P003, "comments are written `// …` or `/* … */`", "unexpected `#`")
	case t.Text == "-" && at+1 < len(p.tokens) && p.tokens[at+1].Text == "-" && p.tokens[at+1].Lead == LeadNone:
		p.errorAt(at, P003, "comments are written `// …` or `/* … */`", "unexpected `--`")
	default:
		return false
	}
	return true
}

// strayInput reports what no clause of a source starts with.
func (p *parser) strayInput(at int, of string) {
	t := p.tokens[at]
	words := inputWords
	takes := "`schema {…}`, `time … lag … idle …`, `key …` and `on_error …`"
	if of == "a sink" {
		words, takes = []string{"schema"}, "`schema {…}`"
	}
	switch {
	case strings.EqualFold(t.Text, "watermark"):
		p.errorAt(at, P042, "event time and how far rows may come behind it: `time at lag 5s`", "unknown clause `%s`", t.Text)
	case t.Text == "lag" || t.Text == "idle":
		p.errorAt(at, P042, "for example `time at lag 5s idle 1m`", "`%s` belongs to the clause `time`", t.Text)
	case t.Kind == KindIdent && Suggest(t.Text, words) != "":
		p.errorAt(at, P042, "", "unknown clause `%s`%s", shorten(t.Text), didYouMean(t.Text, words))
	case t.Text == "{":
		p.errorAt(at, P042, "write `schema` in front: `schema { id: int }`", "unexpected `{`")
	case t.Kind == KindComma:
		p.errorAt(at, P042, "", "clauses are not separated by commas")
	case t.Text == ".":
		p.errorAt(at, P042, of+" is a connector call, no expression", "unexpected `.`")
	default:
		p.errorAt(at, P042, of+" takes "+takes, "unexpected %s", display(t))
	}
}

// strayHead reports what stands between the head of a pipeline and its first stage. If that is a stage without `|>`, it
// returns where it starts.
func (p *parser) strayHead(at int, g *gHead, head piece) int {
	t := p.tokens[at]
	word := p.stageAt(at, head.to)
	switch {
	case p.strayMark(at, "pipeline"):
	case word != "":
		p.lostPipe(at, word)
		return at
	case g.Input == nil && t.Kind == KindIdent && slices.Contains(inputWords, t.Text):
		p.errorAt(at, P042, "write it where the source is defined", "`%s` can only follow a connector call such as `csv(\"orders.csv\")`", t.Text)
	case t.Kind == KindIdent && g.Input != nil && Suggest(t.Text, inputWords) != "" && t.Lead == LeadNone:
		p.strayInput(at, "a source")
	case t.Kind == KindIdent && (isLabel(t.Text) || t.Lead == LeadNone && Suggest(t.Text, stageWords) == ""):
		p.errorAt(at, P059, "stages follow behind `|>`", "unexpected `%s` after the head of the pipeline", shorten(t.Text))
	case t.Kind == KindIdent:
		p.lostPipe(at, t.Text)
		return at
	case t.Kind == KindComma:
		p.errorAt(at, P059, "several streams become one with the stage `union`: `a |> union b`", "a pipeline starts with one stream, unexpected `,`")
	case t.Text == "{" && g.Input != nil:
		p.strayInput(at, "a source")
	case t.Kind == KindAssign && g.Input != nil && at > head.from && p.tokens[at-1].Text == ")":
		name := p.tokens[g.At].Text
		p.errorAt(g.At, P039, "write `fn "+name+"(…) = …` for a function, `pipe "+name+"(…) = …` for stages", "`%s(…) =` needs a keyword in front", shorten(name))
	case t.Kind == KindAssign:
		p.errorAt(at, P058, "", "unexpected `=`")
	case p.fileHelp(at) != "":
		p.errorAt(at, P059, p.fileHelp(at), "unexpected %s after the head of the pipeline", display(t))
	default:
		p.errorAt(at, P059, "a pipeline starts with a stream, a source or a connector call, not with an expression; constants are `let name = …`",
			"unexpected %s after the head of the pipeline", display(t))
	}
	return 0
}

// fileHelp is the remedy where the name of a file stands without its connector, as in `orders.csv`, at whose dot the token is;
// "" if there is none.
func (p *parser) fileHelp(at int) string {
	if p.tokens[at].Text != "." || at+1 >= len(p.tokens) || p.tokens[at-1].Kind != KindIdent || p.tokens[at+1].Kind != KindIdent {
		return ""
	}
	return nameConnector(`"` + p.tokens[at-1].Text + "." + p.tokens[at+1].Text + `"`)
}

// stageAt is the name of the known stage that starts at a token, "" if none does.
func (p *parser) stageAt(at, to int) string {
	t := p.tokens[at]
	if t.Kind != KindIdent || at+1 < to && p.tokens[at+1].Kind == KindAssign {
		return ""
	}
	if isStageWord(t.Text) {
		return t.Text
	}
	if p.joinWords(at, to) > 1 && !isLabel(t.Text) {
		name, _, _ := p.stageName(at, to)
		return name
	}
	return ""
}

func (p *parser) lostPipe(at int, word string) {
	guess := ""
	if !isStageWord(word) && p.joinWords(at, len(p.tokens)) == 1 {
		guess = didYouMean(word, stageWords)
	}
	p.errorAt(at, P050, "each stage starts with `|>`", "missing `|>` before `%s`%s", shorten(word), guess)
}

// strayStage reports what stands after a complete stage and returns where to go on: at a stage whose `|>` is missing,
// or at the end.
func (p *parser) strayStage(at, from, to int, stage string, info stageForm) int {
	t := p.tokens[at]
	var prev Token // of nothing, where the stage is broken at its first token
	if at > 0 {
		prev = p.tokens[at-1]
	}
	if word := p.stageAt(at, to); word != "" && (t.Lead != LeadNone || p.looksLikeStage(at, to)) {
		p.lostPipe(at, word)
		return at
	}
	switch {
	case p.strayMark(at, stage):
	case prev.Kind == KindIdent && at-2 >= from && p.opensClause(at-1, to) && p.emptyBefore(at-1, from):
		p.emptyClause(at-2, at-1, from, stage, info)
	case at-2 > from && p.tokens[at-2].Kind == KindComma && p.opensClause(at-1, to):
		p.errorAt(at-2, P055, "clauses are not separated by commas", "unexpected `,` before the clause `%s`", prev.Text)
	case t.Kind == KindAssign:
		p.strayAssign(at, from, stage, info)
	case t.Kind == KindArrow:
		p.errorAt(at, P070, "", "`=>` stands only in the cases of `split`")
	case t.Text == "{":
		p.errorAt(at, P073, "", "`%s` takes no block here", stage)
	case t.Text == ":":
		help := "columns get their names with `=`: `name = expression`"
		p.errorAt(at, P059, help, "unexpected `:`")
	case t.Kind == KindComma && info.form == formTarget:
		p.errorAt(at, P059, "write a stage for each target: `|> tee a |> into b`", "`%s` takes one target", stage)
	case t.Kind == KindComma && p.clauseAt(at, from) == "as" && stage != "unnest":
		p.errorAt(at, P059, "columns get their names with `=`: `name = expression`", "unexpected `,`")
	case t.Kind == KindComma:
		p.errorAt(at, P059, "clauses are not separated by commas", "unexpected `,`")
	case p.strayWord(at, from, to):
	case t.Kind == KindIdent && p.innerWord(t.Text):
		p.strayInner(at, stage, info)
	case t.Kind == KindIdent && t.Lead != LeadNone && !isReserved(t.Text) && !p.likeLabel(t.Text) && p.likeStage(at, to):
		p.lostPipe(at, t.Text)
		return at
	case t.Kind == KindIdent && p.likeLabel(t.Text):
		p.errorAt(at, P063, "", "unknown clause `%s`%s", shorten(t.Text), didYouMean(t.Text, Labels))
	default:
		p.lostComma(at, from, to, stage, info)
	}
	next := p.nextLost(at+1, to)
	p.rest(at, next)
	return next
}

// strayWord reports a word of SQL among or behind values.
func (p *parser) strayWord(at, from, to int) bool {
	word, prev, next := p.tokens[at].Text, strings.ToLower(p.tokens[at-1].Text), ""
	if at+1 < to {
		next = strings.ToLower(p.tokens[at+1].Text)
	}
	if p.tokens[at].Kind == KindOp {
		return false
	}
	help := ""
	switch low := strings.ToLower(word); {
	case prev == "case", prev == "interval":
		at, word = at-1, p.tokens[at-1].Text
		help = "it is written " + OtherWords[prev] + " here"
	case prev == "distinct" && at-2 == from:
		at, word = at-1, p.tokens[at-1].Text
		help = "each value once is `aggregate n = count() by …`"
	case slices.Contains([]string{"is", "like", "ilike", "between"}, low),
		low != word && slices.Contains([]string{"and", "or", "not", "in"}, low):
		help = "it is written " + OtherWords[low] + " here"
	case orderWord(prev) != "" && at-2 > from && (p.tokens[at-2].Text == "by" || p.tokens[at-2].Kind == KindComma):
		at, word = at-1, p.tokens[at-1].Text
		help = "the order stands behind the key: `" + p.tokens[at+1].Text + " " + orderWord(prev) + "`"
	case next == "(" && slices.Contains([]string{"tumbling", "hopping", "cumulate", "session", "tumble", "hop"}, low), low == "over":
		help = "a window is a clause: `aggregate n = count() by customer window tumbling(1m)`"
	case low == "filter" && next == "(":
		help = "rows are chosen in the aggregate: `count_if(amount > 5)`, `sum_if(amount, amount > 5)`"
	case low == "offset" && p.tokens[from].Text == "limit":
		help = "there is no offset: `limit` lets the first rows through"
	case low == "having":
		help = "groups are filtered by the next stage: `|> where n > 3`"
	case low == "group" && next == "by":
		help = "the keys follow `by` alone: `aggregate n = count() by customer`"
	case low == "order" && next == "by":
		help = "rows are put in order by a stage of its own: `|> sort by …`"
	default:
		return false
	}
	p.errorAt(at, P055, help, "unexpected `%s`", shorten(word))
	return true
}

// nextLost looks, behind a mistake, for a line that starts with a stage whose `|>` is missing. It reports it and returns
// where it starts.
func (p *parser) nextLost(from, to int) int {
	depth := 0
	for i := from; i < to; i++ {
		switch t := p.tokens[i]; {
		case t.Kind == KindOpen:
			depth++
		case t.Kind == KindClose:
			depth = max(depth-1, 0)
		case depth == 0 && t.Lead != LeadNone && p.tokens[i-1].Kind != KindComma && p.tokens[i-1].Kind != KindOp:
			if word := p.stageAt(i, to); word != "" {
				p.lostPipe(i, word)
				return i
			}
		}
	}
	return to
}

// likeStage reports whether a name at the start of a line is rather a stage than the next element of a list whose comma is
// missing.
func (p *parser) likeStage(at, to int) bool {
	if at+1 >= to {
		return false
	}
	next := p.tokens[at+1]
	return Suggest(p.tokens[at].Text, stageWords) != "" && next.Kind != KindAssign && next.Kind != KindComma || p.looksLikeStage(at, to)
}

func (p *parser) likeLabel(word string) bool { return Suggest(word, Labels) != "" }

func (p *parser) innerWord(word string) bool {
	switch word {
	case "asc", "desc", "every", "final", "changes", "ties", "times", "for", "forever", "lag", "idle", "schema", "allow":
		return true
	}
	return false
}

// looksLikeStage reports whether a stage word in the middle of a line is followed by what stages are followed by.
func (p *parser) looksLikeStage(at, to int) bool {
	if at+1 >= to {
		return false
	}
	next := p.tokens[at+1]
	return next.Lead == LeadNone && next.Kind == KindIdent && !isBinaryWord(next.Text) || next.Kind.operand() || next.Text == "{" && p.tokens[at].Text == "split"
}

// emptyBefore reports whether the label at i was read as the operand of a label or stage in front of it.
func (p *parser) emptyBefore(i, from int) bool {
	prev := p.tokens[i-1]
	return prev.Kind == KindIdent && (isLabel(prev.Text) && i-1 > from || i-1 == from)
}

func (p *parser) emptyClause(label, operand, from int, stage string, info stageForm) {
	word, read := p.tokens[label].Text, p.tokens[operand].Text
	if label == from {
		p.errorAt(label, P056, "for example `|> "+info.example+"`", "`%s` lacks its argument: `%s` was read as a name", stage, read)
		return
	}
	p.errorAt(label, P061, "for example `"+clauseExample[word]+"`", "the clause `%s` of `%s` is empty: `%s` was read as a name", word, stage, read)
}

func (p *parser) strayAssign(at, from int, stage string, info stageForm) {
	prev := p.tokens[at-1]
	switch {
	case info.unnamed || p.clauseAt(at, from) != "" && p.clauseAt(at, from) != "by" && p.clauseAt(at, from) != "per":
		p.errorAt(at, P058, "a comparison is written `==`", "`=` does not compare")
	case prev.Kind == KindIdent && at-2 >= from && p.tokens[at-2].Text == ".":
		p.errorAt(at, P058, "the name of a column has no dots; a comparison is written `==`", "the left side of `=` must be a single name")
	case prev.Kind == KindIdent && at-2 > from && p.tokens[at-2].Kind != KindComma && p.tokens[at-2].Kind != KindAssign:
		p.errorAt(at-1, P055, "elements are separated by commas", "missing `,` before `%s`", shorten(prev.Text))
	case prev.Kind == KindString || prev.Kind == KindRaw:
		p.errorAt(at-1, P058, "names are written without quotes, odd ones as @\"order id\"", "the left side of `=` must be a name, found %s", display(prev))
	default:
		p.errorAt(at, P058, "a comparison is written `==`", "the left side of `=` must be a single name")
	}
}

// clauseAt is the label of the clause that a token stands in, "" for the arguments of the stage.
func (p *parser) clauseAt(at, from int) string {
	for i := at - 1; i > from; i-- {
		if p.opensClause(i, at) && p.tokens[i-1].Text != "." && p.tokens[i-1].Kind != KindComma {
			return p.tokens[i].Text
		}
	}
	return ""
}

// orderWord is `asc` or `desc` for the spellings of other languages.
func orderWord(word string) string {
	switch strings.ToLower(word) {
	case "descending", "desc":
		return "desc"
	case "ascending", "asc":
		return "asc"
	}
	return ""
}

func (p *parser) strayInner(at int, stage string, info stageForm) {
	switch word := p.tokens[at].Text; word {
	case "asc", "desc":
		if p.tokens[at-1].Text == "asc" || p.tokens[at-1].Text == "desc" {
			p.errorAt(at, P065, "", "a second order word `%s`", word)
			return
		}
		p.errorAt(at, P065, "rows are put in order by `sort by …`", "`%s` cannot stand here", word)
	case "every":
		p.errorAt(at, P063, "for example `emit changes every 10s`", "`every` belongs to the clause `emit changes`")
	case "final", "changes":
		p.errorAt(at, P063, "write `emit "+word+"`", "`%s` belongs to the clause `emit`", word)
	case "ties":
		p.errorAt(at, P063, "write `keep ties`", "`ties` belongs to the clause `keep`")
	case "forever":
		p.errorAt(at, P063, "write `retain forever`", "`forever` belongs to the clause `retain`")
	case "lag", "idle":
		p.errorAt(at, P063, "it is written where the source is defined: `time at lag 5s`", "`%s` belongs to a source", word)
	case "allow":
		p.errorAt(at, P063, "write `late allow 1m`", "`allow` belongs to the clause `late`")
	case "schema":
		p.errorAt(at, P063, "", "`schema` can only follow a connector call")
	default:
		p.errorAt(at, P063, "`"+word+"` stands only in the block of `pattern`", "`%s` cannot stand here", word)
	}
}

func (p *parser) lostComma(at, from, to int, stage string, info stageForm) {
	t := p.tokens[at]
	name := p.tokens[from].Text
	guess := Suggest(name, stageWords)
	clause := p.clauseAt(at, from)
	switch {
	case stageForms[stage].example == "" && guess != "":
		p.errorAt(from, P054, "", "unknown stage `%s`; did you mean `%s`?", shorten(name), guess)
	case info.form == formTarget:
		p.errorAt(at, P059, p.fileHelp(at), "unexpected %s after the target of `%s`", display(t), stage)
	case info.form == formCall:
		p.errorAt(at, P059, "", "unexpected %s after the call of `%s`", display(t), shorten(stage))
	case orderWord(t.Text) != "":
		p.errorAt(at, P065, "", "the order is written `%s`, not `%s`", orderWord(t.Text), shorten(t.Text))
	case p.tokens[at-1].Text == "changes" && t.Kind == KindIdent && Suggest(t.Text, []string{"every"}) != "":
		p.errorAt(at, P062, "", "unknown word `%s` in the clause `emit`; did you mean `every`?", shorten(t.Text))
	case (stage == "unnest" || info.form == formJoin) && clause == "" && t.Kind == KindIdent && !isReserved(t.Text):
		p.errorAt(at, P061, "for example `"+info.example+"`", "missing `as` before `%s`", shorten(t.Text))
	case stage == "rename" && clause == "":
		p.errorAt(at, P055, "for example `"+info.example+"`", "`rename` takes `new = old`, unexpected %s", display(t))
	case t.Kind == KindString && p.tokens[at-1].Kind == KindString && p.tokens[at-1].Span.End == t.Span.Start:
		p.errorAt(at, P055, "a quote inside of a string is written `\\'`, or the string takes the other quotes", "two strings without an operator between them")
	case stage == "dedup" && (t.Text == "first" || t.Text == "last"):
		p.errorAt(at, P063, "write `keep "+t.Text+"`", "`%s` belongs to the clause `keep`", t.Text)
	case info.max == 1 && clause == "", clause == "on", clause == "within", clause == "retain", clause == "rows":
		p.errorAt(at, P055, "two values need an operator between them", "missing operator before %s", display(t))
	case t.Text == "::":
		p.errorAt(at, P059, "a value is converted by `int(x)`, `float(x)`, `string(x)`", "unexpected %s", display(t))
	case t.Text == "!" || t.Text == ".":
		p.errorAt(at, P059, "", "unexpected %s", display(t))
	case isReserved(t.Text):
		p.errorAt(at, P059, "", "unexpected %s after %s", display(t), display(p.tokens[at-1]))
	default:
		p.errorAt(at, P055, "two values need a comma or an operator between them", "missing `,` before %s", display(t))
	}
}
