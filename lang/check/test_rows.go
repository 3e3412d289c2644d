package check

import (
	"fmt"
	"slices"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// The rows that a test gives and expects.

// TestRow is a row of a test.
type TestRow struct {
	At     syntax.Span
	Names  []string       // the columns that the row names, in its order
	Values map[string]any // of those; as Expr.Value, of the column's type
	Change string         // +I, -U, +U or -D; "" if the row does not say it
}

// changeColumn is how rows of tests and of outputs say what a row does.
const changeColumn = "_change"

var changeWords = []string{"+I", "-U", "+U", "-D"}

// testRows checks the rows of a step: `[{…}, …]`, one `{…}`, or a constant that holds them; of given also a text.
func (c *checker) testRows(x *TestStep, given bool) {
	list, listed := elements(x.Value, "[", "]")
	switch {
	case listed:
		x.Listed = true
		for _, e := range list {
			c.testRow(x, e, given)
		}
	case x.Value.Tokens[0].Text == "{":
		c.testRow(x, x.Value, given)
	default:
		v := c.constantIn(x.Value, "the rows")
		if v == nil {
			return
		}
		if text, ok := v.Value.(string); ok && given {
			c.content(x, text)
			return
		}
		rows, ok := v.Value.([]any)
		if !ok || v.Type.Kind != types.List || len(rows) > 0 && v.Type.Elem.Kind != types.Record {
			c.notRows(x.Value.Span, v.Type)
			return
		}
		for _, row := range rows {
			c.constantRow(x, x.Value.Span, *v.Type.Elem, row, given)
		}
	}
}

func (c *checker) notRows(at syntax.Span, t types.Type) {
	c.fault(at, "C351", fmt.Sprintf("rows are wanted here, not %s", describe(t)), "rows are written `[{NAME: VALUE, …}, …]`")
}

// testRow checks one row as it is written.
func (c *checker) testRow(x *TestStep, e *syntax.Expr, given bool) {
	row := TestRow{At: e.Span, Values: map[string]any{}}
	fields, literal := elements(e, "{", "}")
	for _, f := range fields {
		literal = literal && len(f.Tokens) > 2 && f.Tokens[1].Text == ":"
	}
	if !literal {
		if v := c.constantIn(e, "a row"); v != nil && v.Type.Kind == types.Record && v.Value != nil {
			c.constantRow(x, e.Span, v.Type, v.Value, given)
		} else if v != nil {
			c.notRows(e.Span, v.Type)
		}
		return
	}
	ok := true
	for _, f := range fields {
		t := f.Tokens[0]
		name := plainName(t)
		if t.Kind == syntax.KindString || t.Kind == syntax.KindRaw {
			name = syntax.Unquote(t.Text)
		}
		value := part(f, 2, len(f.Tokens))
		_, twice := row.Values[name]
		if twice || name == changeColumn && row.Change != "" {
			c.fault(t.Span, "N105", fmt.Sprintf("`%s` stands twice in the row", name), "")
			ok = false
			continue
		}
		v := c.constantIn(value, "the value of `"+name+"`")
		if v == nil {
			row.Values[name], ok = nil, false
			continue
		}
		ok = c.testField(x, &row, name, t.Span, value.Span, v.Type, v.Value) && ok
	}
	c.addRow(x, row, ok, given)
}

// constantRow takes a row that is the value of a constant.
func (c *checker) constantRow(x *TestStep, at syntax.Span, t types.Type, v any, given bool) {
	m, _ := v.(map[string]any)
	row := TestRow{At: at, Values: map[string]any{}}
	ok := true
	for _, f := range t.Fields {
		ok = c.testField(x, &row, f.Name, at, at, f.Type, m[f.Name]) && ok
	}
	c.addRow(x, row, ok, given)
}

// testField gives a row the value of a column.
func (c *checker) testField(x *TestStep, row *TestRow, name string, at, valueAt syntax.Span, t types.Type, v any) bool {
	i := x.Schema.Index(name)
	if i < 0 && name == changeColumn && (x.Verb == "given" && x.Updating || x.Mode == "changes") {
		word, ok := v.(string)
		if !ok || !slices.Contains(changeWords, word) {
			c.fault(valueAt, "C351", "`_change` says what the row does: \"+I\", \"-U\", \"+U\" or \"-D\"", "")
			return false
		}
		row.Change = word
		return true
	}
	if i < 0 {
		help := columnsHelp(x.Schema)
		if name == changeColumn && x.Updating {
			help = "`expect changes` compares what rows do; `expect` compares the rows that are left in the end"
		}
		c.fault(at, "N150", fmt.Sprintf("unknown column `%s`%s", name, didYouMean(name, x.Schema.Names())), help)
		return false
	}
	value, code, problem := testValue(v, t, x.Schema.Fields[i].Type)
	if problem != "" {
		help := ""
		if x.Schema.Fields[i].Type.Kind == types.Time && t.Kind == types.String {
			help = "a time is written `@2026-01-31T10:00:00Z`"
		}
		c.fault(valueAt, code, fmt.Sprintf("the column `%s` is %s: %s", name, x.Schema.Fields[i].Type, problem), help)
		return false
	}
	row.Names = append(row.Names, name)
	row.Values[name] = value
	return true
}

func (c *checker) addRow(x *TestStep, row TestRow, ok, given bool) {
	if !ok {
		return
	}
	if given {
		for _, f := range x.Schema.Fields {
			if _, named := row.Values[f.Name]; !named && !f.Type.Nullable && f.Type.Kind != types.Null {
				c.fault(row.At, "T202", fmt.Sprintf("the row leaves out `%s`, which is %s and cannot be null", f.Name, f.Type),
					fmt.Sprintf("give it a value, or declare it as %s? in the schema of the source", f.Type))
				return
			}
		}
	}
	x.Rows = append(x.Rows, row)
}

// testValue gives a constant as a value of a column's type: an int as a float, a record without the fields that may be
// null. If it is none, problem says why.
func testValue(v any, from, to types.Type) (value any, code, problem string) {
	misfit := fmt.Sprintf("%s is %s", types.FormatConst(from, v), describe(from))
	if to.Kind == types.Any {
		return v, "", ""
	}
	switch x := v.(type) {
	case nil:
		if to.Nullable || to.Kind == types.Null {
			return nil, "", ""
		}
		return nil, "T202", "it is never null"
	case []any:
		if to.Kind != types.List || from.Kind != types.List {
			return nil, "T201", misfit
		}
		out := make([]any, len(x))
		for i, e := range x {
			if out[i], code, problem = testValue(e, *from.Elem, *to.Elem); problem != "" {
				return nil, code, fmt.Sprintf("element %d: %s", i+1, problem)
			}
		}
		return out, "", ""
	case map[string]any:
		if to.Kind != types.Record || from.Kind != types.Record {
			return nil, "T201", misfit
		}
		for _, f := range from.Fields {
			if to.Field(f.Name) < 0 {
				return nil, "N152", fmt.Sprintf("it has no field `%s`%s", f.Name, didYouMean(f.Name, fieldNames(to.Fields)))
			}
		}
		out := map[string]any{}
		for _, f := range to.Fields {
			t := types.T(types.Null)
			if i := from.Field(f.Name); i >= 0 {
				t = from.Fields[i].Type
			}
			if out[f.Name], code, problem = testValue(x[f.Name], t, f.Type); problem != "" {
				return nil, code, fmt.Sprintf("field `%s`: %s", f.Name, problem)
			}
		}
		return out, "", ""
	case int64:
		if to.Kind == types.Float && from.Kind == types.Int {
			return float64(x), "", ""
		}
	case string:
		if to.Kind == types.Bytes && from.Kind == types.String {
			return x, "", ""
		}
	}
	if from.Kind != to.Kind {
		return nil, "T201", misfit
	}
	return v, "", ""
}
