package conn

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Conn{
	Doc: spec.Doc{
		Name: "lines", Group: "files",
		Signature: "lines(path, compression: \"auto\", follow: false, append: false, partition_by: …)",
		Text: "Reads text line by line into one column, `line: string`, and writes one string column as lines. " +
			"`path` is a file, a folder, a pattern, a list of these, or `-` for standard input or output. Empty lines are rows, too; line ends may be `\\n` or `\\r\\n`. " +
			"Functions such as `captures`, `extract` and `part` take lines apart. A null is written as an empty line.",
		Examples: []spec.Example{
			{Code: "rows([{text: \"first\"}, {text: \"second, with a comma\"}]) |> into lines(\"-\")", Want: "first\nsecond, with a comma\n"},
		},
	},
	ConnSig: types.ConnSig{Name: "lines", Source: true, Sink: true, Params: leaveOut(fileParams(), "changes")},
	Info: func(a *types.ConnArgs, declared *types.Schema, _ *exec.Env) (types.SourceInfo, error) {
		info := types.SourceInfo{Bounded: !optBool(a, "follow"), Schema: types.NewSchema(types.Field{Name: "line", Type: types.T(types.String)})}
		if declared != nil {
			if len(declared.Fields) != 1 || declared.Fields[0].Type.Kind != types.String {
				return info, fmt.Errorf("lines has one string column, such as schema {line: string}, not %s", declared)
			}
			info.Schema = *declared
		}
		return info, nil
	},
	Pipes:    pipes,
	Splits:   severalFiles,
	Takes:    takes(nil),
	File:     partFile(".txt"),
	Delivery: delivery,
	Reached:  filesReached,
	Open: func(s *spec.Scan) ([]exec.Source, error) {
		return openFiles(s, lineFormat{columns: s.Schema.Fields, wanted: s.Columns}, nil)
	},
	Encoder: func(w *spec.Write) (spec.Encoder, error) {
		if err := oneString(w.Schema); err != nil {
			return nil, err
		}
		return &lineEncoder{w: w, parts: newPartNamer(w)}, nil
	},
	Sink: func(w *spec.Write) (exec.Sink, error) {
		if err := oneString(w.Schema); err != nil {
			return nil, err
		}
		return openSink(w, ".txt", nil)
	},
})

func leaveOut(params []types.ConnParam, name string) []types.ConnParam {
	var out []types.ConnParam
	for _, p := range params {
		if p.Name != name {
			out = append(out, p)
		}
	}
	return out
}

func oneString(s types.Schema) error {
	if len(s.Fields) == 1 && s.Fields[0].Type.Kind == types.String {
		return nil
	}
	return fmt.Errorf("lines writes one string column, the rows are %s; make one first: select line = …", s)
}

// lineFormat is plain lines as a format of the file framework.
type lineFormat struct {
	columns []types.Field
	wanted  []int
}

func (f lineFormat) open(string, []byte, bool) (layout, error) { return f, nil }
func (f lineFormat) skip() (int, int)                          { return 0, 0 }
func (f lineFormat) chunks() bool                              { return true }
func (f lineFormat) trim(record []byte) []byte                 { return trimLineEnds(record) }
func (f lineFormat) odd([]byte) bool                           { return false }
func (f lineFormat) decoder() decoder                          { return &lineDecoder{f, 64} }

func (f lineFormat) next(text []byte, _ bool) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

// lineDecoder belongs to one task.
type lineDecoder struct {
	lineFormat
	size int // about how long a line is
}

func (d *lineDecoder) decode(text []byte, final bool, out *parts) (int, error) {
	p := 0
	for p < len(text) {
		n := min(vec.MaxRows, (len(text)-p)/d.size+(len(text)-p)/d.size>>4+8)
		x := part{starts: make([]int32, n)}
		var strs []string
		for _, w := range d.wanted {
			c := vec.New(d.columns[w].Type, n)
			strs = c.Strs
			x.cols = append(x.cols, c)
		}
		from := p
		for x.n < n && p < len(text) {
			end, next := len(text), len(text)
			if i := bytes.IndexByte(text[p:], '\n'); i >= 0 {
				end, next = p+i, p+i+1
			} else if !final {
				break
			}
			if end > p && text[end-1] == '\r' {
				end--
			}
			if strs != nil {
				strs[x.n] = view(text[p:end])
			}
			x.starts[x.n] = int32(p)
			x.n++
			p = next
		}
		if x.n == 0 {
			break
		}
		d.size = (p-from)/x.n + 1
		for _, c := range x.cols {
			c.Strs = c.Strs[:x.n:x.n]
		}
		full := x.n == n
		out.add(x)
		if !full {
			break
		}
	}
	return p, nil
}

func (d *lineDecoder) recycle(*part) {} // one column of views: there is little to keep

// lineEncoder belongs to one task.
type lineEncoder struct {
	w     *spec.Write
	parts *partNamer
	ends  []int
}

// Encode writes the rows into one block.
func (e *lineEncoder) Encode(b *vec.Batch) (*vec.Batch, error) {
	if len(b.Cols) != 1 {
		return nil, errors.New("lines: not one column")
	}
	c, size := b.Cols[0], 0
	for i := range b.Rows() {
		size += len(c.Strs[b.Row(i)]) + 1
	}
	block := make([]byte, 0, size)
	e.ends = e.ends[:0]
	for i := range b.Rows() {
		if r := b.Row(i); !c.Null(r) {
			block = append(block, c.Strs[r]...)
		}
		block = append(block, '\n')
		e.ends = append(e.ends, len(block))
	}
	out := encoded(block, e.ends)
	if e.parts != nil {
		parts, err := e.parts.column(b, appendPlain)
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, &vec.Column{Type: types.T(types.String), Strs: parts})
	}
	return out, nil
}
