package view

import (
	"errors"
	"io"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib"
	"github.com/ebb-lang/ebb/stdlib/grid"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// lines writes rows as the connector console does: JSON lines or CSV.
type lines struct {
	counter
	enc  spec.Encoder
	sink exec.Sink
}

func newLines(w io.Writer, o Options, s types.Schema) (*lines, error) {
	env := exec.OS()
	env.Stdout = w
	call := &spec.Write{Name: "view", Args: &types.ConnArgs{Name: "console", Args: map[string]any{"format": string(o.Mode)}},
		Schema: s, Changes: o.Updating, Env: env}
	console := stdlib.New().ConnDef("console")
	enc, err := console.Encoder(call)
	if err != nil {
		return nil, err
	}
	sink, err := console.Sink(call)
	if err != nil {
		return nil, err
	}
	return &lines{enc: enc, sink: sink}, nil
}

func (v *lines) Add(b *vec.Batch) error {
	v.rows += int64(b.Rows())
	out, err := v.enc.Encode(b)
	if err != nil {
		return err
	}
	return v.sink.Write(out)
}

func (v *lines) Show(string) error { return nil }

func (v *lines) End() error { return errors.Join(v.sink.Finish(), v.sink.Close()) }

// array writes one JSON array of objects, a line each.
type array struct {
	counter
	w       io.Writer
	s       types.Schema
	changes bool
	text    []byte
}

func newArray(w io.Writer, o Options, s types.Schema) *array {
	return &array{w: w, s: s, changes: o.Updating}
}

func (v *array) Add(b *vec.Batch) error {
	v.text = v.text[:0]
	for i := range b.Rows() {
		open := "[\n  "
		if v.rows > 0 {
			open = ",\n  "
		}
		v.rows++
		v.text = append(v.text, open...)
		r := b.Row(i)
		if !v.changes {
			v.text = vec.AppendRowJSON(v.text, v.s.Fields, b.Cols, r)
			continue
		}
		change := vec.Insert
		if b.Change != nil {
			change = b.Change[r]
		}
		v.text = append(append(append(v.text, `{"`+grid.ChangeColumn+`":"`...), change.String()...), '"')
		at := len(v.text)
		v.text = vec.AppendRowJSON(v.text, v.s.Fields, b.Cols, r)
		v.text[at] = ',' // in the place of the bracket
		if len(v.s.Fields) == 0 {
			v.text = append(v.text[:at], '}')
		}
	}
	_, err := v.w.Write(v.text)
	return err
}

func (v *array) Show(string) error { return nil }

func (v *array) End() error {
	end := "\n]\n"
	if v.rows == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(v.w, end)
	return err
}
