package check

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// load reads the files that a script uses, directly or not. The main file comes first in c.order.
func (c *checker) load(script *syntax.Script) *unit {
	main := c.enter(script)
	var chain []*unit
	var walk func(f *unit)
	walk = func(f *unit) {
		chain = append(chain, f)
		for _, s := range f.script.Stmts {
			u, ok := s.(*syntax.Use)
			if !ok {
				continue
			}
			used, fresh := c.use(f, u)
			if used == nil {
				continue
			}
			f.uses = append(f.uses, used)
			f.by[u] = used
			if fresh {
				walk(used)
				continue
			}
			for i, g := range chain {
				if g == used {
					path := ""
					for _, h := range chain[i:] {
						path += h.src.Name + " → "
					}
					c.report(f.src, u.PathAt, "U502", "files use each other in a circle: "+path+used.src.Name, "move what both need into a third file")
				}
			}
		}
		chain = chain[:len(chain)-1]
	}
	walk(main)
	for _, f := range c.order {
		f.see(f)
	}
	return main
}

func (f *unit) see(used *unit) {
	if f.sees[used] {
		return
	}
	f.sees[used] = true
	for _, g := range used.uses {
		f.see(g)
	}
}

// enter adds a text.
func (c *checker) enter(script *syntax.Script) *unit {
	whole := *script
	whole.Stmts = slices.DeleteFunc(slices.Clone(script.Stmts), func(s syntax.Stmt) bool { return s == nil })
	f := &unit{src: script.Source, script: &whole, rank: len(c.order), sees: map[*unit]bool{}, by: map[*syntax.Use]*unit{}, consts: map[string]*types.Expr{}, fns: map[string]*fn{}}
	c.order = append(c.order, f)
	c.files[filepath.Clean(f.src.Name)] = f
	return f
}

// use opens the file of a `use`, unless it is known: then fresh is false. It gives nil after an error.
func (c *checker) use(f *unit, u *syntax.Use) (used *unit, fresh bool) {
	if u.Path == "" {
		c.report(f.src, u.PathAt, "U501", "`use` needs the path of a file", "")
		return nil, false
	}
	path := u.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir(), path)
	}
	path = filepath.Clean(path)
	if known := c.files[path]; known != nil {
		return known, false
	}
	text, err := c.env.ReadScript(path)
	if err != nil {
		help := "the path is relative to the file that names it"
		if filepath.Ext(path) == "" {
			help += "; the suffix `.ebb` is written"
		}
		c.report(f.src, u.PathAt, "U501", fmt.Sprintf("cannot read `%s`: %s", path, reason(err)), help)
		return nil, false
	}
	script, diags := syntax.Parse(path, text)
	for _, d := range diags {
		c.diags.add(Diagnostic{Diagnostic: d, Source: script.Source, Notes: []Note{{Source: f.src, Span: u.PathAt, Text: "the file is used here"}}})
	}
	return c.enter(script), true
}
