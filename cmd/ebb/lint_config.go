package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// configure gives each file the choices of its configuration and of the command line, which win.
func (g *gathered) configure(l *linting) error {
	configs := map[string]*foundConfig{}
	for _, f := range g.files {
		dir := "."
		if f.name != stdinName {
			dir = filepath.Dir(f.name)
		}
		c, err := nearestConfig(dir, configs)
		if err != nil {
			return err
		}
		limit := syntax.SevError
		var choice lint.Choice
		if c != nil {
			for _, w := range c.wrong {
				g.wrong = append(g.wrong, w)
			}
			c.wrong = nil
			choice = c.For(c.relative(f.name))
			if c.FailOn != nil {
				limit = *c.FailOn
			}
		}
		if len(l.choice.Select) > 0 {
			choice.Select = l.choice.Select
		}
		choice.ExtendSelect = slices.Concat(choice.ExtendSelect, l.choice.ExtendSelect)
		choice.Ignore = slices.Concat(choice.Ignore, l.choice.Ignore)
		if l.failOn != "" {
			limit, _ = lint.ParseSeverity(l.failOn)
		}
		f.choose(choice)
		g.limits[f.name] = limit
	}
	return nil
}

// fails reports whether a finding makes the run fail.
func (g *gathered) fails(f lint.Finding) bool { return atLeast(f.Severity, g.limits[f.Source.Name]) }

// foundConfig is a configuration and where it lies.
type foundConfig struct {
	lint.Config
	dir   string // absolute
	wrong []*lint.ConfigError
}

// relative is the name of a file from the folder of the configuration on.
func (c *foundConfig) relative(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(c.dir, abs)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// nearestConfig finds the configuration of a folder: its own, or that of the nearest one above. known holds what was found
// for other folders. nil: there is none.
func nearestConfig(dir string, known map[string]*foundConfig) (*foundConfig, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c, ok := known[dir]
	if ok {
		return c, nil
	}
	path := filepath.Join(dir, lint.ConfigName)
	name := path
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil {
			name = rel
		}
	}
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		c = &foundConfig{dir: dir}
		c.Config, c.wrong = lint.ReadConfig(name, text)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		c = &foundConfig{dir: dir, wrong: []*lint.ConfigError{{File: name, Message: "cannot read it: " + reason(err).Error()}}}
	case filepath.Dir(dir) != dir:
		if c, err = nearestConfig(filepath.Dir(dir), known); err != nil {
			return nil, err
		}
	}
	known[dir] = c
	return c, nil
}
