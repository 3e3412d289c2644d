package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestEditors reads the snippets of docs/editors.md and the hooks as the tools do that they are for, and runs the commands
// of ebb in them on a script that is as it should be.
func TestEditors(t *testing.T) {
	page, err := os.ReadFile("../../docs/editors.md")
	require.NoError(t, err)
	snippets := map[string]string{}
	for _, b := range fence.FindAllStringSubmatch(string(page), -1) {
		snippets[b[2]] = b[3]
	}
	var commands []string

	var hooks []struct{ ID, Entry, Language, Files string }
	b, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(b, &hooks))
	known := map[string]bool{}
	for _, h := range hooks {
		require.Equal(t, "golang", h.Language)
		require.Regexp(t, h.Files, "a/b.ebb")
		known[h.ID] = true
		commands = append(commands, h.Entry+" good.ebb")
	}
	var config struct {
		Repos []struct{ Hooks []struct{ ID string } }
	}
	require.NoError(t, yaml.Unmarshal([]byte(snippets[".pre-commit-config.yaml"]), &config))
	for _, h := range config.Repos[0].Hooks {
		require.True(t, known[h.ID], h.ID)
	}

	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	require.NoError(t, yaml.Unmarshal([]byte(snippets[".github/workflows/ebb.yml"]), &workflow))
	for _, job := range workflow.Jobs {
		for _, s := range job.Steps {
			if strings.HasPrefix(s.Run, "ebb ") {
				commands = append(commands, s.Run)
			}
		}
	}
	require.GreaterOrEqual(t, len(commands), 4)

	var helix struct {
		LanguageServer map[string]struct {
			Command string
			Args    []string
		} `toml:"language-server"`
	}
	require.NoError(t, toml.Unmarshal([]byte(snippets["languages.toml"]), &helix))
	require.Equal(t, []string{"lsp"}, helix.LanguageServer["ebb"].Args)
	require.Contains(t, snippets["init.lua"], `cmd = { "ebb", "lsp" }`)

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "good.ebb"), []byte("source orders = csv(\"orders.csv\") schema { amount: int }\n\norders |> where amount > 3 |> into jsonl(\"out.jsonl\")\n"), 0o666))
	for _, c := range commands {
		cmd := exec.Command("sh", "-c", c)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+ebbDir(t)+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", c, out)
	}
}

// TestExtension looks whether the files that the extension names exist, and whether it starts what is there.
func TestExtension(t *testing.T) {
	const dir = "../../docs/editors/vscode/"
	var p struct {
		Main        string
		Contributes struct {
			Languages []struct {
				ID, Configuration string
				Extensions        []string
			}
			Grammars []struct{ Language, Path, ScopeName string }
			Commands []struct{ Command string }
		}
		Dependencies map[string]string
	}
	b, err := os.ReadFile(dir + "package.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &p))
	require.Equal(t, []string{".ebb"}, p.Contributes.Languages[0].Extensions)
	require.Equal(t, p.Contributes.Languages[0].ID, p.Contributes.Grammars[0].Language)
	require.Equal(t, "source.ebb", p.Contributes.Grammars[0].ScopeName)
	for _, f := range []string{p.Main, p.Contributes.Languages[0].Configuration, p.Contributes.Grammars[0].Path} {
		require.FileExists(t, dir+f)
	}
	code, err := os.ReadFile(dir + p.Main)
	require.NoError(t, err)
	require.Contains(t, string(code), `args: ["lsp"]`)
	require.Contains(t, string(code), p.Contributes.Commands[0].Command)
	for _, m := range regexp.MustCompile(`require\("([^"]+)"\)`).FindAllStringSubmatch(string(code), -1) {
		name, _, _ := strings.Cut(m[1], "/")
		require.True(t, name == "vscode" || p.Dependencies[name] != "", name)
	}
	var language map[string]any
	b, err = os.ReadFile(dir + p.Contributes.Languages[0].Configuration)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &language))
	if node, err := exec.LookPath("node"); err == nil {
		out, err := exec.Command(node, "--check", dir+p.Main).CombinedOutput()
		require.NoError(t, err, string(out))
	}
}
