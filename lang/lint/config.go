package lint

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// ConfigName is the name of the file with the project's choices. The nearest one counts, from the folder of a script upwards.
const ConfigName = "ebb.toml"

// Config is what such a file says.
type Config struct {
	Choice  Choice
	FailOn  *syntax.Severity // nil: not said
	PerFile []PerFile
}

// PerFile ignores codes in the files that a pattern fits.
type PerFile struct {
	Pattern string
	Codes   []string
	match   *regexp.Regexp
}

// ConfigError is a mistake in the configuration.
type ConfigError struct {
	File         string
	Line, Column int // from 1; 0: of the whole file
	Message      string
}

func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

type configFile struct {
	Lint struct {
		Select         []string            `toml:"select"`
		ExtendSelect   []string            `toml:"extend-select"`
		Ignore         []string            `toml:"ignore"`
		FailOn         string              `toml:"fail-on"`
		PerFileIgnores map[string][]string `toml:"per-file-ignores"`
	} `toml:"lint"`
}

// configTakes says what the keys take.
var configTakes = map[string]string{
	"lint": "is a table: `[lint]`", "select": listOfCodes, "extend-select": listOfCodes, "ignore": listOfCodes,
	"fail-on": "takes a severity: \"error\", \"warn\" or \"info\"", "per-file-ignores": "is a table of patterns, each with a list of codes: `\"drafts/**\" = [\"N\"]`",
}

const listOfCodes = "takes a list of codes: [\"N\", \"W406\"]"

// ReadConfig reads a configuration. What is right in it counts also if something else is wrong.
func ReadConfig(name string, text []byte) (c Config, wrong []*ConfigError) {
	var f configFile
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	d := toml.NewDecoder(bytes.NewReader(text))
	err := d.DisallowUnknownFields().Decode(&f)
	report := func(line, column int, format string, args ...any) {
		wrong = append(wrong, &ConfigError{name, line, column, fmt.Sprintf(format, args...)})
	}
	var strict *toml.StrictMissingError
	var broken *toml.DecodeError
	mistake := func() {
		line, column := broken.Position()
		message := strings.TrimPrefix(broken.Error(), "toml: ")
		if takes, ok := wanted(broken.Key()); ok && strings.HasPrefix(message, "cannot ") { // it speaks of our types
			message = fmt.Sprintf("`%s` %s", strings.Join(broken.Key(), "."), takes)
		}
		report(line, column, "%s", message)
	}
	switch {
	case errors.As(err, &strict):
		for _, e := range strict.Errors {
			line, column := e.Position()
			key := e.Key()
			report(line, column, "unknown key `%s`%s", strings.Join(key, "."), suggestion(key[len(key)-1], slices.Sorted(maps.Keys(configTakes))))
		}
		d := toml.NewDecoder(bytes.NewReader(text))
		f = configFile{}
		if err := d.Decode(&f); errors.As(err, &broken) {
			mistake()
		}
	case errors.As(err, &broken):
		mistake()
	case err != nil:
		report(0, 0, "%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	codes := func(key string, list []string) (good []string) {
		for _, x := range list {
			if err := CheckPrefix(x); err != nil {
				line, column := placeOf(text, key, x)
				report(line, column, "%v", err)
				continue
			}
			good = append(good, x)
		}
		return good
	}
	c.Choice = Choice{Select: codes("select", f.Lint.Select), ExtendSelect: codes("extend-select", f.Lint.ExtendSelect), Ignore: codes("ignore", f.Lint.Ignore)}
	if f.Lint.FailOn != "" {
		s, err := ParseSeverity(f.Lint.FailOn)
		if err != nil {
			line, column := placeOf(text, "fail-on", f.Lint.FailOn)
			report(line, column, "fail-on: %v", err)
		} else {
			c.FailOn = &s
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(f.Lint.PerFileIgnores)) {
		c.PerFile = append(c.PerFile, PerFile{pattern, codes(pattern, f.Lint.PerFileIgnores[pattern]), patternOf(pattern)})
	}
	slices.SortStableFunc(wrong, func(a, b *ConfigError) int { return a.Line - b.Line })
	return c, wrong
}

// wanted says what a key takes.
func wanted(key []string) (string, bool) {
	if len(key) > 2 && key[1] == "per-file-ignores" {
		return listOfCodes, true
	}
	if len(key) == 0 {
		return "", false
	}
	takes, ok := configTakes[key[len(key)-1]]
	return takes, ok
}

// placeOf finds where a value of a key stands.
func placeOf(text []byte, key, value string) (line, column int) {
	from := 0
	if at := regexp.MustCompile(`(?m)(?:^|[\s{,."'])` + regexp.QuoteMeta(key) + `["']?\s*=`).FindIndex(text); at != nil {
		from = at[1]
	}
	for _, quote := range []string{`"`, `'`} {
		if i := bytes.Index(text[from:], []byte(quote+value+quote)); i >= 0 {
			at := (&syntax.Source{Text: string(text)}).Pos(from + i)
			return at.Line, at.Column
		}
	}
	return 0, 0
}

// For is the choice for a file; its name is relative to the folder of the configuration, with slashes.
func (c Config) For(name string) Choice {
	choice := c.Choice
	for _, p := range c.PerFile {
		if p.match.MatchString(path.Clean(name)) {
			choice.Ignore = slices.Concat(choice.Ignore, p.Codes)
		}
	}
	return choice
}

// patternOf makes an expression of a pattern of names: `*` and `?` within a folder's name, `**` across folders. A pattern without
// slash is of the last part of a name or of a folder, one with a slash of the beginning.
func patternOf(pattern string) *regexp.Regexp {
	var b strings.Builder
	p := strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if strings.Contains(p, "/") {
		b.WriteString("^")
	} else {
		b.WriteString("(^|/)")
	}
	for i := 0; i < len(p); i++ {
		switch {
		case strings.HasPrefix(p[i:], "**/"):
			b.WriteString("(.*/)?")
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			b.WriteString(".*")
			i++
		case p[i] == '*':
			b.WriteString("[^/]*")
		case p[i] == '?':
			b.WriteString("[^/]")
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	b.WriteString("(/|$)")
	return regexp.MustCompile(b.String())
}

// ParseSeverity reads the name of a severity.
func ParseSeverity(s string) (syntax.Severity, error) {
	for _, x := range []syntax.Severity{syntax.SevError, syntax.SevWarn, syntax.SevInfo} {
		if s == x.String() {
			return x, nil
		}
	}
	return 0, fmt.Errorf("there is no severity %q: they are error, warn and info", s)
}
