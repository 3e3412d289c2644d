package check

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// decl is what a name of the script stands for, or a pipeline without a name.
type decl struct {
	kind  string // param let fn pipe source sink stream, pipeline, or broken: a statement that did not parse
	name  string
	at    syntax.Span // of the name
	file  *unit
	stmt  syntax.Stmt // nil: a stream that is there because something writes to it
	state state

	fn           *fn           // fn
	params       []types.Field // pipe: its parameters, once they are known
	needed       bool          // fn: the constants that its body names are known
	asked, sound bool          // fn: all that its body names is known
	called       bool          // pipe: a stage that was checked calls it
	flow         flow          // source, stream: its rows
	source       *Source       // source
	made         *Stream       // an implicit stream
	writers      []*decl       // an implicit stream: the statements that write it
	poison       bool          // an implicit stream: rows of an unknown kind are written to it
	sink         *types.Schema // sink: what is written to it; nil as long as nothing says so
}

// state is how far a decl is checked.
type state uint8

const (
	fresh state = iota
	running
	done
)

// flow is what is known of the rows at one point. After an error ok is false and nothing more is said about them.
type flow struct {
	node Node
	rows types.Stream
	ok   bool
}

// unit is one text of the script and what its statements may name.
type unit struct {
	src    *syntax.Source
	script *syntax.Script
	rank   int
	uses   []*unit
	by     map[*syntax.Use]*unit
	sees   map[*unit]bool // all files that it uses, directly or not, and itself
	consts map[string]*types.Expr
	fns    map[string]*fn
}

// dir is the folder of the file, "" for the working directory.
func (f *unit) dir() string {
	if d := filepath.Dir(f.src.Name); d != "." {
		return d
	}
	return ""
}

var articles = map[string]string{"param": "a param", "let": "a constant", "fn": "a function", "pipe": "a pipe", "source": "a source", "sink": "a sink",
	"stream": "a stream"}

// what says what a decl is, for messages: `a source (line 3)`.
func (d *decl) what(from *unit) string {
	if d.stmt == nil {
		return articles[d.kind]
	}
	if d.file != from {
		return fmt.Sprintf("%s (%s:%d)", articles[d.kind], d.file.src.Name, d.at.Start.Line)
	}
	return fmt.Sprintf("%s (line %d)", articles[d.kind], d.at.Start.Line)
}

// label is how a decl is called in a chain of names.
func (d *decl) label() string {
	if d.name == "" {
		return fmt.Sprintf("the pipeline of line %d", d.at.Start.Line)
	}
	return d.name
}

// collect enters the names that the statements of a file define. Only the main file has pipelines, settings and tests.
func (c *checker) collect(f *unit, main bool) {
	for _, s := range f.script.Stmts {
		d := &decl{file: f, stmt: s}
		var name syntax.Ident
		switch s := s.(type) {
		case *syntax.Param:
			d.kind, name = "param", s.Name
		case *syntax.Let:
			d.kind, name = "let", s.Name
		case *syntax.Fn:
			d.kind, name = "fn", s.Name
		case *syntax.Pipe:
			d.kind, name = "pipe", s.Name
		case *syntax.SourceStmt:
			d.kind, name = "source", s.Name
		case *syntax.SinkStmt:
			d.kind, name = "sink", s.Name
		case *syntax.Stream:
			d.kind, name = "stream", s.Name
		case *syntax.PipelineStmt:
			if main {
				d.kind, d.at = "pipeline", s.Span
				c.decls = append(c.decls, d)
			}
			continue
		default:
			continue
		}
		d.name, d.at = name.Name, name.Span
		c.define(d)
	}
	for _, name := range f.script.Broken {
		if c.names[name.Name] == nil {
			c.names[name.Name] = &decl{kind: "broken", name: name.Name, at: name.Span, file: f, state: done}
		}
	}
}

// define enters a name, unless it is taken.
func (c *checker) define(d *decl) {
	src := d.file.src
	if was := c.names[d.name]; was != nil && was.kind != "broken" {
		c.report(src, d.at, "N106", fmt.Sprintf("`%s` is defined already: %s", d.name, was.what(d.file)), "names are unique in a script and the files that it uses")
		return
	}
	_, later := laterStages[d.name]
	switch {
	case d.kind == "pipe" && (c.env.Stage(d.name) != nil || later):
		c.report(src, d.at, "N107", fmt.Sprintf("`%s` is a stage of the language and cannot be the name of a pipe", d.name), "")
	case d.kind == "fn" && (c.env.Func(d.name) != nil || c.env.Agg(d.name) != nil):
		c.report(src, d.at, "N107", fmt.Sprintf("`%s` is a function of the language and cannot be defined anew", d.name), "")
	}
	c.names[d.name] = d
	c.decls = append(c.decls, d)
}

// lookup gives what a name stands for in a file. Without a report there is an unknown name; nil then.
func (c *checker) lookup(f *unit, name string) *decl {
	if d := c.names[name]; d != nil && f.sees[d.file] {
		return d
	}
	return nil
}

// visible lists the names of some kinds that a file may use, sorted, for suggestions.
func (c *checker) visible(f *unit, kinds ...string) []string {
	var names []string
	for name, d := range c.names {
		if f.sees[d.file] && slices.Contains(kinds, d.kind) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// hidden is the remedy where a name exists, but in a file that this one does not use.
func (c *checker) hidden(f *unit, name string) string {
	if d := c.names[name]; d != nil && !f.sees[d.file] {
		return fmt.Sprintf("`%s` is defined in %s, which this file does not `use`", name, d.file.src.Name)
	}
	return ""
}

func didYouMean(word string, candidates []string) string {
	if s := syntax.Suggest(word, candidates); s != "" {
		return "; did you mean `" + s + "`?"
	}
	return ""
}

// unique gives a name that nothing else has, for what has none in the script.
func (c *checker) unique(base string) string {
	for {
		c.made[base]++
		name := base
		if n := c.made[base]; n > 1 {
			name = fmt.Sprintf("%s#%d", base, n)
		}
		if c.names[name] == nil {
			return name
		}
	}
}

// stageNames counts the stages of a stream by name, so that each has a stable name of its own.
type stageNames map[string]int

func (s stageNames) next(name string) string {
	s[name]++
	if n := s[name]; n > 1 {
		return fmt.Sprintf("%s#%d", name, n)
	}
	return name
}
