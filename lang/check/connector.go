package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// connector checks the call of a connector as an input or, with rows, as an output. rows is what flows there, for the
// parameter that speaks of the row; nil for inputs and where it is not known. It gives nil after an error.
func (c *checker) connector(call *syntax.Call, reads bool, rows *types.Stream) *types.ConnArgs {
	name := call.Name.Name
	sig := c.env.Conn(name)
	switch {
	case sig == nil:
		c.unknownConnector(call, reads)
		return nil
	case reads && !sig.Source:
		c.fault(call.Name.Span, "C340", fmt.Sprintf("`%s` cannot be read, only written", name), "")
		return nil
	case !reads && !sig.Sink:
		c.fault(call.Name.Span, "C340", fmt.Sprintf("`%s` cannot be written, only read", name), "")
		return nil
	}
	a := &types.ConnArgs{Name: name, Args: map[string]any{}, Types: map[string]types.Type{}, Pos: c.place(call.Name.Span)}
	given := map[string]bool{}
	ok := true
	for i, item := range call.Args {
		p := c.option(sig, i, call, given)
		if p == nil {
			ok = false
			continue
		}
		given[p.Name] = true
		switch {
		case p.Row && rows == nil:
		case p.Row:
			a.Rows = c.rowParam(item.Expr, p.Name, *rows)
			ok = ok && a.Rows != nil
		default:
			if path := c.unquoted(p, item.Expr); path != "" {
				c.fault(item.Expr.Span, "N157", "a path is a string", "write `"+name+"(\""+path+"\")`")
				ok = false
				continue
			}
			t, v, good := c.optionValue(name, p, item.Expr)
			if ok = ok && good; good {
				a.Args[p.Name] = v
				if t.Kind != types.Invalid {
					a.Types[p.Name] = t
				}
			}
		}
	}
	for i, p := range sig.Params {
		switch {
		case given[p.Name]:
		case p.Required:
			example := p.Name + ": …"
			if i == 0 {
				example = "…"
			}
			c.fault(call.Name.Span, "C343", fmt.Sprintf("`%s` needs `%s`", name, p.Name), fmt.Sprintf("write `%s(%s)`: %s", name, example, p.Text))
			ok = false
		case p.Default != nil:
			a.Args[p.Name] = p.Default
		}
	}
	if !ok || reads && !c.readsAlone(a, call) {
		return nil
	}
	return a
}

// readsAlone reports an error if a second call of the script reads a pipe: each would get a part of it.
func (c *checker) readsAlone(a *types.ConnArgs, call *syntax.Call) bool {
	for _, p := range c.env.Pipes(a) {
		if other, read := c.pipes[p.ID]; read && other != a.Pos {
			c.fault(call.Span, "O904", fmt.Sprintf("%s is read twice; the other is at %s", p.Name, other),
				fmt.Sprintf("name it once, `source input = %s(…)`, and read `input` wherever it is wanted", a.Name))
			return false
		}
		if c.pipes == nil {
			c.pipes = map[any]types.Place{}
		}
		c.pipes[p.ID] = a.Pos
	}
	return true
}

func (c *checker) unknownConnector(call *syntax.Call, reads bool) {
	f, name := c.frame.file, call.Name.Name
	if d := c.lookup(f, name); d != nil && articles[d.kind] != "" {
		help := "write its name without parentheses"
		switch {
		case d.kind == "pipe":
			help = "a pipe is a stage: write `|> " + name + "(…)` after the rows it works on"
		case d.kind == "fn" || d.kind == "let" || d.kind == "param":
			help = ""
		}
		c.fault(call.Name.Span, "N108", fmt.Sprintf("`%s` is %s, not a connector", name, d.what(f)), help)
		return
	}
	guess := didYouMean(name, c.env.Names("conn"))
	help := ""
	if other := otherConnectors[strings.ToLower(name)]; other != "" && c.env.Conn(other) != nil {
		guess, help = "", "write `"+other+"(…)`"
	} else if guess == "" {
		help = "the connectors are " + strings.Join(c.connectors(reads), ", ")
	}
	c.fault(call.Name.Span, "N120", fmt.Sprintf("unknown connector `%s`%s", name, guess), help)
}

// otherConnectors are what other tools call our connectors.
var otherConnectors = map[string]string{"read_csv": "csv", "read_csv_auto": "csv", "from_csv": "csv", "to_csv": "csv", "write_csv": "csv", "tsv": "csv", "file": "csv",
	"read_json": "jsonl", "json": "jsonl", "ndjson": "jsonl", "read_ndjson": "jsonl", "json_lines": "jsonl", "to_json": "jsonl", "text": "lines", "read_text": "lines",
	"log": "lines", "values": "rows", "print": "console", "stdout": "console", "null": "blackhole", "devnull": "blackhole"}

// otherOptions are what other tools call options of our connectors.
var otherOptions = map[string]string{"delim": "delimiter", "sep": "delimiter", "separator": "delimiter", "file": "path", "filename": "path", "tail": "follow", "watch": "follow",
	"na": "null", "nullstr": "null", "na_values": "null", "quotechar": "quote", "partition": "partition_by", "codec": "compression"}

// connectors lists those that can be read or written.
func (c *checker) connectors(reads bool) []string {
	var names []string
	for _, n := range c.env.Names("conn") {
		if s := c.env.Conn(n); s != nil && (reads && s.Source || !reads && s.Sink) {
			names = append(names, n)
		}
	}
	return names
}

// option finds the parameter that an argument of a connector is for, nil after an error.
func (c *checker) option(sig *types.ConnSig, i int, call *syntax.Call, given map[string]bool) *types.ConnParam {
	item := call.Args[i]
	var names []string // that are not deprecated
	for _, p := range sig.Params {
		if p.Deprecated == nil {
			names = append(names, p.Name)
		}
	}
	if item.Name == nil {
		switch {
		case len(sig.Params) == 0:
			c.fault(item.Span, "C341", fmt.Sprintf("`%s` takes no arguments", sig.Name), "")
			return nil
		case i == 0:
			return &sig.Params[0]
		}
		c.fault(item.Span, "C341", fmt.Sprintf("only the first argument of `%s` stands without its name", sig.Name),
			fmt.Sprintf("write `%s: %s`; it takes %s", optionGuess(sig, call), clip(item.Expr.Text), strings.Join(names, ", ")))
		return nil
	}
	k := slices.IndexFunc(sig.Params, func(p types.ConnParam) bool { return p.Name == item.Name.Name })
	switch {
	case k < 0:
		help := "`" + sig.Name + "` takes " + strings.Join(names, ", ")
		if len(names) == 0 {
			help = "`" + sig.Name + "` takes no arguments"
		}
		guess := didYouMean(item.Name.Name, names)
		if other := otherOptions[strings.ToLower(item.Name.Name)]; slices.Contains(names, other) {
			guess = "; did you mean `" + other + "`?"
		}
		if item.Name.Name == "schema" || item.Name.Name == "columns" {
			help = "columns are a clause behind the call: `" + sig.Name + "(…) schema { id: int }`"
		}
		c.fault(item.Name.Span, "N121", fmt.Sprintf("`%s` has no option `%s`%s", sig.Name, item.Name.Name, guess), help)
		return nil
	case given[item.Name.Name]:
		c.fault(item.Name.Span, "C342", fmt.Sprintf("`%s` is given twice", item.Name.Name), "")
		return nil
	}
	return &sig.Params[k]
}

// unquoted is the path that was written without quotes, "" if it is none: names, dots and slashes without a blank, none of
// them a name of the script.
func (c *checker) unquoted(p *types.ConnParam, e *syntax.Expr) string {
	if !p.Place || e == nil || strings.ContainsAny(e.Text, " \t\n\"'`+([?") {
		return ""
	}
	if first := e.Tokens[0]; first.Kind != syntax.KindIdent || c.lookup(c.frame.file, first.Text) != nil {
		return ""
	}
	if e.Text == "stdin" || e.Text == "stdout" {
		return "-"
	}
	if !strings.ContainsAny(e.Text, "./*") {
		return ""
	}
	return e.Text
}

// optionGuess is the option that an argument without a name was perhaps meant for: the first that is missing.
func optionGuess(sig *types.ConnSig, call *syntax.Call) string {
	for _, p := range sig.Params[1:] {
		if !slices.ContainsFunc(call.Args, func(it *syntax.Item) bool { return it.Name != nil && it.Name.Name == p.Name }) {
			return p.Name
		}
	}
	return sig.Params[0].Name
}

// optionValue evaluates the argument of a connector.
func (c *checker) optionValue(connector string, p *types.ConnParam, e *syntax.Expr) (types.Type, any, bool) {
	what := "the option `" + p.Name + "` of `" + connector + "`"
	if p.Literal {
		t, v, ok := c.literal(e, what)
		return t, conform(v, t), ok
	}
	x := c.constantIn(e, what)
	if x == nil {
		return types.Type{}, nil, false
	}
	if p.Type.Kind == types.List && x.Type.Kind != types.List && p.Type.Elem != nil {
		if v, ok := coerce(x.Type, x.Value, *p.Type.Elem); ok && v != nil {
			return p.Type, []any{v}, true
		}
	}
	v, ok := coerce(x.Type, x.Value, p.Type)
	if ok {
		return p.Type, v, true
	}
	if x.Value == nil {
		c.fault(e.Span, "T202", what+" cannot be null", "")
		return types.Type{}, nil, false
	}
	takes, help := "`"+p.Type.String()+"`", ""
	if p.Type.Kind == types.List {
		takes = fmt.Sprintf("`%s` or `%s`", p.Type.Elem, p.Type)
	}
	if elem := p.Type; elem.Kind == types.String || elem.Kind == types.List && elem.Elem.Kind == types.String {
		help = "texts are written in quotes"
	}
	c.fault(e.Span, "T201", fmt.Sprintf("%s takes %s, not %s", what, takes, describe(x.Type)), help)
	return types.Type{}, nil, false
}

// literal evaluates lists and records that need not be of one type: each element by itself. The type is Invalid where there
// is none that holds them all.
func (c *checker) literal(e *syntax.Expr, what string) (types.Type, any, bool) {
	if list, ok := elements(e, "[", "]"); ok {
		values := make([]any, len(list))
		elem := types.T(types.Null)
		for i, el := range list {
			t, v, good := c.literal(el, what)
			ok = ok && good
			values[i] = v
			if i == 0 {
				elem = t
			} else {
				elem = join(elem, t)
			}
		}
		if elem.Kind == types.Invalid {
			return elem, values, ok
		}
		return types.ListOf(elem), values, ok
	}
	if fields, ok := elements(e, "{", "}"); ok {
		values := map[string]any{}
		t := types.RecordOf()
		for _, el := range fields {
			if len(el.Tokens) < 3 || el.Tokens[1].Text != ":" {
				c.fault(el.Span, "C321", "a field of a record is written `name: value`", "")
				return t, nil, false
			}
			name := plainName(el.Tokens[0])
			if k := el.Tokens[0].Kind; k == syntax.KindString || k == syntax.KindRaw {
				name = syntax.Unquote(name)
			}
			if _, twice := values[name]; twice {
				c.fault(el.Tokens[0].Span, "N109", fmt.Sprintf("the field `%s` stands twice", name), "")
				ok = false
			}
			ft, v, good := c.literal(part(el, 2, len(el.Tokens)), what)
			ok = ok && good
			values[name] = v
			t.Fields = append(t.Fields, types.Field{Name: name, Type: ft})
		}
		for _, f := range t.Fields {
			if f.Type.Kind == types.Invalid {
				return types.Type{}, values, ok
			}
		}
		return t, values, ok
	}
	x := c.constantIn(e, what)
	if x == nil {
		return types.Type{}, nil, false
	}
	return x.Type, x.Value, true
}

// conform turns the ints of a value into floats where its type says so.
func conform(v any, t types.Type) any {
	switch v := v.(type) {
	case int64:
		if t.Kind == types.Float {
			return float64(v)
		}
	case []any:
		if t.Kind == types.List {
			out := make([]any, len(v)) // the list may be that of a `let`
			for i := range v {
				out[i] = conform(v[i], *t.Elem)
			}
			return out
		}
	case map[string]any:
		out := maps.Clone(v)
		for _, f := range t.Fields {
			if x, ok := v[f.Name]; ok {
				out[f.Name] = conform(x, f.Type)
			}
		}
		return out
	}
	return v
}

// join is the type that holds values of both, records with different fields included; Invalid if there is none.
func join(a, b types.Type) types.Type {
	if a.Kind == types.Invalid || b.Kind == types.Invalid {
		return types.Type{}
	}
	if a.Kind != types.Record || b.Kind != types.Record {
		t, err := types.Unify(a, b)
		if err != nil {
			return types.Type{}
		}
		return t
	}
	t := types.RecordOf().OrNull(a.Nullable || b.Nullable)
	for _, f := range a.Fields {
		if i := b.Field(f.Name); i >= 0 {
			f.Type = join(f.Type, b.Fields[i].Type)
		} else {
			f.Type = f.Type.Null()
		}
		if f.Type.Kind == types.Invalid {
			return types.Type{}
		}
		t.Fields = append(t.Fields, f)
	}
	for _, f := range b.Fields {
		if a.Field(f.Name) < 0 {
			t.Fields = append(t.Fields, types.Field{Name: f.Name, Type: f.Type.Null()})
		}
	}
	return t
}

// rowParam checks the argument of an option that speaks of the row: a column, a list of columns, or a record of expressions.
// It gives nil after an error.
func (c *checker) rowParam(e *syntax.Expr, option string, rows types.Stream) []types.Item {
	in := flow{rows: rows, ok: true}
	list, isList := elements(e, "[", "]")
	parts, isRecord := elements(e, "{", "}")
	if !isList && !isRecord {
		list = []*syntax.Expr{e}
	}
	var items []types.Item
	add := func(name string, at syntax.Span, x *types.Expr) bool {
		for _, it := range items {
			if it.Name == name {
				c.fault(at, "N105", fmt.Sprintf("two elements of `%s` are named `%s`", option, name), "")
				return false
			}
		}
		items = append(items, types.Item{Name: name, Expr: x})
		return true
	}
	ok := true
	for _, el := range list {
		name, n := path(el)
		if n == 0 {
			c.fault(el.Span, "C321", fmt.Sprintf("`%s` takes columns; an expression needs a name", option), named(el, rows, option+": {name: %s}"))
			ok = false
			continue
		}
		x := c.expression(el, in, c.scope(&rows))
		ok = x != nil && add(name, el.Span, x) && ok
	}
	for _, el := range parts {
		if len(el.Tokens) < 3 || el.Tokens[1].Text != ":" {
			c.fault(el.Span, "C321", fmt.Sprintf("an element of `%s` is written `name: expression`", option), "")
			ok = false
			continue
		}
		name := plainName(el.Tokens[0])
		if k := el.Tokens[0].Kind; k == syntax.KindString || k == syntax.KindRaw {
			name = syntax.Unquote(el.Tokens[0].Text)
		}
		x := c.expression(part(el, 2, len(el.Tokens)), in, c.scope(&rows))
		ok = x != nil && add(name, el.Tokens[0].Span, x) && ok
	}
	if ok && len(items) == 0 {
		c.fault(e.Span, "C321", fmt.Sprintf("`%s` names no column", option), "")
		ok = false
	}
	if !ok {
		return nil
	}
	return items
}

// clip makes a text of the script fit into a message.
func clip(s string) string {
	s, _, cut := strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 40 {
		s, cut = string(r[:40]), true
	}
	if cut {
		s += "…"
	}
	return s
}
