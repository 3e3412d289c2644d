package inspect

import (
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// A ConditionError is a condition that is not right. Its text is the diagnostics.
type ConditionError struct{ Text string }

func (e *ConditionError) Error() string { return e.Text }

// where prints the rows for which an expression of the language is true.
func (p *Printer) where(condition string, s types.Schema, batches ...*vec.Batch) error {
	if condition == "" {
		return p.Rows(s, batches...)
	}
	c, err := NewCondition(condition, s)
	if err != nil {
		return err
	}
	kept := make([]*vec.Batch, len(batches))
	for i, b := range batches {
		if kept[i], err = c.Keep(b); err != nil {
			return err
		}
	}
	return p.Rows(s, kept...)
}

// A Condition is an expression of the language that is true or not for rows of a schema.
type Condition struct {
	op   exec.Operator
	cols []int  // of the schema, that it reads
	null []bool // of cols: without a type, so null in all rows
	hits *vec.Column
	out  *exec.Out
}

// NewCondition compiles an expression. Errors are *ConditionError.
func NewCondition(text string, s types.Schema) (*Condition, error) {
	source := "jsonl(\"-\") schema {" + fieldsText(s.Fields) + "}\n    |> "
	if _, _, err := compileStage(source + "where " + text + "\n"); err != nil {
		return nil, err
	}
	c, env, err := compileStage(source + "select hit = (" + text + "\n    )\n")
	if err != nil {
		return nil, err
	}
	head := c.Graph(stdlib.New(), env).Groups[0].Ports[0][0].Node
	x := &Condition{}
	if x.op, err = head.New(0); err != nil {
		return nil, err
	}
	x.out = exec.NewTap(func(_ int, it exec.Item) {
		if it.Kind == exec.Rows {
			x.hits = it.Batch.Dense().Cols[0]
		}
	})
	for _, f := range c.Physical.Groups[0].Scan.Out.Schema.Fields {
		k := s.Index(f.Name)
		x.cols, x.null = append(x.cols, k), append(x.null, s.Fields[k].Type.Kind == types.Null)
	}
	return x, nil
}

// compileStage compiles a script of one source, which is not read, and one stage.
func compileStage(text string) (*planner.Compiled, *exec.Env, error) {
	env := exec.OS().ReadOnly()
	o := planner.Options{Parallelism: 1, Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": "csv"}}}
	c, diags, err := planner.Compile("--where", text, stdlib.New(), env, o)
	if err != nil || c != nil {
		return c, env, err
	}
	var words []string
	for _, d := range diags {
		words = append(words, strings.TrimRight(check.Render(d), "\n"))
	}
	return nil, nil, &ConditionError{strings.Join(words, "\n")}
}

// Keep returns the rows for which the condition is true.
func (c *Condition) Keep(b *vec.Batch) (*vec.Batch, error) {
	b = b.Dense()
	if b.N == 0 {
		return b, nil
	}
	in := &vec.Batch{N: b.N}
	for i, k := range c.cols {
		col := b.Cols[k]
		if c.null[i] {
			nulls := vec.NewBuilder(types.T(types.String).Null())
			for range b.N {
				nulls.AppendNull()
			}
			col = nulls.Column()
		}
		in.Cols = append(in.Cols, col)
	}
	if err := c.op.Process(0, in, c.out); err != nil {
		return nil, err
	}
	sel := []uint32{}
	for i := range b.N {
		if !c.hits.Null(i) && c.hits.Bools[i] {
			sel = append(sel, uint32(i))
		}
	}
	return b.Select(sel), nil
}

// fieldsText prints fields as a script declares them.
func fieldsText(fs []types.Field) string {
	parts := make([]string, len(fs))
	for i, f := range fs {
		parts[i] = types.QuoteName(f.Name) + ": " + typeText(f.Type)
	}
	return strings.Join(parts, ", ")
}

func typeText(t types.Type) string {
	s := ""
	switch t.Kind {
	case types.List:
		s = "[" + typeText(*t.Elem) + "]"
	case types.Record:
		s = "{" + fieldsText(t.Fields) + "}"
	case types.Null:
		return "string?" // always null
	default:
		s = t.Kind.String()
	}
	if t.Nullable {
		s += "?"
	}
	return s
}
