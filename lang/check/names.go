package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Messages about names: what is unknown, what was probably meant, and how this language calls what others have.

// otherFunctions are functions of other languages and what is written here.
var otherFunctions = map[string]string{
	"coalesce": "`a ?? b`", "ifnull": "`a ?? b`", "nvl": "`a ?? b`", "isnull": "`x == nil`", "iff": "`condition ? a : b`", "if": "`condition ? a : b`",
	"substring": "`substr`", "mid": "`substr`", "length": "`len`", "size": "`len`", "strlen": "`len`", "char_length": "`len`", "toupper": "`upper`", "tolower": "`lower`",
	"to_upper": "`upper`", "to_lower": "`lower`", "ucase": "`upper`", "lcase": "`lower`", "strftime": "`format`", "to_char": "`format`", "date_format": "`format`",
	"date_trunc": "`truncate`", "split_part": "`part`", "split_index": "`part`", "regexp_extract": "`extract`", "regexp_like": "`x matches \"…\"`",
	"to_timestamp": "`time`", "strptime": "`time`", "cast": "`int(x)`, `float(x)`, `string(x)`", "to_int": "`int`", "to_string": "`string`", "str": "`string`",
	"number": "`float`", "concat_ws": "`join`", "power": "`a ** b`", "pow": "`a ** b`", "mod": "`a % b`", "current_timestamp": "`now()`", "array_length": "`len`",
	"avg": "`mean`", "count_distinct": "`distinct`", "countdistinct": "`distinct`", "percentile": "`quantile`", "stdev": "`stddev`", "std": "`stddev`",
	"countif": "`count_if`", "sumif": "`sum_if`", "average": "`avg`", "any_value": "`any`", "array_agg": "`collect`", "collect_list": "`collect`",
	"string_agg": "`join(collect(x), \", \")`", "group_concat": "`join(collect(x), \", \")`", "listagg": "`join(collect(x), \", \")`",
	"approx_count_distinct": "`approx_distinct`", "to_date": "`time`", "parse_time": "`time`", "to_number": "`float`", "tonumber": "`float`", "tostring": "`string`",
	"ascii_downcase": "`lower`", "ascii_upcase": "`upper`", "starts_with": "`x startsWith \"…\"`", "ends_with": "`x endsWith \"…\"`", "strpos": "`indexOf`",
	"instr": "`indexOf`", "datediff": "`(b - a) / 1d`", "date_diff": "`(b - a) / 1d`", "timestampdiff": "`(b - a) / 1d`", "greatest": "`max`", "least": "`min`",
	"dayofweek": "`weekday`",
}

// otherMethods are methods of Go's values, and of other languages, and what is written here; %s is the value.
var otherMethods = map[string]string{
	"hour": "hour(%s)", "minute": "minute(%s)", "second": "second(%s)", "day": "day(%s)", "month": "month(%s)", "year": "year(%s)", "weekday": "weekday(%s)",
	"yearday": "yearday(%s)", "format": "format(%s, \"2006-01-02\")", "add": "%s + 5s", "sub": "%s - …", "before": "%s < …", "after": "%s > …", "equal": "%s == …",
	"truncate": "truncate(%s, 1h)", "hours": "%s / 1h", "minutes": "%s / 1m", "seconds": "%s / 1s", "milliseconds": "%s / 1ms", "length": "len(%s)", "size": "len(%s)",
	"tolowercase": "lower(%s)", "touppercase": "upper(%s)", "lower": "lower(%s)", "upper": "upper(%s)", "contains": "%s contains …", "includes": "… in %s",
	"startswith": "%s startsWith …", "endswith": "%s endsWith …", "substring": "substr(%s, …)", "strip": "trim(%s)", "tostring": "string(%s)", "string": "string(%s)",
	"isnull": "%s == nil", "utc": "%s",
}

// unknownName reports a name that stands for nothing here.
func (t *typer) unknownName(n *ast.IdentifierNode, name string) *types.Expr {
	sc := t.sc
	outside := sc.aggs != nil && t.inAgg == "" && !sc.perRow
	switch {
	case name == "$env":
		return t.fail(n, "N154", "there is no `$env`", "name the column itself; a name that is no identifier is written `@\"order id\"`")
	case outside && sc.column(name) != nil:
		if t.inCallOf("mean") && sc.column(name).Type.Numeric() {
			return t.fail(n, "N156", fmt.Sprintf("`%s` is a column, and `mean` takes a list", name), fmt.Sprintf("the mean of a column is `avg(%s)`", name))
		}
		help := fmt.Sprintf("write `max(%s)`, `last(%s)` or another aggregate of it", name, name)
		if len(sc.keys.Fields) > 0 {
			help += ", or add it to the keys after `by`"
		} else {
			help += ", or make it a key: `by " + name + "`"
		}
		return t.fail(n, "N156", fmt.Sprintf("`%s` is neither aggregated nor a key", name), help)
	case t.isFunction(name) && len(t.callables(name)) > 0:
		return t.fail(n, "N159", fmt.Sprintf("`%s` is a function: it is called as `%s(…)`", name, name), "")
	case t.behindDashes(n):
		return t.fail(n, "N150", fmt.Sprintf("unknown name `%s`", name), "comments are written `// …` or `/* … */`")
	case sc.constant:
		return t.fail(n, "N157", fmt.Sprintf("unknown constant `%s`%s", name, didYouMean(name, t.visibleNames())),
			"constants are literals, and what `param`, `let` and `env(\"X\")` give")
	}
	what := "column"
	if t.fn != nil {
		what = "name"
	}
	msg := fmt.Sprintf("unknown %s `%s`", what, name)
	if w := syntax.OtherWords[strings.ToLower(name)]; w != "" {
		return t.fail(n, "N150", msg, "it is written "+w+" here")
	}
	if len(t.elems) > 0 {
		if e := t.elems[len(t.elems)-1]; e.elem.Field(name) >= 0 {
			return t.fail(n, "N150", msg, "the field of the element is written `."+name+"`")
		}
	}
	if s := syntax.Suggest(name, t.visibleNames()); s != "" {
		return t.fail(n, "N150", msg+"; did you mean `"+types.QuoteName(s)+"`?", "")
	}
	for _, f := range sc.schema.Fields {
		if f.Type.Kind == types.Record && f.Type.Field(name) >= 0 {
			return t.fail(n, "N150", msg+"; did you mean `"+types.QuoteName(f.Name)+"."+types.QuoteName(name)+"`?", "")
		}
	}
	return t.fail(n, "N150", msg, t.columnsHelp())
}

// behindDashes reports whether a name stands behind the mark of a comment of SQL.
func (t *typer) behindDashes(n ast.Node) bool {
	at := t.text.span(n.Location()).Start.Offset - t.text.expr.Start.Offset
	return strings.HasSuffix(strings.TrimRight(t.text.expr.Text[:at], " \t"), "--")
}

// inCallOf reports whether the node that is typed is an argument of a builtin function of this name.
func (t *typer) inCallOf(name string) bool {
	if len(t.above) < 2 {
		return false
	}
	call, ok := t.above[len(t.above)-2].(*ast.BuiltinNode)
	return ok && call.Name == name
}

// callables tells a function from a name that merely could be one.
func (t *typer) callables(name string) []string {
	if slices.Contains(t.visibleNames(), name) {
		return nil
	}
	return []string{name}
}

// visibleNames lists what an expression may name, for suggestions.
func (t *typer) visibleNames() []string {
	var names []string
	for _, b := range t.lets {
		names = append(names, b.name)
	}
	sc := t.sc
	if !sc.constant {
		if sc.aggs != nil && t.inAgg == "" && !sc.perRow {
			names = append(names, sc.keys.Names()...)
		} else {
			for _, x := range sc.extra {
				names = append(names, x.Name)
			}
			names = append(names, sc.schema.Names()...)
		}
	}
	var consts []string
	for name := range sc.consts {
		consts = append(consts, name)
	}
	slices.Sort(consts)
	names = slices.DeleteFunc(names, func(s string) bool { return strings.HasPrefix(s, "\x00") }) // hidden by a parameter of a pipe
	return append(names, consts...)
}

// columnsHelp lists the columns, if they are few.
func (t *typer) columnsHelp() string {
	names := t.visibleNames()
	switch {
	case t.fn != nil:
		return "a function sees its parameters and constants, but no columns: pass the column to it"
	case len(t.sc.schema.Fields) == 0 && len(names) == 0:
		return "there are no columns here"
	case len(names) <= 12:
		quoted := make([]string, len(names))
		for i, s := range names {
			quoted[i] = types.QuoteName(s)
		}
		return "there are " + strings.Join(quoted, ", ")
	}
	return ""
}

// unknownField reports a field that a record does not have.
func (t *typer) unknownField(n *ast.MemberNode, name string, record types.Type) *types.Expr {
	names := fieldNames(record.Fields)
	help := ""
	if len(names) <= 12 {
		quoted := make([]string, len(names))
		for i, s := range names {
			quoted[i] = types.QuoteName(s)
		}
		help = "it has " + strings.Join(quoted, ", ")
	}
	what := "`" + t.written(n.Node) + "`"
	if _, ok := n.Node.(*ast.PointerNode); ok {
		what = "the element"
	}
	msg := fmt.Sprintf("%s has no field `%s`", what, name)
	if s := syntax.Suggest(name, names); s != "" {
		msg, help = msg+"; did you mean `"+types.QuoteName(s)+"`?", ""
	}
	return t.failOp(n.Property, "N152", msg, help)
}

// noField reports a field of a value that has none.
func (t *typer) noField(n *ast.MemberNode, name string, of types.Type) *types.Expr {
	help := ""
	if m := otherMethods[strings.ToLower(name)]; m != "" {
		help = "write `" + fill(m, t.operand(n.Node)) + "`"
	}
	return t.failOp(n.Property, "T226", fmt.Sprintf("`%s` is %s and has no field `%s`", t.written(n.Node), describe(of), name), help)
}

func fill(pattern, value string) string { return strings.ReplaceAll(pattern, "%s", value) }

// aggregateHere reports an aggregate where rows are looked at one by one.
func (t *typer) aggregateHere(n ast.Node, name string) *types.Expr {
	return t.failOp(n, "N155", fmt.Sprintf("the aggregate `%s` cannot be called here", name),
		"aggregates stand in the stage `aggregate`; what comes of them is filtered behind it: `|> aggregate n = count() |> where n > 3`")
}

// unknownFunction reports a call of what is no function.
func (t *typer) unknownFunction(n ast.Node, name string, nodes []ast.Node) *types.Expr {
	if slices.Contains(t.visibleNames(), name) {
		return t.failOp(n, "N159", fmt.Sprintf("`%s` is no function, but a column or constant", name), "")
	}
	if t.c.env.Agg(name) != nil {
		return t.aggregateHere(n, name)
	}
	msg := fmt.Sprintf("unknown function `%s`", name)
	if w := windowCalled(name); w != "" {
		return t.failOp(n, "N151", msg, w)
	}
	if w := otherFunctions[strings.ToLower(name)]; w != "" {
		return t.failOp(n, "N151", msg, "it is written "+w+" here")
	}
	if name == "timezone" {
		return t.failOp(n, "N151", msg, "the name of a time zone is the last argument of the functions of time: `hour(at, \"Europe/Berlin\")`")
	}
	if t.c.env.Conn(name) != nil {
		return t.failOp(n, "N151", fmt.Sprintf("`%s` is a connector, no function", name), "rows get a name by `stream x = "+name+"(…)`")
	}
	if _, ok := builtin.Index[name]; ok {
		return t.failOp(n, "N151", fmt.Sprintf("the function `%s` of expr is not available here", name), "")
	}
	var names []string
	for f := range t.sc.fns {
		names = append(names, f)
	}
	slices.Sort(names)
	names = append(names, t.c.env.Names("func")...)
	for _, b := range builtin.Builtins {
		if b.Predicate {
			names = append(names, b.Name)
		}
	}
	if t.sc.aggs != nil {
		names = append(names, t.c.env.Names("agg")...)
	}
	return t.failOp(n, "N151", msg+didYouMean(name, names), "")
}

// method refuses x.name(…) and shows the function for it.
func (t *typer) method(n *ast.CallNode, m *ast.MemberNode) *types.Expr {
	if id, ok := m.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
		return t.fail(n, "N154", "there is no `$env`", "")
	}
	name := ""
	if s, ok := m.Property.(*ast.StringNode); ok {
		name = t.name(s, s.Value)
	}
	value := t.operand(m.Node)
	help := ""
	switch p := otherMethods[strings.ToLower(name)]; {
	case p != "":
		help = "write `" + fill(p, value) + "`"
	case t.isFunction(name) || t.c.env.Func(strings.ToLower(name)) != nil:
		if !t.isFunction(name) {
			name = strings.ToLower(name)
		}
		args := []string{t.written(m.Node)}
		for _, a := range n.Arguments {
			args = append(args, t.written(a))
		}
		help = "write `" + name + "(" + strings.Join(args, ", ") + ")`"
	}
	return t.failOp(m.Property, "N153", fmt.Sprintf("values have no methods, such as `%s`", name), help)
}

// parseError reports what expr's parser found, in our words.
func (t *typer) parseError(err error) {
	var fe *file.Error
	if !errors.As(err, &fe) {
		t.failAt(t.text.expr.Span, "P100", "the expression cannot be read", "")
		return
	}
	x := t.text
	tok := file.Location{From: fe.From, To: fe.To}
	var next string // the token there, as written
	for _, l := range x.toks {
		if l.From <= fe.From && fe.From < l.To {
			tok, next = l, x.slice(l)
		}
	}
	msg, help := fe.Message, ""
	switch {
	case strings.HasPrefix(msg, "unexpected token EOF"), strings.HasPrefix(msg, "unexpected end"):
		end := x.position(1 << 30)
		help := ""
		if n := len(x.toks); n > 1 && x.slice(x.toks[n-2]) == "|" {
			help = "`|` is followed by a call: `| " + x.slice(x.toks[n-1]) + "()`"
		}
		t.failAt(syntax.Span{Start: end, End: end}, "P100", "the expression ends where something is wanted", help)
		return
	case strings.HasPrefix(msg, "unexpected token"):
		if at, ok := x.closureBraces(tok); ok && next == ":" {
			t.failAt(x.span(at), "X308", "these braces are read as those of a closure, not of a record", "a record has braces of its own inside: `{{name: value}}`")
			return
		}
		msg, help = fmt.Sprintf("unexpected `%s`", short(next)), t.unexpected(tok, next)
	case strings.HasPrefix(msg, "Operator ("):
		help = "write `(a ?? b)` in brackets"
		msg = fmt.Sprintf("`%s` after `??` needs brackets", short(next))
	case strings.HasPrefix(msg, "invalid"), strings.HasPrefix(msg, "integer literal is too large"):
		if i := slices.IndexFunc(x.toks, func(l file.Location) bool { return l.From >= tok.From }); i > 0 && x.toks[i-1].To <= fe.From {
			tok = x.toks[i-1] // the parser is one token further
			next = x.slice(tok)
		}
		msg = fmt.Sprintf("`%s` does not fit: ints have 64 bits", short(next))
		if strings.Contains(fe.Message, "float") {
			msg = fmt.Sprintf("`%s` does not fit a float", short(next))
		}
	case strings.HasPrefix(msg, "bad number syntax"):
		msg = fmt.Sprintf("`%s` is no number", short(next))
	case strings.HasPrefix(msg, "expected at least"):
		msg = fmt.Sprintf("an argument is missing before `%s`", short(next))
	case msg == "expected name":
		msg = fmt.Sprintf("a name is wanted after the dot, not `%s`", short(next))
	case strings.HasPrefix(msg, "a map key must be"):
		msg, help = fmt.Sprintf("unexpected `%s` in a record", short(next)), "a record is written `{name: value, …}`"
	case strings.HasPrefix(msg, "wrap predicate"):
		msg, help = "`;` in a closure without braces", "write the closure in braces: `{ … }`"
	case strings.HasPrefix(msg, "compilation failed"):
		t.failAt(x.expr.Span, "T229", "the expression is too large", "")
		return
	}
	t.failAt(x.span(tok), "P100", msg, help)
}

// closureBraces finds the braces whose first name stands in front of a colon.
func (x *exprText) closureBraces(colon file.Location) (file.Location, bool) {
	i := slices.Index(x.toks, colon)
	if i < 2 || x.slice(x.toks[i-2]) != "{" {
		return file.Location{}, false
	}
	open := 1
	for j := i + 1; j < len(x.toks); j++ {
		switch x.kinds[j] {
		case '(':
			open++
		case ')':
			open--
		}
		if open == 0 {
			return file.Location{From: x.toks[i-2].From, To: x.toks[j].To}, true
		}
	}
	return file.Location{}, false
}

// unexpected is the remedy for a token at the wrong place.
func (t *typer) unexpected(at file.Location, next string) string {
	before, earlier := "", ""
	for _, l := range t.text.toks {
		if l.To <= at.From {
			before, earlier = t.text.slice(l), before
		}
	}
	switch low := strings.ToLower(next); {
	case next == "=" && (before == "=" || before == "=="):
		return "equality is written `==`"
	case next == "=":
		return "a comparison is written `==`"
	case next == ">" && before == "<":
		return "it is written `!=` here"
	case before == "&" || next == "&":
		return "the logical and is written `and` or `&&`; of bits it is `bitand(a, b)`"
	case low != next && syntax.OtherWords[low] != "" && (low == "and" || low == "or" || low == "not" || low == "in"):
		return "it is written `" + low + "` here"
	case low == "is", low == "like", low == "ilike", low == "between":
		return "it is written " + syntax.OtherWords[low] + " here"
	case strings.ToLower(before) == "case":
		return "it is written " + syntax.OtherWords["case"] + " here"
	case next == ":" && earlier == "{", next == "," && earlier == "{", next == ":" && earlier == "":
		return "braces around the whole of a closure are its own; a record has braces of its own inside: `{{name: value}}`"
	case next == "*" && before == "(":
		return "rows are counted by `count()`"
	case before == "distinct" && isValue(next):
		return "distinct values are counted by `distinct(" + next + ")`"
	case next == "as":
		return "a value is converted by " + otherFunctions["cast"]
	case next == "," && t.text.inParentheses(at):
		return "a list stands in brackets: `x in [1, 2]`"
	case next == "#" && t.sc.aggs != nil:
		return "the functions of lists that are also aggregates are written with `::` here, as in `::count(xs, # > 1)`"
	case next == "#":
		return "`#` stands for the element of a list, inside of a closure such as that of `map` or `filter`"
	case before != "" && isValue(next) && isValue(before):
		return "an operator or a comma is missing before it"
	}
	return ""
}

// inParentheses reports whether a token stands in parentheses behind `in`, with no others between.
func (x *exprText) inParentheses(at file.Location) bool {
	open := 0
	for i := slices.Index(x.toks, at) - 1; i > 0; i-- {
		switch x.kinds[i] {
		case ')':
			open++
		case '(':
			if open--; open < 0 {
				return x.slice(x.toks[i]) == "(" && x.slice(x.toks[i-1]) == "in"
			}
		}
	}
	return false
}

// isValue reports whether a token begins or ends a value.
func isValue(tok string) bool {
	r, _ := utf8.DecodeRuneInString(tok)
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_\"'`@", r)) && !isOperatorWord(tok)
}
