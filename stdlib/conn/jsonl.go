package conn

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Conn{
	Doc: spec.Doc{
		Name: "jsonl", Group: "files",
		Signature: "jsonl(path, compression: \"auto\", follow: false, append: false, partition_by: …, changes: false)",
		Text: "Reads and writes JSON lines: a JSON object a line. " +
			"`path` is a file, a folder, a pattern (`logs/**/*.jsonl`), a list of these, or `-` for standard input or output; files are read in the order of their names. " +
			"A file that is one list of objects is read, too, and so are objects over several lines; one task reads such a file, and one task a compressed one.\n\n" +
			"Columns are the fields of the objects. Objects and lists in them are records and lists, at any depth; `any` takes whatever there is. A field that is missing or null is null in a nullable column and \"\" in a `string`. " +
			"Fields that the schema does not name are ignored; of a field that stands twice the last counts. " +
			"An `int` takes 1.0 and 1e3, which are integral; numbers beyond 64 bits are row errors, and so is text for a number. " +
			"A `time` is RFC 3339 text or its relatives, with a format a number (`time(ms)`) or text of that layout; a `duration` is text such as \"1h30m\", `bytes` are base64. " +
			"Every row must be valid JSON in UTF-8, in the parts that are not read as well.\n\n" +
			"Without a schema the first 1,000 rows decide the types, which are all nullable: int, float, time, bool, string, records, lists; values of several kinds, and objects of more than 200 fields, are `any`.\n\n" +
			"An output is written under a temporary name and appears whole at the end. Fields come in the order of the columns. Times are RFC 3339 in UTC, or as the sink's schema says; " +
			"floats are the shortest text that reads back as the same number; NaN and infinities are null. With `partition_by`, `path` is a folder. Files that end in `.gz` or `.zst` are compressed.",
		Examples: []spec.Example{
			{Code: "rows([{name: \"Ann\", tags: [\"a\", \"b\"], at: @2026-01-31T10:00:00Z}]) |> into jsonl(\"-\")", Want: `{"name":"Ann","tags":["a","b"],"at":"2026-01-31T10:00:00Z"}` + "\n"},
			{Code: "rows([{v: 1.5, took: 90s, note: nil}]) schema { v: float, took: duration, note: string? }\n    |> into jsonl(\"-\")", Want: `{"v":1.5,"took":"1m30s","note":null}` + "\n"},
		},
	},
	ConnSig:  types.ConnSig{Name: "jsonl", Source: true, Sink: true, Params: fileParams()},
	Info:     jsonInfo,
	Pipes:    pipes,
	Splits:   severalFiles,
	Takes:    takes(jsonExts),
	File:     partFile(".jsonl"),
	Delivery: delivery,
	Reached:  filesReached,
	Open:     jsonOpen,
	Updating: func(a *types.ConnArgs) bool { return optBool(a, "changes") },
	Encoder:  newJSONEncoder,
	Sink:     func(w *spec.Write) (exec.Sink, error) { return openSink(w, ".jsonl", nil) },
})

var jsonExts = []string{".jsonl", ".ndjson", ".json", ".geojson"}

func jsonInfo(a *types.ConnArgs, declared *types.Schema, env *exec.Env) (types.SourceInfo, error) {
	info := types.SourceInfo{Bounded: !optBool(a, "follow"), Updating: optBool(a, "changes")}
	if declared == nil {
		g, err := jsonInfer(a, env)
		if err != nil {
			return info, err
		}
		info.Schema, info.Inferred, info.Note, info.Sample = g.schema(), true, g.note(), g
		return info, nil
	}
	info.Schema = *declared
	if optBool(a, "changes") && declared.Index(changeColumn) >= 0 {
		return info, fmt.Errorf("with changes: true the field %s is the kind of change and no part of the schema", changeColumn)
	}
	if _, err := listFiles(a, env, jsonExts); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return info, err // a file that is missing is the run's to tell: a check needs no data
	}
	return info, nil
}

func jsonOpen(s *spec.Scan) ([]exec.Source, error) { return openFiles(s, newJSONFormat(s), jsonExts) }

func newJSONFormat(s *spec.Scan) *jsonFormat {
	f := &jsonFormat{change: optBool(s.Args, "changes")}
	for _, c := range s.Columns {
		f.columns = append(f.columns, s.Schema.Fields[c])
	}
	f.sample, _ = s.Info.Sample.(*jsonSample)
	return f
}
