package conn

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Conn{
	Doc: spec.Doc{
		Name: "csv", Group: "files",
		Signature: "csv(path, delimiter: \",\", header: true, quote: '\"', null: \"\", comments: \"\", lazy_quotes: false, compression: \"auto\", follow: false, append: false, partition_by: …, changes: false)",
		Text: "Reads and writes text with a delimiter between fields, as RFC 4180 describes it: a field in quotes may hold delimiters, line ends and doubled quotes. " +
			"`path` is a file, a folder, a pattern (`logs/**/*.csv`), a list of these, or `-` for standard input or output; files are read in the order of their names.\n\n" +
			"Columns are found by the names in the header; with `header: false` they are taken by position, and without a schema they are called `column1`, `column2`, …. " +
			"A row with more or fewer fields than the header is a row error. Empty lines are skipped, unless the file has one column: then they are rows with an empty field. " +
			"An empty field is null in a nullable column and \"\" in a `string`; `null` names one more text for null. A quoted field is never null, but `\"\"` is, where the type is not `string` or `bytes`. " +
			"Blanks around numbers, times, bools and durations are ignored. Lists and records are JSON text, bytes are base64. " +
			"Bools are `true false t f yes no y n 1 0` in any case.\n\n" +
			"Without a schema the first 1,000 rows decide the types: int, float, time, bool, else string; numbers with a leading zero or a plus stay text. " +
			"`comments` is a character that starts lines to skip. Pairs of quotes inside of an unquoted field are text; `lazy_quotes: true` also takes a single one, and single quotes inside of quoted fields, as they are. " +
			"With it, with `comments` or a compressed file one task reads; other files are read by all.\n\n" +
			"An output is written under a temporary name and appears whole at the end. A field is quoted where it must be; a null is an empty field (or the text of `null`) and the empty string is `\"\"`. " +
			"Files that end in `.gz` or `.zst` are compressed.",
		Examples: []spec.Example{
			{Code: "rows([{name: \"Ann\", age: 31}, {name: \"Bob, jr.\", age: nil}]) |> into csv(\"-\")", Want: "name,age\nAnn,31\n\"Bob, jr.\",\n"},
			{Code: "rows([{city: \"Rome\", km: 1.5}]) |> into csv(\"-\", delimiter: \";\", header: false)", Want: "Rome;1.5\n"},
		},
	},
	ConnSig: types.ConnSig{Name: "csv", Source: true, Sink: true, Params: fileParams(
		types.ConnParam{Name: "delimiter", Type: types.T(types.String), Default: ",", Text: "the character between fields; `\"\\t\"` for tabs"},
		types.ConnParam{Name: "header", Type: types.T(types.Bool), Default: true, Text: "the first row has the names of the columns"},
		types.ConnParam{Name: "quote", Type: types.T(types.String), Default: `"`, Text: "the character around fields that hold delimiters; `\"\"` for none"},
		types.ConnParam{Name: "null", Type: types.T(types.String), Default: "", Text: "text that stands for null, besides an empty field"},
		types.ConnParam{Name: "comments", Type: types.T(types.String), Default: "", Text: "input: the character that starts a line to skip"},
		types.ConnParam{Name: "lazy_quotes", Type: types.T(types.Bool), Default: false, Text: "input: take misplaced quotes as they are"},
	)},
	Info:     csvInfo,
	Pipes:    pipes,
	Splits:   severalFiles,
	Takes:    takes(csvExts),
	File:     partFile(".csv"),
	Delivery: delivery,
	Reached:  filesReached,
	Open:     csvOpen,
	Updating: func(a *types.ConnArgs) bool { return optBool(a, "changes") },
	Encoder:  newCSVEncoder,
	Sink: func(w *spec.Write) (exec.Sink, error) {
		o, err := csvOptions(w.Args)
		if err != nil {
			return nil, err
		}
		return openSink(w, ".csv", o.headerLine(w))
	},
})

var csvExts = []string{".csv", ".tsv", ".txt"}

// csvDialect is how fields are written.
type csvDialect struct {
	delim   byte
	quote   byte // 0: none
	comment byte // 0: none
	header  bool
	lazy    bool
	null    string
}

// csvOptions reads the dialect of a call.
func csvOptions(a *types.ConnArgs) (csvDialect, error) {
	d := csvDialect{delim: ',', quote: '"', header: true, null: optString(a, "null"), lazy: optBool(a, "lazy_quotes")}
	if h, ok := a.Args["header"].(bool); ok {
		d.header = h
	}
	for _, o := range []struct {
		name string
		to   *byte
		none bool // may be ""
	}{{"delimiter", &d.delim, false}, {"quote", &d.quote, true}, {"comments", &d.comment, true}} {
		s, ok := a.Args[o.name].(string)
		switch {
		case !ok:
		case s == "" && o.none:
			*o.to = 0
		case len(s) != 1 || s[0] == '\n' || s[0] == '\r' || s[0] == 0 || s[0] >= 0x80:
			return d, fmt.Errorf("%s must be one ASCII character, not %q", o.name, s)
		default:
			*o.to = s[0]
		}
	}
	if d.delim == d.quote || d.delim == d.comment || d.quote != 0 && d.quote == d.comment {
		return d, fmt.Errorf("delimiter %q, quote %q and comments %q must differ", d.delim, d.quote, d.comment)
	}
	if strings.ContainsAny(d.null, string([]byte{d.delim, '\n', '\r'})) || d.quote != 0 && strings.IndexByte(d.null, d.quote) >= 0 {
		return d, fmt.Errorf("the text for null, %q, may not hold delimiters, quotes or line ends", d.null)
	}
	return d, nil
}

func csvInfo(a *types.ConnArgs, declared *types.Schema, env *exec.Env) (types.SourceInfo, error) {
	d, err := csvOptions(a)
	if err != nil {
		return types.SourceInfo{}, err
	}
	info := types.SourceInfo{Bounded: !optBool(a, "follow"), Updating: optBool(a, "changes")}
	if declared == nil {
		g, err := csvInfer(a, d, env)
		if err != nil {
			return info, err
		}
		info.Schema, info.Inferred, info.Note, info.Sample = g.schema(), true, g.note(), g
		return info, nil
	}
	info.Schema = *declared
	if optBool(a, "changes") && declared.Index(changeColumn) >= 0 {
		return info, fmt.Errorf("with changes: true the column %s is the kind of change and no part of the schema", changeColumn)
	}
	if len(pipes(a, env)) > 0 {
		return info, nil // looked at when it is read
	}
	form := &csvFormat{csvDialect: d, columns: declared.Fields, change: optBool(a, "changes")}
	err = firstText(a, env, csvExts, func(name string, text []byte, final bool) (bool, error) {
		_, err := openLayout(form, name, text, final)
		if err == errShort {
			return false, nil
		}
		return true, err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the run says so; a check needs no data
	}
	return info, err
}

func csvOpen(s *spec.Scan) ([]exec.Source, error) {
	form, err := newCSVFormat(s)
	if err != nil {
		return nil, err
	}
	return openFiles(s, form, csvExts)
}

func newCSVFormat(s *spec.Scan) (*csvFormat, error) {
	d, err := csvOptions(s.Args)
	if err != nil {
		return nil, err
	}
	f := &csvFormat{csvDialect: d, columns: s.Schema.Fields, wanted: s.Columns, change: optBool(s.Args, "changes")}
	f.guess, _ = s.Info.Sample.(*csvGuess)
	return f, nil
}
