package check

import (
	"slices"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// Options are what the command line says about a script.
type Options struct {
	Set   map[string]string // values of params, as written after `--set NAME=`
	Watch *Watch            // may be nil
}

// Text parses and checks a text; name is the path of its file, or what stands for it. The diagnostics are those of the
// parser and of Check.
func Text(name, text string, env Env, opts Options) (*Script, []Diagnostic) {
	tree, found := syntax.Parse(name, text)
	return check(tree, found, env, opts)
}

// Check gives a parsed script its meaning. It reports every error it finds, those of the main file first. With errors the
// script lacks what is wrong and what depends on it: it must not run.
func Check(script *syntax.Script, env Env, opts Options) (*Script, []Diagnostic) {
	return check(script, nil, env, opts)
}

func check(script *syntax.Script, found []syntax.Diagnostic, env Env, opts Options) (*Script, []Diagnostic) {
	c := &checker{env: env, opts: opts, out: &Script{Set: map[string]any{}}, names: map[string]*decl{}, made: map[string]int{},
		targets: map[*decl][]target{}, files: map[string]*unit{}, places: map[string]*Write{}}
	for _, d := range found {
		c.diags.add(Diagnostic{Diagnostic: d, Source: script.Source})
	}
	main := c.load(script)
	for _, f := range slices.Backward(c.order) { // so that what is defined twice is an error of the file that uses the other
		c.collect(f, f == main)
	}
	c.used(main)
	c.values()
	c.functions(main)
	c.findWriters()
	for _, s := range main.script.Stmts {
		if s, ok := s.(*syntax.Set); ok {
			c.set(main, s)
		}
	}
	for _, d := range slices.Clone(c.decls) {
		// Of the files that are used only that is checked which is reached: their inputs need not exist otherwise.
		if d.file == main && d.kind != "pipe" {
			c.resolve(d, main.src, d.at)
		}
	}
	for _, d := range c.decls {
		switch {
		case d.made != nil: // a stream that statements of other files write
			c.resolve(d, d.file.src, d.at)
		case d.kind == "pipe" && d.file == main && !d.called:
			c.resolve(d, main.src, d.at)
		}
	}
	c.wrong = slices.ContainsFunc(c.diags.list, func(d Diagnostic) bool { return d.Severity == syntax.SevError })
	for _, s := range main.script.Stmts { // their rows are of what is known by now
		if s, ok := s.(*syntax.Test); ok {
			c.test(main, s)
		}
	}
	return c.out, c.diags.sorted(func(s *syntax.Source) int {
		for _, f := range c.order {
			if f.src == s {
				return f.rank
			}
		}
		return -1
	})
}

// checker is the state of one check.
type checker struct {
	env   Env
	opts  Options
	diags diags
	quiet int // inside of quietly
	out   *Script
	exprs // of the expressions

	files map[string]*unit // by cleaned path
	order []*unit          // the main file first, then as they are used
	names map[string]*decl // of all files
	decls []*decl          // in order
	made  map[string]int   // names made up so far, and how often

	frame    *frame              // where the current stage stands
	stack    []*decl             // being resolved
	targets  map[*decl][]target  // of pipes: what their stages write to
	places   map[string]*Write   // the first output that lies there
	wrong    bool                // there are errors, those in tests aside
	pipes    map[any]types.Place // the first call that reads it
	expanded int                 // stages that pipes brought

	lostNames map[string]bool // that statements which did not parse write to
}

// frame is where a stage stands: in a statement of a file, or in the stages of a pipe that a stage of another frame calls.
type frame struct {
	file   *unit
	up     *frame
	call   *syntax.Stage // in up
	pipe   *decl
	consts map[string]*types.Expr // with the arguments of the pipe that are constants
	args   []argument             // the others
}

// argument is an expression that a pipe is given: it is checked anew in each stage that names it, against the rows there.
type argument struct {
	name  string
	pipe  *decl
	expr  *syntax.Expr
	typ   types.Type
	frame *frame // where it is written
	ok    bool   // false: it is wrong, or nothing is known of it
}

// at runs f with the frame of a statement.
func (c *checker) at(file *unit, f func()) { c.within(&frame{file: file, consts: file.consts}, f) }

// within runs f in a frame.
func (c *checker) within(fr *frame, f func()) {
	was := c.frame
	c.frame = fr
	f()
	c.frame = was
}

// place is a place for run-time errors.
func (c *checker) place(at syntax.Span) types.Place {
	return types.Place{File: c.frame.file.src.Name, Line: at.Start.Line, Column: at.Start.Column}
}

// fault reports an error in the text of the current frame.
func (c *checker) fault(at syntax.Span, code, message, help string) {
	c.report(c.frame.file.src, at, code, message, help)
}

// maxChain bounds how far streams and constants may refer to others that come later in the text.
const maxChain = 5000

// resolve checks a statement, if it is not checked yet. src and at are where it is named, for cycles.
func (c *checker) resolve(d *decl, src *syntax.Source, at syntax.Span) flow {
	switch {
	case d.state == done:
		return d.flow
	case d.state == running:
		c.cycle(d, src, at)
		return flow{}
	case len(c.stack) > maxChain:
		c.report(src, at, "N111", "too many streams are defined after those that read them", "define streams before their use")
		return flow{}
	}
	d.state = running
	c.stack = append(c.stack, d)
	c.at(d.file, func() {
		switch s := d.stmt.(type) {
		case nil:
			c.implicit(d, src, at)
		case *syntax.SourceStmt:
			c.sourceStmt(d, s)
		case *syntax.SinkStmt:
			c.sinkStmt(d, s)
		case *syntax.Stream:
			c.streamStmt(d, s)
		case *syntax.PipelineStmt:
			c.pipelineStmt(d, s)
		case *syntax.Pipe:
			c.unusedPipe(d, s)
		}
	})
	c.stack = c.stack[:len(c.stack)-1]
	d.state = done
	return d.flow
}

// cycle reports that d reads itself, and how.
func (c *checker) cycle(d *decl, src *syntax.Source, at syntax.Span) {
	i := slices.Index(c.stack, d)
	path := ""
	for _, x := range c.stack[i:] {
		path += x.label() + " → "
	}
	path += d.label()
	c.report(src, at, "N110", "streams read each other in a circle: "+path, "a stream cannot depend on its own rows, directly or through others")
}
