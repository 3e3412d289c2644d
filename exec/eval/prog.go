package eval

import (
	"fmt"
	"maps"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Prog is one or several expressions, compiled. It keeps buffers between calls, so it belongs to one task.
type Prog struct {
	roots []*node
	run   run
}

// Compile compiles an expression. It returns an error where the tree asks for something that does not exist: a function
// without a kernel, an operator on types it does not take, a constant pattern that is wrong.
func Compile(e *types.Expr, lib Lib) (*Prog, error) { return CompileAll([]*types.Expr{e}, lib) }

// CompileAll compiles expressions that are evaluated over the same rows: what is common to them is computed once.
func CompileAll(es []*types.Expr, lib Lib) (*Prog, error) {
	folded := make([]*types.Expr, len(es))
	for i, e := range es {
		folded[i] = Fold(e, lib, MostFolded)
	}
	return compile(folded, lib)
}

func compile(es []*types.Expr, lib Lib) (*Prog, error) {
	p := &Prog{}
	c := &maker{lib: lib, run: &p.run, ids: map[string]int{}, known: map[*types.Expr]int{}, seen: map[int]*node{}}
	for _, e := range es {
		n, err := c.node(e)
		if err != nil {
			return nil, err
		}
		p.roots = append(p.roots, n)
	}
	for _, n := range p.roots {
		n.uses++
		n.escape()
	}
	return p, nil
}

// Eval returns the value of the (first) expression: a column of b.N rows, of which only those in sel (nil: b's selected
// rows) are defined. It is the caller's, immutable, and may be a column of b. Rows that fail are noted in x and have an
// unspecified value.
func (p *Prog) Eval(x *Ctx, b *vec.Batch, sel []uint32) *vec.Column {
	sel = p.run.begin(x, b, sel)
	c := p.run.eval(p.roots[0], sel).Column
	p.run.end()
	return c
}

// EvalAll sets out[i] to the value of the i-th expression, as Eval gives it.
func (p *Prog) EvalAll(x *Ctx, b *vec.Batch, sel []uint32, out []*vec.Column) {
	sel = p.run.begin(x, b, sel)
	for i, n := range p.roots {
		v := p.run.eval(n, sel)
		if out[i] = v.Column; v.own && p.run.lends {
			p.run.lent = append(p.run.lent, v.Column)
		}
	}
	p.run.end()
}

// Reuse tells that nobody reads the results of earlier calls of EvalAll any more: their buffers are used again. Without
// it the results belong to the caller for good.
func (p *Prog) Reuse() {
	for _, c := range p.run.lent {
		p.run.recycle(c)
	}
	clear(p.run.lent)
	p.run.lent = p.run.lent[:0]
	p.run.lends = true
}

// Filter returns the rows of sel (nil: b's selected rows) for which the (first) expression is true; false, null and
// failed rows are left out. The result is the caller's; it is never nil.
func (p *Prog) Filter(x *Ctx, b *vec.Batch, sel []uint32) []uint32 {
	sel = p.run.begin(x, b, sel)
	r := &p.run
	buf := r.sel()
	before := len(x.Fails)
	kept := r.filter(p.roots[0], sel, buf)
	out := make([]uint32, len(kept))
	copy(out, kept)
	r.freeSel(buf)
	r.end()
	if len(x.Fails) > before {
		out = x.Drop(out, len(out))
	}
	return out
}

// value is a column on its way through an evaluation. If own is set its buffers came from the pool and nobody else has
// them: who takes the value gives them back or passes them on.
type value struct {
	*vec.Column
	own bool
}

// op does the work of a node. eval defines the rows of sel (nil: all) and no others.
type op interface {
	eval(r *run, n *node, sel []uint32) value
	kids() []*node
}

// filterer is an op that finds the rows for which it is true without making a column of bools. It appends to out[:0],
// which has room for all rows and may be the array of sel, the rows of sel in their order.
type filterer interface {
	filter(r *run, n *node, sel, out []uint32) []uint32
}

// byRef is an op whose result may share the column of a kid.
type byRef interface{ refs() []*node }

// node is a step of a program.
type node struct {
	op
	typ   types.Type
	pos   types.Place
	cost  int  // rough nanoseconds a row, without the kids
	risky bool // may fail a row by itself
	fails bool // may fail a row, kids included
	uses  int
	leaks bool // the column may be part of a result

	// Of a node with several uses: its value, and the selection that it was computed for.
	col   *vec.Column
	depth int
	scope uint64
}

// cheap reports whether computing n on a row costs less than finding out whether it must be, given that the nodes of
// have are computed anyway. What may fail is never cheap. If it is, n and what it always computes are added to have.
func (n *node) cheap(have map[*node]bool) bool {
	more := map[*node]bool{}
	if !n.adds(have, more, 6) {
		return false
	}
	maps.Copy(have, more)
	return true
}

// adds collects what n computes beyond have, as long as it costs at most limit in all.
func (n *node) adds(have, more map[*node]bool, limit int) bool {
	if have[n] || more[n] {
		return true
	}
	more[n] = true
	sum := 0
	for m := range more {
		sum += m.cost
	}
	if n.risky || sum > limit {
		return false
	}
	for _, k := range n.kids() {
		if !k.adds(have, more, limit) {
			return false
		}
	}
	return true
}

// always adds n and what is computed wherever n is to have.
func (n *node) always(have map[*node]bool) {
	if have[n] {
		return
	}
	have[n] = true
	kids := n.kids()
	if p, ok := n.op.(partial); ok {
		kids = p.sure()
	}
	for _, k := range kids {
		k.always(have)
	}
}

// partial is an op that does not compute all its kids on every row; sure are those that it does.
type partial interface{ sure() []*node }

func (n *node) escape() {
	if n.leaks {
		return
	}
	n.leaks = true
	if b, ok := n.op.(byRef); ok {
		for _, k := range b.refs() {
			k.escape()
		}
	}
}

// run is the state of an evaluation.
type run struct {
	pool
	x *Ctx
	b *vec.Batch
	// Selections that are open, outermost first, by a number of their own: a shared value holds in the selection it was
	// computed for and in all that were made by narrowing it.
	scopes []uint64
	last   uint64
	shared []*vec.Column // to give back at the end
	lends  bool          // Reuse is called
	lent   []*vec.Column // results that Reuse takes back
}

func (r *run) begin(x *Ctx, b *vec.Batch, sel []uint32) []uint32 {
	r.x, r.b = x, b
	r.start(b.N)
	r.last++
	r.scopes = append(r.scopes[:0], r.last)
	if sel == nil {
		sel = b.Sel
	}
	if len(sel) == b.N && sel != nil {
		sel = nil
	}
	return sel
}

func (r *run) end() {
	for _, c := range r.shared {
		r.recycle(c)
	}
	r.shared = r.shared[:0]
	r.x, r.b = nil, nil
}

// narrow opens a selection that is a subset of the one that is open; widen closes it.
func (r *run) narrow() {
	r.last++
	r.scopes = append(r.scopes, r.last)
}

func (r *run) widen(n int) { r.scopes = r.scopes[:len(r.scopes)-n] }

// eval returns the value of n on the rows of sel.
func (r *run) eval(n *node, sel []uint32) value {
	if n.uses < 2 {
		return n.op.eval(r, n, sel)
	}
	if n.col != nil && n.depth < len(r.scopes) && r.scopes[n.depth] == n.scope {
		return value{n.col, false}
	}
	v := n.op.eval(r, n, sel)
	n.col, n.depth, n.scope = v.Column, len(r.scopes)-1, r.scopes[len(r.scopes)-1]
	if v.own && !n.leaks {
		r.shared = append(r.shared, v.Column)
	}
	return value{v.Column, false}
}

// filter appends the rows of sel for which n is true to out[:0].
func (r *run) filter(n *node, sel, out []uint32) []uint32 {
	if f, ok := n.op.(filterer); ok && n.uses < 2 {
		return f.filter(r, n, sel, out)
	}
	v := r.eval(n, sel)
	out = trueRows(v.Bools, v.Valid, sel, out)
	r.free(v)
	return out
}

func (r *run) fail(n *node, row int, err error) {
	r.x.Fails = append(r.x.Fails, Fail{row, err, n.pos})
}

func errorAt(e *types.Expr, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if e.Pos.File == "" {
		return err
	}
	return fmt.Errorf("%s: %w", e.Pos, err)
}
