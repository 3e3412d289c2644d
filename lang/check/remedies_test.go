package check

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/stdlib"
)

// TestRemediesNameWhatThereIs reads every remedy that the tables hold, and every one that a case of a broken script shows,
// and looks up in the catalog what its backquotes name: stages, clauses, and what is called. A word that the script of the
// case has itself is left alone.
func TestRemediesNameWhatThereIs(t *testing.T) {
	n := 0
	for _, remedy := range tableRemedies() {
		n++
		assert.Empty(t, missing(remedy, ""), "remedy of a table: %s", remedy)
	}
	for _, pattern := range []string{"testdata/script/bad_*", "testdata/expr/*", "../syntax/testdata/bad_*", "../lint/testdata/*.txt"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, c := range strings.Split(string(text), "\n\n") {
				script, out, _ := strings.Cut(c, "\n----\n")
				if laterUse.MatchString(script) {
					continue // of a catalog that has more
				}
				for _, m := range help.FindAllStringSubmatch(out, -1) {
					n++
					assert.Empty(t, missing(m[1], script), "%s: %s\nof the case\n%s", path, m[1], script)
				}
			}
		}
	}
	require.Greater(t, n, 500)
	require.Equal(t, []string{"dedup"}, missing("write `dedup by id`", ""))
	require.Equal(t, []string{"left"}, missing("write `|> left join other`", ""))
	require.Equal(t, []string{"keep"}, missing("write `keep first`", ""))
	require.Equal(t, []string{"lag"}, missing("write `lag(x)`", ""))
}

var (
	help      = regexp.MustCompile(`(?m)^(?:help: |\d+:\d+ [A-Z]\d+ .* \| )(.*)$`)
	quoted    = regexp.MustCompile("`[^`]+`")
	firstWord = regexp.MustCompile("(?:^`|\\|> ?)([a-z_]+)\\b( ?=[^=]|\\()?")
	laterUse  = regexp.MustCompile(`\b(join|dedup|top|pattern|recent)\b`)
	called    = regexp.MustCompile(`(?:(?:pipe|fn) )?\b([A-Za-z_]+)\(`)
)

// tableRemedies are the remedies that stand in tables, with their backquotes.
func tableRemedies() []string {
	var out []string
	for _, table := range []map[string]string{otherStages, otherFunctions, laterStages, syntax.OtherWords} {
		out = slices.AppendSeq(out, maps.Values(table))
	}
	for _, method := range otherMethods {
		out = append(out, "`"+fill(method, "x")+"`")
	}
	for label, example := range clauseExample {
		if slices.Contains(takenClauses(), label) { // else it is shown for a clause that the script has
			out = append(out, "`"+example+"`")
		}
	}
	return out
}

// takenClauses are the labels that some stage takes.
func takenClauses() []string {
	lib := stdlib.New()
	out := []string{"on_error", "as", "into"} // what can fail takes the first, `unnest` the second; `into` is also a stage
	for _, name := range lib.Names("stage") {
		out = append(out, lib.Stage(name).Clauses...)
	}
	return out
}

// missing are the names that a remedy has and the catalog, and the script it is given for, have not.
func missing(remedy, script string) []string {
	lib := stdlib.New()
	var out []string
	need := func(name string, is bool) {
		if !is && !regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(script) {
			out = append(out, name)
		}
	}
	for _, code := range quoted.FindAllString(remedy, -1) {
		for _, m := range firstWord.FindAllStringSubmatch(code, -1) {
			first, _, _ := strings.Cut(m[1], " ")
			_, later := laterStages[first]
			switch {
			case m[2] != "": // a name, or what is called
			case later || slices.Contains([]string{"left", "full", "semi", "anti"}, first) && strings.Contains(code, first+" join"):
				need(first, lib.Stage(first) != nil || code == "`"+first+"`" && lib.Func(first) != nil)
			case slices.Contains(syntax.Labels, first):
				need(first, slices.Contains(takenClauses(), first))
			}
		}
		for _, m := range called.FindAllStringSubmatch(code, -1) {
			name := m[1]
			window := slices.Contains([]string{"tumbling", "hopping", "cumulate", "session", "count"}, name)
			_, ofExpr := builtin.Index[name]
			predicate := ofExpr && builtin.Builtins[builtin.Index[name]].Predicate
			known := window || predicate || name == "now" || name == "env" || name == "event_time" || strings.ToUpper(name) == name || strings.HasPrefix(m[0], "pipe ") || strings.HasPrefix(m[0], "fn ")
			need(name, known || lib.Func(name) != nil || lib.Agg(name) != nil || lib.Conn(name) != nil)
		}
	}
	return out
}
