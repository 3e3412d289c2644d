package conn

import (
	"fmt"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/grid"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Conn{
	Doc: spec.Doc{
		Name:      "console",
		Group:     "output",
		Signature: `console(format: "table" | "jsonl" | "csv")`,
		Text: "Prints rows to the standard output. A table has aligned columns: the first rows decide how wide they are, " +
			fmt.Sprintf("values of more than %d characters are cut (…), and so are columns where the terminal is too narrow; ", grid.WidestCell) +
			`nulls are printed as null. The other formats print all there is. An updating stream begins with the column "_change": +I -U +U -D.`,
		Examples: []spec.Example{
			{Code: `rows([{city: "Rome", visits: 12}, {city: "Oslo", visits: nil}]) |> into console()`,
				Want: "city  visits\n────  ──────\nRome      12\nOslo    null\n"},
			{Code: `rows([{city: "Rome", visits: 12}]) |> into console(format: "csv")`, Want: "city,visits\nRome,12\n"},
		},
	},
	ConnSig: types.ConnSig{
		Name: "console",
		Sink: true,
		Params: []types.ConnParam{
			{Name: "format", Type: types.T(types.String), Default: "table", Text: `"table", "jsonl" or "csv"`},
		},
	},
	Updating: func(*types.ConnArgs) bool { return true },
	Delivery: func(*types.ConnArgs, *exec.Env) spec.Delivery { return spec.Shown },
	Encoder: func(w *spec.Write) (spec.Encoder, error) {
		switch w, format := printed(w); format {
		case "table":
			return newTableEncoder(w), nil
		case "jsonl":
			return newJSONEncoder(w)
		case "csv":
			return newCSVEncoder(w)
		default:
			return nil, formatError(format)
		}
	},
	Sink: func(w *spec.Write) (exec.Sink, error) {
		switch w, format := printed(w); format {
		case "table":
			return newTable(w), nil
		case "jsonl":
			return openSink(w, "", nil)
		case "csv":
			return openSink(w, "", csvDialect{delim: ',', quote: '"', header: true}.headerLine(w))
		default:
			return nil, formatError(format)
		}
	},
})

// printed returns the format of a call, and the call as an output of that format would see it.
func printed(w *spec.Write) (*spec.Write, string) {
	format, ok := w.Args.Args["format"].(string)
	if !ok {
		format = "table"
	}
	to := *w
	to.Args = &types.ConnArgs{Name: format, Args: map[string]any{"path": stdio}, Pos: w.Args.Pos}
	return &to, format
}

func formatError(format string) error {
	return fmt.Errorf(`format: %q is not one of "table", "jsonl" and "csv"`, format)
}
