package inspect

import (
	"bytes"
	"context"
	"strconv"
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

// rowNumber is the column that tells which rows a condition keeps.
const rowNumber = "_row number of ebb"

// where prints the rows for which an expression of the language is true.
func (p *Printer) where(condition string, s types.Schema, batches ...*vec.Batch) error {
	if condition == "" {
		return p.rows(s, batches...)
	}
	kept, err := Where(condition, s, batches)
	if err != nil {
		return err
	}
	return p.rows(s, kept...)
}

// Where returns the rows for which an expression of the language is true. It runs a script like any other: the rows come
// in as JSON lines with their schema.
func Where(condition string, s types.Schema, batches []*vec.Batch) ([]*vec.Batch, error) {
	fields := append(append([]types.Field(nil), s.Fields...), types.Field{Name: rowNumber, Type: types.T(types.Int)})
	var in []byte
	n := 0
	for _, b := range batches {
		number := &vec.Column{Type: types.T(types.Int), Ints: make([]int64, b.N)}
		for i := range b.Rows() {
			number.Ints[b.Row(i)] = int64(n)
			in = append(vec.AppendRowJSON(in, fields, append(b.Cols[:len(b.Cols):len(b.Cols)], number), b.Row(i)), '\n')
			n++
		}
	}
	env := exec.OS()
	env.Stdin = bytes.NewReader(in)
	var out bytes.Buffer
	env.Stdout = &out
	text := "jsonl(\"-\") schema {" + fieldsText(fields) + "}\n    |> where " + condition + "\n    |> select n = " + types.QuoteName(rowNumber) + "\n"
	o := planner.Options{Parallelism: 1, Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": "csv"}}}
	c, diags, err := planner.Compile("--where", text, stdlib.New(), env, o)
	if err != nil {
		return nil, err
	}
	if c == nil {
		var words []string
		for _, d := range diags {
			words = append(words, strings.ReplaceAll(strings.TrimRight(check.Render(d), "\n"), ", @"+strconv.Quote(rowNumber), ""))
		}
		return nil, &ConditionError{strings.Join(words, "\n")}
	}
	job, err := exec.Start(context.Background(), c.Graph(stdlib.New(), env), env, exec.Setup{})
	if err == nil {
		err = job.Wait()
	}
	if err != nil {
		return nil, err
	}
	keep := map[int]bool{}
	for _, line := range strings.Fields(out.String()) {
		if k, err := strconv.Atoi(line); err == nil {
			keep[k] = true
		}
	}
	var kept []*vec.Batch
	n = 0
	for _, b := range batches {
		sel := []uint32{}
		for i := range b.Rows() {
			if keep[n] {
				sel = append(sel, uint32(b.Row(i)))
			}
			n++
		}
		kept = append(kept, b.Select(sel))
	}
	return kept, nil
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
