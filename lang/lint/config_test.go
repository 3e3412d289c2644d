package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

func TestConfig(t *testing.T) {
	c, wrong := lint.ReadConfig("ebb.toml", []byte(`
[lint]
select = ["P", "L"]
extend-select = ["I6"]
ignore = ["L002"]
fail-on = "warn"

[lint.per-file-ignores]
"old/**" = ["L"]
"*_draft.ebb" = ["L001", "P"]
"docs" = ["I601"]
`))
	require.Empty(t, wrong)
	require.Equal(t, syntax.SevWarn, *c.FailOn)
	for name, want := range map[string]string{
		"a.ebb":              "P001 L001 I601",
		"old/a.ebb":          "P001 I601",
		"old/deep/a.ebb":     "P001 I601",
		"older/a.ebb":        "P001 L001 I601",
		"x/a_draft.ebb":      "I601",
		"docs/a.md":          "P001 L001",
		"pages/docs/a.md":    "P001 L001",
		"./old/../docs/a.md": "P001 L001",
	} {
		got := ""
		for _, code := range []string{"P001", "L001", "L002", "N100", "I601"} {
			if c.For(name).Takes(code) {
				got += " " + code
			}
		}
		require.Equal(t, " "+want, got, name)
	}
}

func TestConfigMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[lint]\nselct = [\"P\"]\nignore = [\"L\"]", "ebb.toml:2:1: unknown key `lint.selct`; did you mean `select`?"},
		{"[lnt]\nselect = []", "ebb.toml:1:2: unknown key `lnt`; did you mean `lint`?"},
		{"[lint]\nselect = [\"P\", \"X99\"]\n", "ebb.toml:2:16: no rule has a code that starts with \"X99\""},
		{"[lint]\nfail-on = \"warning\"\n", "ebb.toml:2:11: fail-on: there is no severity \"warning\""},
		{"[lint]\nselect = \"P\"\n", "ebb.toml:2:10: `lint.select` takes a list of codes: [\"N\", \"W406\"]"},
		{"[lint]\nignore = [1]\n", "ebb.toml:2:11: `lint.ignore` takes a list of codes"},
		{"[lint]\nfail-on = 3\n", "ebb.toml:2:11: `lint.fail-on` takes a severity: \"error\", \"warn\" or \"info\""},
		{"lint = 3\n", "ebb.toml:1:8: `lint` is a table: `[lint]`"},
		{"[[lint]]\nselect = []\n", "ebb.toml:1:3: `lint` is a table: `[lint]`"},
		{"[lint]\nper-file-ignores = []\n", "ebb.toml:2:20: `lint.per-file-ignores` is a table of patterns"},
		{"[lint.per-file-ignores]\n\"a/**\" = \"N\"\n", "ebb.toml:2:10: `lint.per-file-ignores.a/**` takes a list of codes"},
		{"[lint]\nselect = [\"P\"]\nignore = [\"P9\"]\nextend-select = [\"P9\"]\n", "ebb.toml:3:11: no rule has a code that starts with \"P9\""},
		{"\uFEFF[lint]\r\nselect = [\"X99\"]\r\n", "ebb.toml:2:11: no rule has a code"},
		{"[lint\n", "ebb.toml:1:"},
		{"[lint.per-file-ignores]\n\"a\" = [\"p\"]\n", "ebb.toml:2:8: no rule has a code that starts with \"p\"; did you mean `P`?"},
		{"\x00\xff", "ebb.toml:1:1"},
	} {
		_, wrong := lint.ReadConfig("ebb.toml", []byte(c.text))
		require.NotEmpty(t, wrong, c.text)
		require.Contains(t, wrong[0].Error(), c.want)
	}
	// What is right counts.
	c, _ := lint.ReadConfig("ebb.toml", []byte("[lint]\nselct = [\"P\"]\nignore = [\"L\"]"))
	require.Equal(t, []string{"L"}, c.Choice.Ignore)
}

func TestConfigOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"[lint]", "\n", "select", "=", "[\"P\"]", "\"*\"", "fail-on", "1", "[lint.per-file-ignores]", "\"**/?[\"", "'", "\x00", "ä"})).Draw(t, "parts")
		text := ""
		for _, p := range parts {
			text += p + " "
		}
		c, _ := lint.ReadConfig("ebb.toml", []byte(text))
		c.For("a/b.ebb")
	})
}
