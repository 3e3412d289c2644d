package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// editor is the other end of the protocol: a client of the real binary.
type editor struct {
	*process
	t     *testing.T
	conn  *jsonrpc2.Conn
	in    io.WriteCloser
	found chan published
	asked chan string // what the server asks the editor
	texts map[string]string
}

type (
	object    = map[string]any
	published struct {
		URI         string
		Version     int
		Diagnostics []foundDiagnostic
	}
	foundDiagnostic struct {
		Range    struct{ Start, End struct{ Line, Character int } }
		Severity int
		Code     string
		Message  string
		Tags     []int
	}
	foundEdit struct {
		Range   object
		NewText string
	}
)

type ends struct {
	io.Reader
	io.WriteCloser
}

// newEditor starts `ebb lsp` in a folder with some files. more are params of `initialize`.
func newEditor(t *testing.T, files map[string]string, more ...object) *editor {
	t.Helper()
	e := &editor{process: prepare(t, "lsp", "--stdio"), t: t, found: make(chan published, 1000), asked: make(chan string, 1000), texts: map[string]string{}}
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(e.path(name)), 0o777))
		e.write(t, name, text)
	}
	out, err := e.StdinPipe()
	require.NoError(t, err)
	e.Stdout = nil
	in, err := e.StdoutPipe()
	require.NoError(t, err)
	e.in = out
	require.NoError(t, e.Start())
	go func() {
		e.Process.Wait()
		close(e.done)
	}()
	t.Cleanup(func() {
		e.Process.Kill()
		<-e.done
		if t.Failed() {
			t.Log(e.err.String())
		}
	})
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(ends{in, out}, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
			if r.Method == "textDocument/publishDiagnostics" {
				var p published
				json.Unmarshal(*r.Params, &p)
				e.found <- p
			} else if !r.Notif {
				e.asked <- r.Method
			}
			return nil, nil
		}))
	var hello struct {
		Capabilities object
		ServerInfo   struct{ Name string }
	}
	params := object{"rootUri": "file://" + e.dir, "capabilities": object{}}
	for _, m := range more {
		maps.Copy(params, m)
	}
	e.call("initialize", params, &hello)
	require.Equal(t, "ebb", hello.ServerInfo.Name)
	require.Equal(t, "utf-16", hello.Capabilities["positionEncoding"])
	e.notify("initialized", object{})
	return e
}

func (e *editor) try(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return e.conn.Call(ctx, method, params, result)
}

func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	require.NoError(e.t, e.try(method, params, result), method)
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	require.NoError(e.t, e.conn.Notify(context.Background(), method, params))
}

func (e *editor) uri(name string) string { return "file://" + e.path(name) }

func (e *editor) open(name, text string) {
	e.t.Helper()
	e.texts[name] = text
	e.notify("textDocument/didOpen", object{"textDocument": object{"uri": e.uri(name), "languageId": "ebb", "version": 1, "text": text}})
}

// change sets a text as a whole.
func (e *editor) change(name string, version int, text string) {
	e.t.Helper()
	e.texts[name] = text
	e.notify("textDocument/didChange", object{"textDocument": object{"uri": e.uri(name), "version": version}, "contentChanges": []object{{"text": text}}})
}

// place is the position behind the beginning of the first occurrence of a text; `|` in it is the place, else its start.
func (e *editor) place(name, around string) object {
	e.t.Helper()
	text := strings.ReplaceAll(e.texts[name], "\r\n", "\n")
	behind := max(strings.Index(around, "¦"), 0)
	at := strings.Index(text, strings.Replace(around, "¦", "", 1))
	require.GreaterOrEqual(e.t, at, 0, "%q is not in the text", around)
	before := text[:at+behind]
	line := strings.Count(before, "\n")
	return object{"line": line, "character": len(utf16.Encode([]rune(before[strings.LastIndexByte(before, '\n')+1:])))}
}

// params name a place in a document.
func (e *editor) params(name, around string) object {
	e.t.Helper()
	return object{"textDocument": object{"uri": e.uri(name)}, "position": e.place(name, around)}
}

// diagnostics waits for those of a version.
func (e *editor) diagnostics(name string, version int) published {
	e.t.Helper()
	for deadline := time.After(time.Minute); ; {
		select {
		case p := <-e.found:
			if p.URI == e.uri(name) && p.Version >= version {
				return p
			}
		case <-deadline:
			e.t.Fatalf("no diagnostics of version %d of %s", version, name)
		}
	}
}

func (p published) codes() string {
	var out []string
	for _, d := range p.Diagnostics {
		if d.Severity <= 2 {
			out = append(out, d.Code)
		}
	}
	return strings.Join(out, " ")
}

// spots are locations as `FILE:LINE:CHARACTER`, lines and characters from 0.
func (e *editor) spots(list []foundLocation) string {
	var out []string
	for _, l := range list {
		out = append(out, strings.TrimPrefix(l.URI, e.uri("")+"/")+":"+l.Range.String())
	}
	return strings.Join(out, " ")
}

type foundLocation struct {
	URI   string
	Range foundRange
}

type foundRange struct{ Start, End struct{ Line, Character int } }

func (r foundRange) String() string {
	b, _ := json.Marshal([]int{r.Start.Line, r.Start.Character})
	return strings.Trim(string(b), "[]")
}

const lspOrders = "id,customer,amount\n1,ann,5\n2,bob,7\n"

const lspScript = `// Orders of customers.
use "lib/shop.ebb"
param least: int = 3

// All orders.
source orders = csv("orders.csv")

stream big = orders
    |> where amount >= least and is_big(amount)
    |> derive twice = amount * 2
    |> derive half = twice / 4

stream per_customer = big
    |> aggregate n = count(), total = sum(twice) by customer

per_customer |> sort by total desc |> into jsonl("out.jsonl")
`

const lspShop = `fn is_big(x: int?) = x > least_big
let least_big = 2
`

func lspFiles() map[string]string {
	return map[string]string{"orders.csv": lspOrders, "main.ebb": lspScript, "lib/shop.ebb": lspShop}
}

func (e *editor) openMain() {
	e.t.Helper()
	e.open("main.ebb", lspScript)
	require.Empty(e.t, e.diagnostics("main.ebb", 1).codes())
}

func TestLSPDiagnostics(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.openMain()
	e.change("main.ebb", 2, strings.Replace(lspScript, "where amount", "where amont", 1))
	p := e.diagnostics("main.ebb", 2)
	require.Equal(t, "N150", p.codes())
	require.Contains(t, p.Diagnostics[0].Message, "did you mean `amount`?")
	require.Equal(t, 8, p.Diagnostics[0].Range.Start.Line)
	require.Equal(t, 13, p.Diagnostics[0].Range.Start.Character)
	require.Equal(t, 18, p.Diagnostics[0].Range.End.Character)

	// Of many changes in a row the last one counts, and no diagnostics are sent for each of them.
	for v := 3; v < 50; v++ {
		e.change("main.ebb", v, lspScript+strings.Repeat("\n", v))
	}
	e.change("main.ebb", 50, lspScript+"\nfoo bar\n")
	require.Equal(t, "P030", e.diagnostics("main.ebb", 50).codes())
	require.Less(t, len(e.found), 5)

	// What is deprecated is struck through.
	e.open("old.ebb", "csv(\"orders.csv\") |> select d = date(\"2026-01-31\")\n")
	p = e.diagnostics("old.ebb", 1)
	require.Equal(t, "X310", p.codes())
	require.Equal(t, []int{2}, p.Diagnostics[0].Tags)

	// An error in a file that is used shows where it is used, also when that is changed in the editor only.
	e.open("lib/shop.ebb", lspShop)
	e.change("main.ebb", 51, lspScript)
	require.Empty(t, e.diagnostics("main.ebb", 51).codes())
	e.change("lib/shop.ebb", 2, strings.Replace(lspShop, "> least_big", "> least_bog", 1))
	p = e.diagnostics("main.ebb", 51)
	require.NotEmpty(t, p.Diagnostics)
	require.Contains(t, p.Diagnostics[0].Message, "the file has an error")
	require.Equal(t, 1, p.Diagnostics[0].Range.Start.Line)

	e.notify("textDocument/didClose", object{"textDocument": object{"uri": e.uri("main.ebb")}})
	require.Empty(t, e.diagnostics("main.ebb", 51).Diagnostics)
}

// Positions count UTF-16 units, changes come in ranges, and lines end in CRLF.
func TestLSPPositions(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	text := "// 😀 größer\r\nlet face = \"😀😀\"\r\ncsv(\"orders.csv\") |> derive a = \"😀\", b = amont\r\n"
	e.open("u.ebb", text)
	p := e.diagnostics("u.ebb", 1)
	i := slices.IndexFunc(p.Diagnostics, func(d foundDiagnostic) bool { return d.Code == "N150" })
	require.GreaterOrEqual(t, i, 0, "%+v", p)
	require.Equal(t, e.place("u.ebb", "amont"), object{"line": p.Diagnostics[i].Range.Start.Line, "character": p.Diagnostics[i].Range.Start.Character})

	// `amont` becomes `amount`, then a whole line goes.
	at := e.place("u.ebb", "am¦ont")
	e.notify("textDocument/didChange", object{"textDocument": object{"uri": e.uri("u.ebb"), "version": 2}, "contentChanges": []object{
		{"range": object{"start": at, "end": object{"line": at["line"], "character": at["character"].(int) + 1}}, "text": "ou"},
		{"range": object{"start": object{"line": 1, "character": 0}, "end": object{"line": 2, "character": 0}}, "text": ""}}})
	e.texts["u.ebb"] = "// 😀 größer\r\ncsv(\"orders.csv\") |> derive a = \"😀\", b = amount\r\n"
	p = e.diagnostics("u.ebb", 2)
	require.Equal(t, "", p.codes(), "%+v", p)
	var h struct {
		Contents struct{ Value string }
		Range    foundRange
	}
	e.call("textDocument/hover", e.params("u.ebb", "am¦ount"), &h)
	require.Contains(t, h.Contents.Value, "column amount: int?")
	require.Equal(t, e.place("u.ebb", "amount"), object{"line": h.Range.Start.Line, "character": h.Range.Start.Character})

	// Places that do not exist are the nearest that do.
	e.notify("textDocument/didChange", object{"textDocument": object{"uri": e.uri("u.ebb"), "version": 3}, "contentChanges": []object{
		{"range": object{"start": object{"line": 99, "character": 7}, "end": object{"line": 3, "character": 1}}, "text": "let x = 1\r\n"}}})
	e.call("textDocument/hover", object{"textDocument": object{"uri": e.uri("u.ebb")}, "position": object{"line": 2, "character": 4}}, &h)
	require.Contains(t, h.Contents.Value, "let x = 1")
}

func TestLSPHover(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.openMain()
	for around, want := range map[string]string{
		"where a¦mount":     "column amount: int?",
		"|> agg¦regate":     "aggregate",
		"su¦m(twice)":       "add up the values",
		"is_b¦ig(":          "fn is_big(x: int?) = x > least_big",
		">= lea¦st":         "param least: int = 3",
		"source or¦ders":    "customer: string?",
		"= or¦ders\n":       "All orders.",
		"tw¦ice / 4":        "column twice: int?",
		"= c¦sv(":           "csv(",
		"total desc |> i¦n": "into",
		"b¦y customer":      "the keys of groups",
		"so¦urce orders":    "an input",
		"derive half =¦":    "",
		"amount *¦ 2":       "int?",
	} {
		var h *struct{ Contents struct{ Value string } }
		e.call("textDocument/hover", e.params("main.ebb", around), &h)
		if want == "" {
			assert.Nil(t, h, around)
			continue
		}
		if !assert.NotNil(t, h, around) {
			continue
		}
		assert.Contains(t, strings.ToLower(h.Contents.Value), strings.ToLower(want), around)
	}
}

// The codes in comments that suppress findings are explained.
func TestLSPHoverCode(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.open("c.ebb", "// lint:ignore L001,P020 to see what is shown\ncsv(\"orders.csv\")\n")
	for around, want := range map[string]string{"L0¦01": "unused-suppression", "P02¦0": "never closed"} {
		var h struct{ Contents struct{ Value string } }
		e.call("textDocument/hover", e.params("c.ebb", around), &h)
		assert.Contains(t, h.Contents.Value, want)
	}
}

func TestLSPCompletion(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.openMain()
	v := 1
	complete := func(line string) []string {
		t.Helper()
		v++
		before, after, _ := strings.Cut(line, "¦")
		e.change("main.ebb", v, strings.Replace(lspScript, "stream per_customer", before+after+"\n\nstream per_customer", 1))
		var list struct {
			Items []struct{ Label, Detail string }
		}
		e.call("textDocument/completion", e.params("main.ebb", line), &list)
		var out []string
		for _, i := range list.Items {
			out = append(out, i.Label)
		}
		return out
	}
	for line, want := range map[string]string{
		"big |> wh¦":                                 "where",
		"big |> where tw¦":                           "twice",
		"big |> where twi¦ > 3 |> limit 1":           "twice",
		"big |> drop twice |> where tw¦":             "",
		"big\n    |> select id, ha¦":                 "half",
		"big |> where lea¦":                          "least least_big",
		"big |> where is_¦":                          "is_big",
		"big |> aggregate n = coun¦":                 "count count_if",
		"big |> aggregate n = count() wind¦":         "window",
		"big |> aggregate n = count() emit f":        "final",
		"stream x = bi¦":                             "big",
		"csv(\"ord¦":                                 "orders.csv",
		"csv(\"orders.csv\", foll¦":                  "follow:",
		"big |> into json¦":                          "json jsonl",
		"stre¦":                                      "stream",
		"set checkpoint.inter¦":                      "",
		"source z = csv(\"z.csv\") sch¦":             "schema",
		"source z = csv(\"z.csv\") schema { a: flo¦": "float",
		"// big |> wh¦":                              "",
		"pipe clean() = where tw¦":                   "",
		"pipe clean() = where tw¦\nbig |> clean()":   "twice",
		"pipe clean() = dro¦\nbig |> clean()":        "drop",
		"pipe clean(n: int) = derive most = amount * n\n    |> where mos¦\n\nstream z = big |> limit 3\n    |> clean(2) |> limit 5": "most",
		"pipe clean() = |> select twice |> derive a = half¦\nbig |> clean()":                                                        "",
	} {
		if !strings.Contains(line, "¦") {
			line += "¦"
		}
		got := complete(line)
		if want == "json jsonl" {
			assert.Contains(t, got, "jsonl")
			continue
		}
		assert.Subset(t, append(got, ""), strings.Fields(want), line)
		if want == "" {
			assert.Empty(t, got, line)
		}
	}
	// Documentation comes with the item that is looked at.
	var list struct{ Items []object }
	e.change("main.ebb", 100, lspScript+"\nbig |> where upp")
	e.call("textDocument/completion", e.params("main.ebb", "where upp¦"), &list)
	require.NotEmpty(t, list.Items)
	var item struct {
		Detail        string
		Documentation struct{ Value string }
	}
	e.call("completionItem/resolve", list.Items[0], &item)
	require.Contains(t, item.Detail, "upper(")
	require.NotEmpty(t, item.Documentation.Value)

	var help struct {
		Signatures []struct {
			Label      string
			Parameters []struct{ Label string }
		}
		ActiveParameter int
	}
	e.change("main.ebb", 101, lspScript+"\nbig |> derive x = substr(customer, ")
	e.call("textDocument/signatureHelp", e.params("main.ebb", "substr(customer, ¦"), &help)
	require.Equal(t, 1, help.ActiveParameter)
	require.Contains(t, help.Signatures[0].Label, "substr(")
	require.GreaterOrEqual(t, len(help.Signatures[0].Parameters), 2)
}

func TestLSPNames(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.openMain()
	for around, want := range map[string]string{
		"= b¦ig\n":          "main.ebb:7,7",
		"= or¦ders\n":       "main.ebb:5,7",
		">= l¦east":         "main.ebb:2,6",
		"is_b¦ig(amount)":   "lib/shop.ebb:0,3",
		"tw¦ice / 4":        "main.ebb:9,14",
		"sum(tw¦ice)":       "main.ebb:9,14",
		"by to¦tal":         "main.ebb:13,30",
		"where am¦ount":     "main.ebb:5,7",
		"use \"lib¦/shop":   "lib/shop.ebb:0,0",
		"|> whe¦re amount ": "",
	} {
		var list []foundLocation
		e.call("textDocument/definition", e.params("main.ebb", around), &list)
		assert.Equal(t, want, e.spots(list), around)
	}
	var list []foundLocation
	refs := e.params("main.ebb", "derive tw¦ice")
	refs["context"] = object{"includeDeclaration": true}
	e.call("textDocument/references", refs, &list)
	require.Equal(t, "main.ebb:9,14 main.ebb:10,21 main.ebb:13,42", e.spots(list))
	refs["context"] = object{"includeDeclaration": false}
	e.call("textDocument/references", refs, &list)
	require.Equal(t, "main.ebb:10,21 main.ebb:13,42", e.spots(list))

	// From the file that defines, too, though nobody has opened those that use it.
	e.notify("textDocument/didClose", object{"textDocument": object{"uri": e.uri("main.ebb")}})
	e.open("lib/shop.ebb", lspShop)
	refs = e.params("lib/shop.ebb", "fn is_b¦ig")
	refs["context"] = object{"includeDeclaration": true}
	e.call("textDocument/references", refs, &list)
	require.Equal(t, "lib/shop.ebb:0,3 main.ebb:8,33", e.spots(list))

	var symbols []struct{ Name, Detail string }
	e.call("textDocument/documentSymbol", object{"textDocument": object{"uri": e.uri("lib/shop.ebb")}}, &symbols)
	require.Equal(t, []struct{ Name, Detail string }{{"is_big", "fn"}, {"least_big", "let"}}, symbols)
}

func TestLSPRename(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.openMain()
	rename := func(around, name string) (map[string][]foundEdit, error) {
		t.Helper()
		p := e.params("main.ebb", around)
		p["newName"] = name
		var out struct{ Changes map[string][]foundEdit }
		err := e.try("textDocument/rename", p, &out)
		return out.Changes, err
	}
	changes, err := rename("is_b¦ig(amount)", "is_huge")
	require.NoError(t, err)
	require.Len(t, changes[e.uri("main.ebb")], 1)
	require.Len(t, changes[e.uri("lib/shop.ebb")], 1)
	changes, err = rename("derive tw¦ice", "double it")
	require.NoError(t, err)
	require.Len(t, changes[e.uri("main.ebb")], 3)
	require.Equal(t, `@"double it"`, changes[e.uri("main.ebb")][0].NewText)

	for around, name := range map[string][2]string{
		"stream b¦ig":     {"orders", "taken"},
		"param l¦east":    {"amount", "taken"}, // a column of that name would hide it
		"is_b¦ig(amount)": {"upper", "function of the language"},
		"|> whe¦re":       {"filter", "word of the language"},
		"su¦m(":           {"total", "function of the language"},
		"where am¦ount":   {"price", "the input calls this column so"},
		"source or¦ders":  {"csv", "connector of the language"},
		"= b¦ig\n":        {"two words", "is no name"},
		"derive h¦alf":    {"twice", "taken"},
	} {
		_, err := rename(around, name[0])
		assert.ErrorContains(t, err, name[1], around)
	}
	var can struct{ Placeholder string }
	e.call("textDocument/prepareRename", e.params("main.ebb", "derive tw¦ice"), &can)
	require.Equal(t, "twice", can.Placeholder)
	require.Error(t, e.try("textDocument/prepareRename", e.params("main.ebb", "¦|> where"), nil))
}

func TestLSPActions(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	text := "stream a = csv(\"orders.csv\")\n    | where amont > 3\na |> into jsonl(\"a.jsonl\")\n"
	e.open("a.ebb", text)
	e.diagnostics("a.ebb", 1)
	actions := func() map[string]string {
		t.Helper()
		var list []struct {
			Title string
			Edit  struct{ Changes map[string][]foundEdit }
		}
		p := object{"textDocument": object{"uri": e.uri("a.ebb")}, "range": object{"start": object{"line": 0, "character": 0}, "end": object{"line": 9, "character": 0}}, "context": object{"diagnostics": []any{}}}
		e.call("textDocument/codeAction", p, &list)
		out := map[string]string{}
		for _, a := range list {
			for _, edit := range a.Edit.Changes[e.uri("a.ebb")] {
				out[a.Title] += edit.NewText
			}
		}
		return out
	}
	require.Equal(t, "|>", actions()["write `|>`"])
	require.Equal(t, "    |> where amont > 3\n", actions()["make all safe fixes"])
	e.change("a.ebb", 2, strings.Replace(text, "| where", "|> where", 1))
	got := actions()
	require.Len(t, got, 1)
	for _, edit := range got {
		require.Equal(t, "amount", edit)
	}
}

func TestLSPFormat(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.open("f.ebb", "let a   =  1\r\nlet b = 2\r\n")
	var edits []struct {
		Range   foundRange
		NewText string
	}
	e.call("textDocument/formatting", object{"textDocument": object{"uri": e.uri("f.ebb")}, "options": object{"tabSize": 4}}, &edits)
	require.Len(t, edits, 1)
	require.Equal(t, "let a = 1\r\n", edits[0].NewText)
	require.Equal(t, "0,0", edits[0].Range.String())
}

// Of a range only the statements that it touches get their layout, broken ones never.
func TestLSPFormatRange(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.open("f.ebb", "let a   =  1\r\n// one\r\nlet b   =  2 // two\r\nlet c   =  3\r\n let d = )\r\n")
	var edits []foundEdit
	formatted := func(from, to string) string {
		edits = nil
		e.call("textDocument/rangeFormatting", object{"textDocument": object{"uri": e.uri("f.ebb")}, "options": object{"tabSize": 4},
			"range": object{"start": e.place("f.ebb", from), "end": e.place("f.ebb", to)}}, &edits)
		var out []string
		for _, x := range edits {
			out = append(out, x.NewText)
		}
		return strings.Join(out, "|")
	}
	require.Equal(t, "let b = 2", formatted("// one", "2 // ¦two"))
	require.Equal(t, "let a = 1|let b = 2", formatted("le¦t a", "let¦ b"))
	require.Equal(t, "", formatted(" ¦let d", ")"))
}

// An editor that asks for diagnostics is sent none, and is told when it should ask again.
func TestLSPPull(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles(), object{"capabilities": object{"textDocument": object{"diagnostic": object{}}, "workspace": object{"diagnostics": object{"refreshSupport": true}}}})
	e.open("main.ebb", strings.Replace(lspScript, "where amount", "where amont", 1))
	var report struct {
		Kind, ResultID string
		Items          []struct{ Code string }
	}
	ask := func(previous string) {
		report.Kind, report.Items = "", nil
		e.call("textDocument/diagnostic", object{"textDocument": object{"uri": e.uri("main.ebb")}, "previousResultId": previous}, &report)
	}
	ask("")
	require.Equal(t, "full", report.Kind)
	require.Equal(t, "N150", report.Items[0].Code)
	was := report.ResultID
	ask(was)
	require.Equal(t, "unchanged", report.Kind)
	e.change("main.ebb", 2, lspScript)
	ask(was)
	require.Equal(t, "full", report.Kind)
	require.NotContains(t, report.Items, struct{ Code string }{"N150"})

	// What another document changes.
	e.open("lib/shop.ebb", "fn is_big(x: string) = x > least_big\n")
	select {
	case method := <-e.asked:
		require.Equal(t, "workspace/diagnostic/refresh", method)
	case <-time.After(time.Minute):
		t.Fatal("the editor is not told that there are other diagnostics")
	}
	ask(report.ResultID)
	require.Equal(t, "full", report.Kind)
	require.NotEmpty(t, report.Items)
	require.Empty(t, e.found)
}

// The server of an editor that was killed ends, though somebody holds the streams open.
func TestLSPParentDies(t *testing.T) {
	t.Parallel()
	parent := exec.Command("sleep", "600")
	require.NoError(t, parent.Start())
	e := newEditor(t, nil, object{"processId": parent.Process.Pid})
	select {
	case <-e.done:
		t.Fatal("the server ended though its editor lives")
	case <-time.After(3 * time.Second):
	}
	require.NoError(t, parent.Process.Kill())
	parent.Wait()
	select {
	case <-e.done:
	case <-time.After(time.Minute):
		t.Fatal("the server lives on")
	}
}

// What ebb.toml does not want is not shown.
func TestLSPConfig(t *testing.T) {
	t.Parallel()
	files := lspFiles()
	const script = "// lint:ignore T401 nothing\ncsv(\"orders.csv\") |> where amount > 1\n"
	e := newEditor(t, files)
	e.open("c.ebb", script)
	require.Equal(t, "L001", e.diagnostics("c.ebb", 1).codes())
	files["ebb.toml"] = "[lint]\nignore = [\"L\"]\n"
	e = newEditor(t, files)
	e.open("c.ebb", script)
	require.Empty(t, e.diagnostics("c.ebb", 1).codes())
}

func TestLSPSemanticTokens(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.openMain()
	var out struct{ Data []int }
	e.call("textDocument/semanticTokens/full", object{"textDocument": object{"uri": e.uri("main.ebb")}}, &out)
	kinds := []string{"keyword", "comment", "string", "number", "operator", "function", "macro", "class", "type", "parameter", "variable", "property", "enumMember"}
	lines := strings.Split(lspScript, "\n")
	line, char := 0, 0
	got := map[string]string{}
	for i := 0; i+5 <= len(out.Data); i += 5 {
		if out.Data[i] > 0 {
			line, char = line+out.Data[i], 0
		}
		char += out.Data[i+1]
		word := lines[line][char : char+out.Data[i+2]]
		if _, ok := got[word]; !ok {
			got[word] = kinds[out.Data[i+3]]
		}
	}
	for word, kind := range map[string]string{"use": "keyword", "source": "keyword", "csv": "class", "where": "macro", "amount": "property", "least": "variable",
		"is_big": "function", "sum": "function", "by": "keyword", "orders": "variable", "\"orders.csv\"": "string", "3": "number", "|>": "operator", "int": "type",
		"desc": "keyword", "and": "keyword", "// All orders.": "comment", "customer": "property"} {
		assert.Equal(t, kind, got[word], word)
	}
}

func TestLSPEnds(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.call("shutdown", nil, nil)
	require.Error(t, e.try("textDocument/hover", object{}, nil))
	e.notify("exit", nil)
	<-e.done
	e.Wait()

	// A client that dies takes its server with it.
	e = newEditor(t, lspFiles())
	e.open("main.ebb", lspScript)
	e.in.Close()
	select {
	case <-e.done:
	case <-time.After(time.Minute):
		t.Fatal("the server outlives its editor")
	}
}

// What makes no sense is answered with an error, and the talk goes on.
func TestLSPNonsense(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	require.ErrorContains(t, e.try("initialize", object{}, nil), "once")
	require.ErrorContains(t, e.try("no/such", object{}, nil), "no method")
	require.ErrorContains(t, e.try("textDocument/hover", []int{1}, nil), "cannot unmarshal")
	require.ErrorContains(t, e.try("textDocument/hover", object{"textDocument": object{"uri": "file:///nowhere.ebb"}}, nil), "not open")
	e.notify("textDocument/didChange", object{"textDocument": 5})
	e.notify("$/cancelRequest", object{"id": "x"})
	e.openMain()
	for _, p := range []object{{"line": -1, "character": -5}, {"line": 1 << 30, "character": 1 << 30}} {
		require.NoError(t, e.try("textDocument/hover", object{"textDocument": object{"uri": e.uri("main.ebb")}, "position": p}, nil))
	}
}

// An input that is no file is not read: it would wait for ever, and take away rows.
func TestLSPPipeAsInput(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	require.NoError(t, exec.Command("mkfifo", e.path("slow.csv")).Run())
	e.open("s.ebb", "csv(\"slow.csv\") |> where a > 1\n")
	p := e.diagnostics("s.ebb", 1)
	require.Len(t, p.Diagnostics, 1)
	require.Contains(t, p.Diagnostics[0].Message, "regular files only")
}

// What an input looks like is noticed when it changes.
func TestLSPInputChanges(t *testing.T) {
	t.Parallel()
	e := newEditor(t, lspFiles())
	e.open("s.ebb", "csv(\"orders.csv\") |> where price > 1\n")
	require.Equal(t, "N150", e.diagnostics("s.ebb", 1).codes())
	time.Sleep(1100 * time.Millisecond) // files are believed for a second
	e.write(t, "orders.csv", "id,price\n1,2\n")
	e.notify("workspace/didChangeWatchedFiles", object{"changes": []object{}})
	require.NotContains(t, e.diagnostics("s.ebb", 1).codes(), "N150")
}

// A long script is answered while one types (how quickly, BenchmarkTyping says), a request that is cancelled at once, and memory stays where it is.
func TestLSPLongScript(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	e := newEditor(t, lspFiles())
	var long strings.Builder
	long.WriteString(lspScript)
	for i := range 100 {
		fmt.Fprintf(&long, "\nstream s%d = orders\n    |> where amount > %d\n    |> derive x%d = amount * %d\n    |> aggregate n = count(), m = max(x%d) by customer\n\ns%d |> into jsonl(\"s%d.jsonl\")\n", i, i, i, i+2, i, i, i)
	}
	e.open("long.ebb", long.String())
	e.diagnostics("long.ebb", 1)
	var worst time.Duration
	for v := 2; v < 12; v++ {
		e.change("long.ebb", v, long.String()+fmt.Sprintf("\ns%d |> where m", v))
		start := time.Now()
		var list struct{ Items []struct{ Label string } }
		e.call("textDocument/completion", e.params("long.ebb", fmt.Sprintf("s%d |> where m¦", v)), &list)
		require.NotEmpty(t, list.Items)
		require.Equal(t, "m", list.Items[0].Label)
		worst = max(worst, time.Since(start))
	}
	t.Logf("completion in %d lines: at most %s", strings.Count(long.String(), "\n"), worst)

	// Only the newest of many versions is kept.
	before := e.memory()
	for v := 12; v < 400; v++ {
		e.change("long.ebb", v, long.String()+strings.Repeat("\n", v))
	}
	e.diagnostics("long.ebb", 399)
	require.Less(t, e.memory(), before+300<<20)

	id := jsonrpc2.ID{Str: "slow", IsString: true}
	e.change("long.ebb", 400, strings.Repeat(long.String(), 4))
	call, err := e.conn.DispatchCall(context.Background(), "textDocument/references", e.params("long.ebb", "source or¦ders"), jsonrpc2.PickID(id))
	require.NoError(t, err)
	e.notify("$/cancelRequest", object{"id": "slow"})
	start := time.Now()
	err = call.Wait(context.Background(), nil)
	require.Less(t, time.Since(start), 20*time.Second)
	require.ErrorContains(t, err, "cancelled")
}

// memory is what the server takes, in bytes.
func (e *editor) memory() int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", e.Process.Pid))
	if err != nil {
		return 0
	}
	var total, resident int
	fmt.Sscan(string(b), &total, &resident)
	return resident * os.Getpagesize()
}
