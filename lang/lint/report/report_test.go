package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/lint/report"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// reportOf looks at a script with findings of all kinds: of several lines, with fixes, in a file that it uses.
func reportOf(t *testing.T, texts map[string]string) *report.Report {
	r := &report.Report{Version: "1.2.3"}
	env := exec.OS().ReadOnly()
	lib := stdlib.New()
	var list []lint.Text
	for name, text := range texts {
		r.Files = append(r.Files, name)
		list = append(list, lint.Text{Name: name, Text: text, Env: &planner.World{Catalog: lib, Env: env}, Facts: planner.Facts(lib, env),
			Choice: lint.Choice{Select: []string{"P", "L", "I"}}})
	}
	for _, x := range lint.Lint(list) {
		r.Found = append(r.Found, x.Found...)
	}
	return r
}

const odd = "wär, 100%: \"a\"&<b>.ebb"

var scripts = map[string]map[string]string{
	"clean": {"a.ebb": "rows([{a: 1}])\n"},
	"several": {odd: "rows([{größe: 1}]) | wher größe > 0\n" +
		"csv(\"gone.csv\") // lint:ignore\n" +
		"pipe p() = where no > 1\nrows([{a: 1}]) |> p()\nrows([{b: 1}]) |> p()\n" +
		"let a = \"\x01\" let b = (1 +\n"},
	"none": {},
}

// TestFormats writes reports in every format.
func TestFormats(t *testing.T) {
	datadriven.RunTest(t, "testdata/formats.txt", func(t *testing.T, d *datadriven.TestData) string {
		f, err := report.Find(d.Cmd)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, f.Write(&b, reportOf(t, scripts[strings.TrimSpace(d.Input)])))
		return b.String()
	})
	_, err := report.Find("jsn")
	require.EqualError(t, err, "no output is called \"jsn\": there are concise, github, json, junit, sarif, text; did you mean `json`?")
}

// TestSarif validates logs against the schema of the standard, and looks at what code scanning asks of them.
func TestSarif(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("sarif.json", doc))
	schema, err := c.Compile("sarif.json")
	require.NoError(t, err)
	f, err := report.Find("sarif")
	require.NoError(t, err)
	for name, texts := range scripts {
		var b bytes.Buffer
		r := reportOf(t, texts)
		require.NoError(t, f.Write(&b, r))
		log, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(log), name)

		var got struct {
			Runs []struct {
				Tool struct {
					Driver struct {
						Rules []struct{ ID string }
					}
				}
				Results []struct {
					RuleID              string
					RuleIndex           int
					PartialFingerprints map[string]string
					Locations           []struct {
						PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(b.Bytes(), &got))
		rules := got.Runs[0].Tool.Driver.Rules
		require.Len(t, rules, len(lint.Codes()), "all rules are listed, also in a clean run")
		prints := map[string]bool{}
		require.Len(t, got.Runs[0].Results, len(r.Found))
		for _, x := range got.Runs[0].Results {
			require.Equal(t, x.RuleID, rules[x.RuleIndex].ID)
			p := x.PartialFingerprints["primaryLocationLineHash"]
			require.False(t, prints[p], "each finding has a fingerprint of its own")
			prints[p] = true
			require.NotContains(t, x.Locations[0].PhysicalLocation.ArtifactLocation.URI, " ")
		}
	}
	// A log that is wrong is found to be so.
	bad, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"version": "2.1.0", "runs": [{"tool": {}}]}`))
	require.Error(t, schema.Validate(bad))
}

// TestFingerprints: lines that are put in front do not change them.
func TestFingerprints(t *testing.T) {
	f, err := report.Find("sarif")
	require.NoError(t, err)
	prints := func(text string) (list []string) {
		var b bytes.Buffer
		require.NoError(t, f.Write(&b, reportOf(t, map[string]string{"a.ebb": text})))
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "primaryLocationLineHash") {
				list = append(list, strings.TrimSpace(line))
			}
		}
		return list
	}
	text := "csv(\"gone.csv\") // lint:ignore\ncsv(\"gone.csv\") // lint:ignore\n"
	require.Len(t, prints(text), 4)
	require.Equal(t, prints(text), prints("let _x = 1\n\n"+strings.ReplaceAll(text, " //", "   //")))
}

// TestSarifPlaces: a relative name counts from the folder that is scanned, an absolute one for itself.
func TestSarifPlaces(t *testing.T) {
	f, err := report.Find("sarif")
	require.NoError(t, err)
	for name, want := range map[string]string{
		"a b.ebb":        `{"uri":"a%20b.ebb","uriBaseId":"%SRCROOT%"}`,
		"../a.ebb":       `{"uri":"../a.ebb","uriBaseId":"%SRCROOT%"}`,
		"/tmp/a b/ä.ebb": `{"uri":"file:///tmp/a%20b/%C3%A4.ebb"}`,
	} {
		var b bytes.Buffer
		require.NoError(t, f.Write(&b, reportOf(t, map[string]string{name: "rows([{a: 1}])\n"})))
		var log struct {
			Runs []struct {
				Artifacts []struct{ Location json.RawMessage }
			}
		}
		require.NoError(t, json.Unmarshal(b.Bytes(), &log))
		require.JSONEq(t, want, string(log.Runs[0].Artifacts[0].Location))
	}
}

// TestWellFormed parses what programs will parse.
func TestWellFormed(t *testing.T) {
	for name, texts := range scripts {
		r := reportOf(t, texts)
		var b bytes.Buffer
		f, _ := report.Find("json")
		require.NoError(t, f.Write(&b, r))
		var list []map[string]any
		require.NoError(t, json.Unmarshal(b.Bytes(), &list), name)
		require.Len(t, list, len(r.Found))
		b.Reset()
		f, _ = report.Find("junit")
		require.NoError(t, f.Write(&b, r))
		var any struct{}
		require.NoError(t, xml.Unmarshal(b.Bytes(), &any), name)
	}
}
