package conn

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// csvText reads a text of CSV. schema nil: inferred.
func csvText(t testing.TB, text string, schema *types.Schema, opts map[string]any) (got, types.SourceInfo) {
	env := memEnv(map[string]string{"a.csv": text})
	args := map[string]any{"path": "a.csv"}
	for k, v := range opts {
		args[k] = v
	}
	info, err := csvInfo(&types.ConnArgs{Args: args}, schema, env)
	if err != nil {
		return got{err: err}, info
	}
	return read{args: args, schema: info.Schema, info: info}.run(t, env, csvOpen), info
}

func cells(g got) [][]any {
	out := [][]any{}
	for _, b := range g.batch {
		for i := range b.Rows() {
			row := []any{}
			for _, c := range b.Cols {
				row = append(row, c.Value(b.Row(i)))
			}
			out = append(out, row)
		}
	}
	return out
}

func TestCSVSpectrum(t *testing.T) {
	dir := casesDir(t, "parsing/csv-spectrum")
	names, err := filepath.Glob(filepath.Join(dir, "csvs", "*.csv"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".csv")
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		raw, err := os.ReadFile(filepath.Join(dir, "json", base+".json"))
		require.NoError(t, err)
		var want []map[string]string
		require.NoError(t, json.Unmarshal(raw, &want), base)
		_, info := csvText(t, string(text), nil, nil)
		schema := types.Schema{}
		for _, n := range info.Schema.Names() {
			schema.Fields = append(schema.Fields, field(n, types.T(types.String)))
		}
		for _, lazy := range []bool{false, true} {
			g, _ := csvText(t, string(text), &schema, map[string]any{"lazy_quotes": lazy})
			require.NoError(t, g.err)
			require.Empty(t, g.errors)
			have := []map[string]string{}
			for _, row := range cells(g) {
				m := map[string]string{}
				for i, n := range schema.Names() {
					m[n] = row[i].(string)
				}
				have = append(have, m)
			}
			require.Equal(t, want, have, base)
		}
	}
}

// What this reader and the one of the standard library both take must read the same.
func TestCSVAgainstStandardLibrary(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "bc", ",", ",", "\n", "\n", "\r\n", "\"", "\"\"", "\"x\"", "\"a,b\"", " ", "é", "\"1\n2\"", "x\"y", "#"})
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(rt, "text"), "")
		lazy := rapid.Bool().Draw(rt, "lazy")
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		r.LazyQuotes = lazy
		r.Comment = []rune{0, '#'}[rapid.IntRange(0, 1).Draw(rt, "comment")]
		want, err := r.ReadAll()
		if err != nil {
			return
		}
		d := csvDialect{delim: ',', quote: '"', lazy: lazy, comment: byte(r.Comment)}
		s := csvSplitter{csvDialect: d}
		var have [][]string
		for b, p := []byte(text), 0; p < len(b); {
			next, skipped, _ := s.blank(b, p)
			if skipped {
				p = next
				continue
			}
			next, whole, why := s.split(b, p, true)
			require.True(rt, whole)
			if lazy && strings.HasSuffix(why, "is never closed") {
				return // which the other one lets pass
			}
			if why != "" {
				rt.Fatalf("%q: %s", text, why)
			}
			var row []string
			for i := range s.spans {
				f, _ := s.text(b, i)
				row = append(row, strings.ReplaceAll(string(f), "\r\n", "\n")) // which the other one does
			}
			have = append(have, row)
			p = next
		}
		require.Equal(rt, want, have, "%q", text)
	})
}

func TestCSVTypes(t *testing.T) {
	rec := types.RecordOf(field("x", types.T(types.Int)), field("y", types.T(types.String).Null()))
	schema := types.NewSchema(
		field("i", types.T(types.Int).Null()), field("f", types.T(types.Float).Null()), field("b", types.T(types.Bool).Null()), field("s", types.T(types.String)), field("sn", types.T(types.String).Null()),
		field("raw", types.T(types.Bytes).Null()), field("t", types.T(types.Time).Null()), field("ms", types.Type{Kind: types.Time, Format: "ms", Nullable: true}), field("lay", types.Type{Kind: types.Time, Format: "02/Jan/2006:15:04:05 -0700", Nullable: true}),
		field("d", types.T(types.Duration).Null()), field("l", types.ListOf(types.T(types.Int)).Null()), field("r", rec.Null()), field("any", types.T(types.Any).Null()))
	header := strings.Join(schema.Names(), ",") + "\n"
	for _, c := range []struct {
		row  string
		want string
	}{
		{`,,,,,,,,,,,,`, `[<nil> <nil> <nil>  <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil>]`},
		{`"","","","","","","","","","","","",""`, `[<nil> <nil> <nil>    <nil> <nil> <nil> <nil> <nil> <nil> <nil>]`},
		{`12,1.5,true,x,y,aGk=,2026-01-31T10:00:00Z,1500,31/Jan/2026:10:00:00 +0100,1h30m,"[1,2]","{""x"":1}","{ ""a"": [1] }"`,
			`[12 1.5 true x y hi 1769853600000000000 1500000000 1769850000000000000 5400000000000 [1 2] map[x:1 y:<nil>] {"a":[1]}]`},
		{`-9223372036854775808,-1e-3,F, x , y,,2026-01-31,-1,,2d, [ ] ,,3`, `[-9223372036854775808 -0.001 false  x   y <nil> 1769817600000000000 -1000000 <nil> 172800000000000 [] <nil> 3]`},
		{` 007 , 3 ,YES,,,,2026-01-31 10:00:00.5+02:00,1.5,,-5s,,,"""x"""`, `[7 3 true  <nil> <nil> 1769846400500000000 1500000 <nil> -5000000000 <nil> <nil> "x"]`},
		{`1.0,NaN,0,,,,,,,,,,`, `[1 NaN false  <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil>]`},
		{`+5,-inf,n,,,,,,,,,,`, `[5 -Inf false  <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil>]`},
		{`1e3,12345678901234567890.5,n,,,,,,,,,,`, `[1000 1.2345678901234567e+19 false  <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil>]`},
		{`12345678,12345678.87654321,,,,,,,,,,,`, `[12345678 1.234567887654321e+07 <nil>  <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil>]`},
		{`-,,,,,,,,,,,,`, `column i: "-" is not an int`},
		{`9223372036854775808,,,,,,,,,,,,`, `column i: "9223372036854775808" is not an int: it is beyond 64 bits`},
		{`1.5,,,,,,,,,,,,`, `column i: "1.5" is not an int`},
		{`,1e400,,,,,,,,,,,`, `column f: "1e400" is not a float: it is out of range`},
		{`,0x10,,,,,,,,,,,`, `column f: "0x10" is not a float`},
		{`,1_0,,,,,,,,,,,`, `column f: "1_0" is not a float`},
		{`,,maybe,,,,,,,,,,`, `column b: "maybe" is not a bool`},
		{`,,,,,a,,,,,,,`, `column raw: "a" is not base64 text`},
		{`,,,,,,2026-02-30,,,,,,`, `column t: "2026-02-30" is not a time (RFC 3339, such as 2026-01-31T10:00:00Z)`},
		{`,,,,,,,x,,,,,`, `column ms: "x" is not a time (milliseconds since 1970)`},
		{`,,,,,,,99999999999999999,,,,,`, `column ms: "99999999999999999" is not a time (milliseconds since 1970)`},
		{`,,,,,,,,31/Foo/2026:10:00:00 +0100,,,,`, `column lay: "31/Foo/2026:10:00:00 +0100" is not a time (layout "02/Jan/2006:15:04:05 -0700")`},
		{`,,,,,,,,,5,,,`, `column d: "5" is not a duration, such as "1h30m"`},
		{`,,,,,,,,,,"[1,x]",,`, `column l: "[1,x]": not valid JSON at byte 4: not a value`},
		{`,,,,,,,,,,"[1] 2",,`, `column l: "[1] 2": not valid JSON at byte 4: something follows the value`},
		{`,,,,,,,,,,,"{""y"":1}",`, `column r: "{\"y\":1}": column r.y: 1 is not a string (byte 6)`},
	} {
		g, _ := csvText(t, header+c.row, &schema, nil)
		require.NoError(t, g.err)
		if len(g.errors) > 0 {
			require.Equal(t, "a.csv 1: "+c.want+" | "+c.row, g.errors[0])
			continue
		}
		require.Equal(t, c.want, fmt.Sprint(cells(g)[0]), c.row)
	}
	g, _ := csvText(t, "n,s\n,\n", &types.Schema{Fields: []types.Field{field("n", types.T(types.Int)), field("s", types.T(types.String))}}, nil)
	require.Equal(t, []string{"a.csv 1: column n: empty, but int is not nullable; a schema may say n: int? | ,"}, g.errors)
}

// Floats are rounded as the standard library rounds them.
func TestCSVFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	var want []any
	text.WriteString("f\n")
	for range 20_000 {
		s := fmt.Sprintf("%d.%0*d", r.Int64N(int64(powersOf10[r.IntN(9)])+1), r.IntN(9)+1, r.IntN(100_000_000))
		if r.IntN(2) == 0 {
			s = "-" + s
		}
		f, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err)
		text.WriteString(s + "\n")
		want = append(want, f)
	}
	g, _ := csvText(t, text.String(), nil, nil)
	require.NoError(t, g.err)
	require.Empty(t, g.errors)
	for i, row := range cells(g) {
		require.Equal(t, want[i], row[0])
	}
}

func TestCSVDialects(t *testing.T) {
	str := types.NewSchema(field("a", types.T(types.String).Null()), field("b", types.T(types.String).Null()))
	for _, c := range []struct {
		name, text string
		opts       map[string]any
		want       string
	}{
		{"delimiter", "a;b\n1,5;2\n", map[string]any{"delimiter": ";"}, `[[1,5 2]]`},
		{"tab", "a\tb\n1\t\n", map[string]any{"delimiter": "\t"}, `[[1 <nil>]]`},
		{"no header", "1,2\n3,4\n", map[string]any{"header": false}, `[[1 2] [3 4]]`},
		{"further columns", "1,2,9\n3,4,9\n", map[string]any{"header": false}, `[[1 2] [3 4]]`},
		{"quote", "a,b\n'x,y','it''s'\n", map[string]any{"quote": "'"}, `[[x,y it's]]`},
		{"no quote", "a,b\n\"x,y\n", map[string]any{"quote": ""}, `[["x y]]`},
		{"null", "a,b\nNA,\"NA\"\n", map[string]any{"null": "NA"}, `[[<nil> NA]]`},
		{"comments", "# hello\na,b\n#x\n1,2\n# \"\n3,4\n#", map[string]any{"comments": "#"}, `[[1 2] [3 4]]`},
		{"lazy", "a,b\n5\" pipe,say \"hi\"\n\"a \"b\" c\",\"x\ny\"\n", map[string]any{"lazy_quotes": true}, "[[5\" pipe say \"hi\"] [a \"b\" c x\ny]]"},
		{"columns by name", "b,x,a\n1,2,3\n", nil, `[[3 1]]`},
		{"mark", "\ufeffa,b\n1,2\n", nil, `[[1 2]]`},
		{"mark and quote", "\ufeff\"a\",b\n1,2\n", nil, `[[1 2]]`},
		{"header alone", "a,b", nil, `[]`},
		{"blanks in the header", "a , b\n1, 2\n", nil, `[[1  2]]`},
		{"empty lines", "\n\na,b\n\n1,2\n\r\n\n3,4\n\n", nil, `[[1 2] [3 4]]`},
		{"quotes inside", "a,b\n1\"2\",\"x\"\n", nil, `[[1"2" x]]`},
		{"NUL", "a,b\n\x00,x\x00y\n", nil, "[[\x00 x\x00y]]"},
		{"lone CR", "a,b\nx\ry,z\r", nil, "[[x\ry z]]"},
		{"not UTF-8", "a,b\n\xff,\xc3\n", nil, "[[\xff \xc3]]"},
	} {
		g, _ := csvText(t, c.text, &str, c.opts)
		require.NoError(t, g.err, c.name)
		require.Empty(t, g.errors, c.name)
		require.Equal(t, c.want, fmt.Sprint(cells(g)), c.name)
	}
	one := types.NewSchema(field("a", types.T(types.String).Null()))
	g, _ := csvText(t, "a\n\nx\n\"\"\n\r\n", &one, nil)
	require.Equal(t, "[[<nil>] [x] [] [<nil>]]", fmt.Sprint(cells(g)))

	for _, c := range []struct {
		text string
		opts map[string]any
		want string
	}{
		{"a,c\n1,2\n", nil, "a.csv has no column b. It has a, c"},
		{"A,bb\n1,2\n", nil, "a.csv has no column a; did you mean A? It has A, bb"},
		{"a;b\n1;2\n", nil, `a.csv has no column a; is the delimiter ";"? Then say delimiter: ";". It has @"a;b"`},
		{"a,b,a\n", nil, "a.csv: the header has the column a twice (fields 1 and 3); rename one, or read with header: false"},
		{"a\n1\n", map[string]any{"header": false}, "a.csv has 1 column, the schema names 2: a, b"},
		{"a,\"b\n", nil, "a.csv: the header: the quote that opens field 2 is never closed"},
		{"a,\"b\n", map[string]any{"header": false}, "a.csv: the first row: the quote that opens field 2 is never closed"},
		{"a,b\rc,d\r", map[string]any{"header": false}, "a.csv: the first row has a carriage return without a newline: lines end in \\n or \\r\\n; convert the file first: tr '\\r' '\\n'"},
		{"\xff\xfea\x00", nil, "a.csv is UTF-16 text; convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8"},
		{"a,b\n", map[string]any{"delimiter": ",,"}, `delimiter must be one ASCII character, not ",,"`},
		{"a,b\n", map[string]any{"quote": ","}, `delimiter ',', quote ',' and comments '\x00' must differ`},
		{"a,b\n", map[string]any{"null": "a,b"}, `the text for null, "a,b", may not hold delimiters, quotes or line ends`},
		{"a,b\n", map[string]any{"compression": "rar"}, `compression "rar" is not known; it may be auto, none, gzip or zstd`},
		{"a,b\n1,2\n3,4\n5,6\n", map[string]any{"compression": "gzip"}, `cannot read a.csv as gzip: gzip: invalid header`},
	} {
		g, _ := csvText(t, c.text, &str, c.opts)
		require.EqualError(t, g.err, c.want)
	}

	for text, want := range map[string]string{
		"1":                "1 field, but the header has 2",
		"1,2,3":            "3 fields, but the header has 2",
		"1,2,":             "3 fields, but the header has 2",
		"\"1\"x,2":         `field 1 goes on behind its closing quote: "\"1\"x,2"; double the quotes inside of a quoted field, or read with lazy_quotes: true`,
		"1,5\" x\n1,6\" y": `the unquoted field 2 has a quote inside and goes on in the next line: "5\" x\n1"; put the field in quotes and double those inside, or read with lazy_quotes: true`,
	} {
		for _, columns := range [][]int{{0, 1}, {0}, {1}, {}} {
			r := read{args: map[string]any{"path": "a.csv"}, schema: str, columns: columns}
			g := r.run(t, memEnv(map[string]string{"a.csv": "a,b\nx,y\n" + text + "\nx,y\n"}), csvOpen)
			require.NoError(t, g.err)
			require.Equal(t, []string{"a.csv 2: " + want + " | " + text}, g.errors)
			require.Len(t, g.rows, 2)
		}
	}
}

func TestCSVChanges(t *testing.T) {
	g, info := csvText(t, "_change,k,n\n+I,a,1\n-U,a,1\n+U,a,2\n-D,a,2\n", nil, map[string]any{"changes": true})
	require.NoError(t, g.err)
	require.Equal(t, "{k: string?, n: int?}", info.Schema.String())
	require.Equal(t, []vec.Change{vec.Insert, vec.UpdateBefore, vec.UpdateAfter, vec.Delete}, g.batch[0].Change)
	g, _ = csvText(t, "_change,k,n\n+I,a,1\nX,a,1\n", nil, map[string]any{"changes": true})
	require.Equal(t, []string{`a.csv 2: column _change: "X" is not a kind of change (+I -U +U -D) | X,a,1`}, g.errors)
	g, _ = csvText(t, "k,n\na,1\n", nil, map[string]any{"changes": true})
	require.EqualError(t, g.err, "a.csv has no column _change, which changes: true wants")
}

func TestCSVInference(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a,b,c,d,e,f\n1,1.5,2026-01-31,true,x,\n-2,3,2026-01-31 10:00:00,FALSE,,\n", "{a: int?, b: float?, c: time?, d: bool?, e: string?, f: string?}"},
		{"zip,phone,id,ok\n00501,+491,99999999999999999999,0\n", "{zip: string?, phone: string?, id: string?, ok: int?}"},
		{"a,b,c,d\n1,NaN,1,true\n2.5,3,x,1\n", "{a: float?, b: float?, c: string?, d: string?}"},
		{"a\n\"1\"\n\"2\"\n", "{a: int?}"},
		{",x\n0,1\n", "{column1: int?, x: int?}"},
		{"Body Mass (g),count\n1,2\n", "{@\"Body Mass (g)\": int?, count: int?}"},
	} {
		_, info := csvText(t, c.text, nil, nil)
		require.True(t, info.Inferred)
		parts := []string{}
		for _, f := range info.Schema.Fields {
			parts = append(parts, types.QuoteName(f.Name)+": "+f.Type.String())
		}
		require.Equal(t, c.want, "{"+strings.Join(parts, ", ")+"}")
	}
	g, info := csvText(t, "1,a\n2,b\n", nil, map[string]any{"header": false})
	require.NoError(t, g.err)
	require.Equal(t, "{column1: int?, column2: string?}", info.Schema.String())
	require.Equal(t, "schema inferred from the 2 rows of a.csv", info.Note)

	// A file of lone carriage returns is no header without rows.
	g, _ = csvText(t, "a,b\r1,2\r", nil, nil)
	require.ErrorContains(t, g.err, "a.csv: the header has a carriage return without a newline")

	g, _ = csvText(t, "", nil, nil)
	require.EqualError(t, g.err, "a.csv is empty, so its columns are not known; write a schema: source … = csv(…) schema {…}")

	// A later row that does not fit says why.
	g, info = csvText(t, "n,s\n"+strings.Repeat("17,x\n", 1200)+"abc,y\n", nil, nil)
	require.NoError(t, g.err)
	require.Equal(t, "schema inferred from the first 1,000 rows of a.csv", info.Note)
	require.Equal(t, []string{`a.csv 1201: column n: "abc" is not an int. Row 1 ("17") made the column an int, from the first 1,000 rows; to read other values write the types: schema {n: float?, s: string?} | abc,y`}, g.errors)

	// Standard input is looked at without taking anything away.
	env := testEnv()
	env.Stdin = strings.NewReader("a,b\n" + strings.Repeat("1,x\n", 1200) + "no,y\n")
	args := map[string]any{"path": "-"}
	for range 2 {
		var err error
		info, err = csvInfo(&types.ConnArgs{Args: args}, nil, env)
		require.NoError(t, err)
		require.Equal(t, "{a: int?, b: string?}", info.Schema.String())
	}
	g = read{args: args, schema: info.Schema, info: info}.run(t, env, csvOpen)
	require.NoError(t, g.err)
	require.Len(t, g.rows, 1200)
	require.Len(t, g.errors, 1)
	require.True(t, env.Stats.SizeUnknown.Load())
	require.Contains(t, g.errors[0], `"no" is not an int. Row 1 ("1") made the column an int, from the first 1,000 rows`)
}

func TestCSVRealFiles(t *testing.T) {
	dir := casesDir(t, "files")
	want := map[string]string{
		"stocks.csv":                  "{symbol: string?, date: string?, price: float?} 560",
		"github.csv":                  "{time: time?, count: int?} 955",
		"seattle-weather.csv":         "{date: time?, precipitation: float?, temp_max: float?, temp_min: float?, wind: float?, weather: string?} 1461",
		"weather.csv":                 "{location: string?, date: time?, precipitation: float?, temp_max: float?, temp_min: float?, wind: float?, weather: string?} 2922",
		"flights-airport.csv":         "{origin: string?, destination: string?, count: int?} 5366",
		"co2-concentration.csv":       "{Date: time?, CO2: float?, adjusted CO2: float?} 741",
		"nyc-taxi-rides.csv":          "{pickup: time?, dropoff: time?, passengers: int?, distance: float?, fare: float?, tip: float?, tolls: float?, total: float?, color: string?, payment: string?, pickup_zone: string?, dropoff_zone: string?, pickup_borough: string?, dropoff_borough: string?} 6433",
		"nyc-taxi-demand-30min.csv":   "{timestamp: time?, value: int?} 10320",
		"iot-ambient-temperature.csv": "{timestamp: time?, value: float?} 7267",
		"ec2-request-latency.csv":     "{timestamp: time?, value: float?} 4032",
		"us-employment.csv":           "",
	}
	for name, w := range want {
		env := testEnv()
		args := map[string]any{"path": filepath.Join(dir, name)}
		info, err := csvInfo(&types.ConnArgs{Args: args}, nil, env)
		require.NoError(t, err)
		g := read{args: args, schema: info.Schema, info: info, width: 2}.run(t, env, openCSV(10_000))
		require.NoError(t, g.err)
		require.Empty(t, g.errors, name)
		if w == "" {
			require.Len(t, info.Schema.Fields, 24)
			require.Len(t, g.rows, 120)
			continue
		}
		require.Equal(t, w, fmt.Sprintf("%s %d", info.Schema, len(g.rows)), name)
	}
}

// What is written is read back.
func TestCSVRoundTrip(t *testing.T) {
	schema := types.NewSchema(field("i", types.T(types.Int).Null()), field("f", types.T(types.Float).Null()), field("s", types.T(types.String).Null()), field("b", types.T(types.Bool).Null()), field("t", types.T(types.Time).Null()),
		field("d", types.T(types.Duration).Null()), field("raw", types.T(types.Bytes).Null()), field("l", types.ListOf(types.T(types.String).Null()).Null()))
	rapid.Check(t, func(rt *rapid.T) {
		opts := map[string]any{"path": "a.csv", "null": rapid.SampledFrom([]string{"", "NA", "0"}).Draw(rt, "null"), "delimiter": rapid.SampledFrom([]string{",", ";", "\t", ":", "1"}).Draw(rt, "delimiter")}
		maybe := func(v any) any {
			if rapid.IntRange(0, 5).Draw(rt, "null") == 0 {
				return nil
			}
			return v
		}
		str := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("a,;\"\n\r\t x0")), 0, 20, -1), rapid.SampledFrom([]string{"NA", "0", ""}))
		var rows [][]any
		for range rapid.IntRange(0, 20).Draw(rt, "rows") {
			f := rapid.Float64().Draw(rt, "f")
			if rapid.IntRange(0, 4).Draw(rt, "special") == 0 {
				f = rapid.SampledFrom([]float64{math.Inf(1), math.Inf(-1), 0.1, 1e21, 5e-324, math.MaxFloat64}).Draw(rt, "f")
			}
			rows = append(rows, []any{maybe(rapid.Int64().Draw(rt, "i")), maybe(f), maybe(str.Draw(rt, "s")), maybe(rapid.Bool().Draw(rt, "b")), maybe(rapid.Int64Range(-1e18, 9e18).Draw(rt, "t")), maybe(rapid.Int64().Draw(rt, "d")),
				maybe(str.Draw(rt, "raw")), maybe([]any{maybe(strings.ToValidUTF8(str.Draw(rt, "l"), "?"))})})
		}
		w := &spec.Write{Args: &types.ConnArgs{Args: opts}, Schema: schema, Env: testEnv()}
		e, err := newCSVEncoder(w)
		require.NoError(rt, err)
		d, _ := csvOptions(w.Args)
		text := string(d.headerLine(w))
		out, err := e.Encode(vec.FromRows(schema, rows))
		require.NoError(rt, err)
		require.Equal(rt, len(rows), out.N)
		require.Equal(rt, string(out.Block), strings.Join(out.Cols[0].Strs, ""))
		text += string(out.Block)
		g := read{args: opts, schema: schema}.run(t, memEnv(map[string]string{"a.csv": text}), openCSV(50))
		require.NoError(rt, g.err)
		require.Empty(rt, g.errors)
		if len(rows) == 0 {
			rows = [][]any{}
		}
		for _, r := range rows {
			if s, ok := r[6].(string); ok && s == "" {
				r[6] = "" // empty bytes are written as "", which is not null
			}
		}
		require.Equal(rt, rows, cells(g), "%q", text)
	})
}

// Chunks that hold nothing but what looks like empty lines have no room for lists, nor for what a row makes of them.
func TestCSVListAndChunksWithoutRecords(t *testing.T) {
	schema := types.NewSchema(field("s", types.T(types.String)), field("l", types.ListOf(types.ListOf(types.T(types.Int)))))
	text := "s,l\n\"" + strings.Repeat("\n", 50) + "\",\"[[1],\n[2,3]]\"\nx,[]\n"
	for _, chunk := range []int64{1, 7, 50, 1000} {
		g := read{args: map[string]any{"path": "a.csv"}, schema: schema, width: 2}.run(t, memEnv(map[string]string{"a.csv": text}), openCSV(chunk))
		require.NoError(t, g.err)
		require.Empty(t, g.errors)
		require.Equal(t, [][]any{{strings.Repeat("\n", 50), []any{[]any{int64(1)}, []any{int64(2), int64(3)}}}, {"x", []any{}}}, cells(g))
	}
}

func TestCSVEncode(t *testing.T) {
	rec := types.RecordOf(field("a", types.T(types.Int)), field("b", types.T(types.String).Null()))
	schema := types.NewSchema(field("n", types.T(types.Int).Null()), field("a b", types.T(types.String).Null()), field("f", types.T(types.Float)), field("t", types.T(types.Time)), field("u", types.Type{Kind: types.Time, Format: "ms"}), field("v", types.Type{Kind: types.Time, Format: "Jan 2, 2006"}), field("d", types.T(types.Duration)), field("r", rec))
	b := vec.FromRows(schema, [][]any{
		{int64(1), "x", 1.5, int64(0), int64(1_500_000), int64(0), int64(5400e9), map[string]any{"a": int64(1), "b": "q\"&"}},
		{nil, nil, math.NaN(), int64(1), int64(-1), int64(0), int64(0), map[string]any{"a": int64(1)}},
		{int64(-7), "", math.Inf(-1), int64(1_000_000), int64(0), int64(0), int64(1), map[string]any{"a": int64(1)}},
		{int64(0), "a,\"b\"\n", 1e100, int64(0), int64(0), int64(0), int64(1), map[string]any{"a": int64(1)}},
	})
	b.Change = []vec.Change{vec.Insert, vec.UpdateBefore, vec.UpdateAfter, vec.Delete}
	w := &spec.Write{Args: &types.ConnArgs{Args: map[string]any{}}, Schema: schema, Env: testEnv(), Changes: true}
	e, err := newCSVEncoder(w)
	require.NoError(t, err)
	d, _ := csvOptions(w.Args)
	out, err := e.Encode(b)
	require.NoError(t, err)
	require.Equal(t, `_change,n,a b,f,t,u,v,d,r
+I,1,x,1.5,1970-01-01T00:00:00Z,1,"Jan 1, 1970",1h30m,"{""a"":1,""b"":""q\""&""}"
-U,,,NaN,1970-01-01T00:00:00.000000001Z,-1,"Jan 1, 1970",0s,"{""a"":1,""b"":null}"
+U,-7,"",-Inf,1970-01-01T00:00:00.001Z,0,"Jan 1, 1970",1ns,"{""a"":1,""b"":null}"
-D,0,"a,""b""
",1e+100,1970-01-01T00:00:00Z,0,"Jan 1, 1970",1ns,"{""a"":1,""b"":null}"
`, string(d.headerLine(w))+string(out.Block))
	out, err = e.Encode(b.Select([]uint32{2}))
	require.NoError(t, err)
	require.Equal(t, 1, out.N)

	w = &spec.Write{Args: &types.ConnArgs{Args: map[string]any{"quote": ""}}, Schema: types.NewSchema(field("s", types.T(types.String))), Env: testEnv()}
	e, err = newCSVEncoder(w)
	require.NoError(t, err)
	_, err = e.Encode(vec.FromRows(w.Schema, [][]any{{"a,b"}}))
	require.EqualError(t, err, `column s: "a,b" holds a delimiter or a line end, and quotes are off`)
}

func TestEncodeDoesNotAllocatePerRow(t *testing.T) {
	schema := types.NewSchema(field("n", types.T(types.Int)), field("s", types.T(types.String)), field("t", types.T(types.Time)), field("f", types.T(types.Float)), field("d", types.T(types.Duration)))
	rows := make([][]any, 1000)
	for i := range rows {
		rows[i] = []any{int64(i), "some text", int64(i) * 1e9, float64(i) / 8, int64(i)}
	}
	b := vec.FromRows(schema, rows)
	e, _ := newCSVEncoder(&spec.Write{Args: &types.ConnArgs{Args: map[string]any{}}, Schema: schema})
	e.Encode(b)
	require.Less(t, testing.AllocsPerRun(10, func() { e.Encode(b) }), 12.0)
}

// FuzzCSV: nothing panics, and chunks give what the whole gives.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a,b\n\"x\ny\",2\n3,\"\"\"\"\n", "a\r\n\r\n1", "\ufeffa,b\n1", "a,b\n\"", "a,b\n5\",6\n7,8\"\n", "\"a\n\",b\n1,2"} {
		f.Add(s, uint8(5), uint8(2), false)
	}
	schema := types.NewSchema(field("a", types.T(types.Int).Null()), field("b", types.T(types.String).Null()))
	f.Fuzz(func(t *testing.T, text string, chunk, width uint8, lazy bool) {
		args := map[string]any{"path": "a.csv", "lazy_quotes": lazy, "header": len(text)%2 == 0}
		env := memEnv(map[string]string{"a.csv": text})
		csvInfo(&types.ConnArgs{Args: args}, nil, env)
		r := read{args: args, schema: schema}
		want := r.run(t, env, openCSV(1<<20))
		r.width = int(width%5) + 1
		have := r.run(t, env, openCSV(int64(chunk)+1))
		if fmt.Sprint(want.err) != fmt.Sprint(have.err) {
			t.Fatalf("%v, in chunks %v", want.err, have.err)
		}
		require.Equal(t, want.rows, have.rows)
		require.Equal(t, want.pos, have.pos)
		require.Equal(t, want.errors, have.errors)
	})
}

func TestCSVDecodeDoesNotAllocatePerRow(t *testing.T) {
	schema := types.NewSchema(field("n", types.T(types.Int).Null()), field("s", types.T(types.String).Null()), field("t", types.T(types.Time)), field("f", types.T(types.Float)), field("q", types.T(types.String)))
	text := []byte("n,s,t,f,q\n" + strings.Repeat("1,abc,2026-01-31T10:00:00Z,1.5,\"x,\"\"y\"\n,,2026-01-31,0.123456789012345678,\"z\"\n", 2000))
	form := &csvFormat{csvDialect: csvDialect{delim: ',', quote: '"', header: true}, columns: schema.Fields, wanted: []int{0, 1, 2, 3, 4}}
	l, err := form.open("a.csv", text, true)
	require.NoError(t, err)
	skip, _ := l.skip()
	body := append(text[skip:], make([]byte, slack)...)[:len(text)-skip]
	d := l.decoder()
	require.Less(t, testing.AllocsPerRun(5, func() {
		var ps parts
		used, err := d.decode(body, true, &ps)
		if used != len(body) || err != nil || len(ps.list) != 1 || ps.list[0].n != 4000 {
			t.Fatal("wrong")
		}
	}), 40.0)
}

// TestCSVFastAgainstSlow: the fast path gives what the splitter gives, for columns of all kinds and any of them wanted.
func TestCSVFastAgainstSlow(t *testing.T) {
	fields := []types.Field{field("i", types.T(types.Int)), field("n", types.T(types.Int).Null()), field("s", types.T(types.String)), field("z", types.T(types.String).Null()),
		field("f", types.T(types.Float).Null()), field("t", types.Type{Kind: types.Time, Format: "ms"}), field("b", types.T(types.Bool).Null())}
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.OneOf(
			rapid.SampledFrom([]string{"1", "-7", "+3", "12345678", "123456789", "1234567890123456", "9223372036854775807", "99999999999999999999", "007", "-", "1.5", "-0.25", ".5", "1e3", "true", "", " 1", "NaN",
				"1700000000000", "x", "a longer text, which ends somewhere behind the eighth byte", "é", "\r", "\"q\"", "\"a,b\"", "\"1\n2\"", "x\"y", "\x00", "0x1"}),
			rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }))
		var text strings.Builder
		for range rapid.IntRange(0, 8).Draw(rt, "rows") {
			good := []string{"1", "2", "text", "more text", "0.5", "1700000000000", "true"}
			text.WriteString(strings.Repeat(strings.Join(good, ",")+"\n", rapid.SampledFrom([]int{0, 0, 0, 1, 5, plainRows, 300}).Draw(rt, "good rows")))
			for k := range good {
				if rapid.IntRange(0, 9).Draw(rt, "other") == 0 {
					good[k] = piece.Draw(rt, "field")
				}
			}
			if n := rapid.IntRange(0, 20).Draw(rt, "cut"); n < len(good) {
				good = append(good[:n], rapid.SliceOfN(piece, 0, 9).Draw(rt, "fields")...)
			}
			text.WriteString(strings.Join(good, ",") + rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\n\n", "\n#c\n", ",\n"}).Draw(rt, "end"))
		}
		text.WriteString(rapid.SampledFrom([]string{"", "", "1,2,c,d,0.5,5,false", "1,2", "#"}).Draw(rt, "rest"))
		form := &csvFormat{csvDialect: csvDialect{delim: ',', quote: '"', comment: []byte{0, '#'}[rapid.IntRange(0, 1).Draw(rt, "comment")]}, columns: fields}
		for i := range fields {
			if rapid.Bool().Draw(rt, "wanted") {
				form.wanted = append(form.wanted, i)
			}
		}
		l := &csvLayout{csvFormat: form, fields: len(fields), kind: -1, at: []int{0, 1, 2, 3, 4, 5, 6}}
		body := append([]byte(text.String()), ",1,\n\"padding that is no part of the text"...)[:text.Len()]
		final := rapid.Bool().Draw(rt, "final")

		var have, want parts
		d := l.decoder()
		used, err := d.decode(body, final, &have)
		require.NoError(rt, err)
		s := l.decoder().(*csvDecoder)
		p := 0
		for p < len(body) {
			if s.rows == s.room {
				s.more(body[p:], &want)
			}
			next, whole := s.blank(body, p, final)
			if !whole {
				break
			}
			if next == p {
				var why error
				if next, whole, why = s.slow(body, p, final); !whole {
					break
				}
				if why != nil {
					s.fail(why)
				}
				s.starts[s.rows] = int32(p)
				s.rows++
			}
			p = next
		}
		s.flush(&want)
		require.Equal(rt, p, used)
		require.Equal(rt, len(want.list), len(have.list))
		for i := range want.list {
			w, h := want.list[i], have.list[i]
			require.Equal(rt, w.starts, h.starts)
			require.Equal(rt, len(w.failed), len(h.failed))
			for k, f := range w.failed {
				require.Equal(rt, f.row, h.failed[k].row)
				require.Equal(rt, f.err.Error(), h.failed[k].err.Error())
			}
			for c := range w.cols {
				for r := range w.n {
					require.Equal(rt, fmt.Sprintf("%#v", w.cols[c].Value(r)), fmt.Sprintf("%#v", h.cols[c].Value(r)), "row %d of %s", r, fields[form.wanted[c]].Name)
				}
			}
		}
	})
}

// TestCSVEncodeInHope: text that is written unseen comes out as text that is looked at first, batch after batch.
func TestCSVEncodeInHope(t *testing.T) {
	schema := types.NewSchema(field("i", types.T(types.Int).Null()), field("s", types.T(types.String).Null()), field("f", types.T(types.Float)), field("z", types.T(types.String)), field("t", types.T(types.Time)))
	rapid.Check(t, func(rt *rapid.T) {
		str := rapid.OneOf(rapid.StringMatching(`[a-z ]{0,20}`), rapid.StringMatching(`[a-z ]{0,20}`), rapid.StringOfN(rapid.RuneFrom([]rune("ab,;\"\n\r\té")), 0, 12, -1))
		opts := map[string]any{"delimiter": rapid.SampledFrom([]string{",", ";", "\t"}).Draw(rt, "delimiter")}
		w := &spec.Write{Args: &types.ConnArgs{Args: opts}, Schema: schema, Env: testEnv(), Changes: rapid.Bool().Draw(rt, "changes")}
		have, err := newCSVEncoder(w)
		require.NoError(rt, err)
		want, _ := newCSVEncoder(w)
		require.True(rt, want.(*csvEncoder).hope)
		want.(*csvEncoder).hope = false
		for range rapid.IntRange(1, 40).Draw(rt, "batches") {
			var rows [][]any
			for range rapid.IntRange(0, 3).Draw(rt, "rows") {
				r := []any{rapid.Int64().Draw(rt, "i"), str.Draw(rt, "s"), rapid.Float64().Draw(rt, "f"), str.Draw(rt, "z"), rapid.Int64Range(-1e18, 9e18).Draw(rt, "t")}
				for k := range 2 {
					if rapid.IntRange(0, 5).Draw(rt, "null") == 0 {
						r[k] = nil
					}
				}
				rows = append(rows, r)
			}
			b := vec.FromRows(schema, rows)
			h, err := have.Encode(b)
			require.NoError(rt, err)
			c, err := want.Encode(b)
			require.NoError(rt, err)
			require.Equal(rt, string(c.Block), string(h.Block))
			require.Equal(rt, c.Cols[0].Strs, h.Cols[0].Strs)
		}
	})
}
