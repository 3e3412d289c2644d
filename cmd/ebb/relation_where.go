package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// where prints the rows for which an expression of the language is true. It is a script like any other: the rows come in
// as JSON lines with their schema.
func (p *printer) where(condition string, s types.Schema, batches ...*vec.Batch) error {
	if condition == "" {
		return p.rows(s, batches...)
	}
	var in []byte
	for _, b := range batches {
		for i := range b.Rows() {
			in = append(vec.AppendRowJSON(in, s.Fields, b.Cols, b.Row(i)), '\n')
		}
	}
	env := exec.OS()
	env.Stdin = bytes.NewReader(in)
	var out bytes.Buffer
	format := p.format
	if env.Stdout = p.out; format == "json" {
		format, env.Stdout = "jsonl", &out
	}
	text := "jsonl(\"-\") schema {" + fieldsText(s.Fields) + "}\n    |> where " + condition + "\n"
	o := planner.Options{Parallelism: 1, Print: &types.ConnArgs{Name: "console", Args: map[string]any{"format": format}}}
	c, diags, err := planner.Compile("--where", text, stdlib.New(), env, o)
	if err != nil {
		return &status{exitFailed, err}
	}
	show(os.Stderr, diags)
	if c == nil {
		return &status{code: exitUsage}
	}
	job, err := exec.Start(context.Background(), c.Graph(stdlib.New(), env), env, exec.Setup{})
	if err == nil {
		err = job.Wait()
	}
	if err = outcome(err); err != nil {
		return exitOf(err)
	}
	if p.format == "json" {
		lines := strings.TrimSuffix(out.String(), "\n")
		if lines != "" {
			lines = "\n  " + strings.ReplaceAll(lines, "\n", ",\n  ") + "\n"
		}
		_, err = fmt.Fprintf(p.out, "[%s]\n", lines)
	}
	return written(err)
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
