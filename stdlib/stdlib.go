// Package stdlib gathers the definitions of functions, aggregates, stages and connectors into one Catalog. It knows no
// script and no plan.
package stdlib

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/agg"
	"github.com/ebb-lang/ebb/stdlib/conn"
	"github.com/ebb-lang/ebb/stdlib/fn"
	"github.com/ebb-lang/ebb/stdlib/op"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Catalog is all that a script can name. It is immutable and may be shared.
type Catalog struct {
	funcs  map[string]*spec.Func
	sigs   map[string][]*types.Sig
	aggs   map[string]*spec.Agg
	stages map[string]*spec.Stage
	conns  map[string]*spec.Conn
	names  map[string][]string
	fresh  map[string][]string // of names, those that are not deprecated
}

// New returns the catalog, made once.
var New = sync.OnceValue(func() *Catalog {
	c := &Catalog{funcs: map[string]*spec.Func{}, sigs: map[string][]*types.Sig{}, aggs: map[string]*spec.Agg{}, stages: map[string]*spec.Stage{},
		conns: map[string]*spec.Conn{}, names: map[string][]string{}}
	for _, f := range fn.All() {
		add(c, "func", c.funcs, f.Name, f)
		for i := range f.Overloads {
			s := &f.Overloads[i].Sig
			s.ID = i
			c.sigs[f.Name] = append(c.sigs[f.Name], s)
		}
	}
	for _, a := range agg.All() {
		a.AggSig.Name = a.Doc.Name
		add(c, "agg", c.aggs, a.Doc.Name, a)
	}
	for _, s := range op.All() {
		s.StageSig.Name = s.Doc.Name
		add(c, "stage", c.stages, s.Doc.Name, s)
	}
	for _, k := range conn.All() {
		k.ConnSig.Name = k.Doc.Name
		add(c, "conn", c.conns, k.Doc.Name, k)
	}
	for kind, docs := range words {
		for _, d := range docs {
			c.names[kind] = append(c.names[kind], d.Name)
		}
	}
	c.sort()
	return c
})

// sort puts the names in order.
func (c *Catalog) sort() {
	c.fresh = map[string][]string{}
	for kind, names := range c.names {
		sort.Strings(names)
		c.fresh[kind] = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return c.doc(kind, n).Deprecated != nil })
	}
}

// add panics on a name that stands twice: the list is part of the program.
func add[T any](c *Catalog, kind string, to map[string]T, name string, def T) {
	if _, dup := to[name]; dup {
		panic(fmt.Sprintf("stdlib: two definitions of %s %q", kind, name))
	}
	to[name] = def
	c.names[kind] = append(c.names[kind], name)
}

// Func returns the overloads of a scalar function.
func (c *Catalog) Func(name string) []*types.Sig { return c.sigs[name] }

// Agg returns the signature of an aggregate.
func (c *Catalog) Agg(name string) *types.AggSig {
	if a := c.aggs[name]; a != nil {
		return &a.AggSig
	}
	return nil
}

// Stage returns the signature of a stage.
func (c *Catalog) Stage(name string) *types.StageSig {
	if s := c.stages[name]; s != nil {
		return &s.StageSig
	}
	return nil
}

// Conn returns the signature of a connector.
func (c *Catalog) Conn(name string) *types.ConnSig {
	if k := c.conns[name]; k != nil {
		return &k.ConnSig
	}
	return nil
}

// Names returns the sorted names of "func", "agg", "stage" or "conn" that a script should use.
func (c *Catalog) Names(kind string) []string { return c.fresh[kind] }

// Deprecated says whether a definition of a kind is deprecated, or an option of a connector; nil: no.
func (c *Catalog) Deprecated(kind, name, option string) *types.Deprecated {
	d := c.doc(kind, name)
	switch {
	case d == nil:
		return nil
	case option == "":
		return d.Deprecated
	}
	for _, p := range c.conns[name].Params {
		if p.Name == option {
			return p.Deprecated
		}
	}
	return nil
}

// FuncDef, AggDef, StageDef and ConnDef return whole definitions, nil if there is none.
func (c *Catalog) FuncDef(name string) *spec.Func { return c.funcs[name] }

// AggDef returns the definition of an aggregate.
func (c *Catalog) AggDef(name string) *spec.Agg { return c.aggs[name] }

// StageDef returns the definition of a stage.
func (c *Catalog) StageDef(name string) *spec.Stage { return c.stages[name] }

// ConnDef returns the definition of a connector.
func (c *Catalog) ConnDef(name string) *spec.Conn { return c.conns[name] }

// Kernel finds the kernel of an overload: the Catalog is the eval.Lib of the engine.
func (c *Catalog) Kernel(name string, sig *types.Sig) eval.Kernel {
	f := c.funcs[name]
	if f == nil || sig.ID >= len(f.Overloads) {
		return nil
	}
	return f.Overloads[sig.ID].Kernel
}

// With returns a catalog that has further connectors: those of a program that runs scripts, such as the screen of a session.
func (c *Catalog) With(conns ...*spec.Conn) *Catalog {
	out := *c
	out.conns, out.names = maps.Clone(c.conns), maps.Clone(c.names)
	out.names["conn"] = slices.Clone(c.names["conn"])
	for _, k := range conns {
		k.ConnSig.Name = k.Doc.Name
		add(&out, "conn", out.conns, k.Doc.Name, k)
	}
	out.sort()
	return &out
}

// WithConns returns a catalog in which other definitions stand for the connectors: change gives the one that is used in
// the place of another. Its name and parameters stay.
func (c *Catalog) WithConns(change func(spec.Conn) spec.Conn) *Catalog {
	out := *c
	out.conns = map[string]*spec.Conn{}
	for name, k := range c.conns {
		x := change(*k)
		x.Doc, x.ConnSig = k.Doc, k.ConnSig
		out.conns[name] = &x
	}
	return &out
}
