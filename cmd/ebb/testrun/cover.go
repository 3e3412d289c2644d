package testrun

import (
	"fmt"
	"sort"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Coverage is what the tests of a script have seen of it.
type Coverage struct {
	File    string       `json:"file"`
	Covered int          `json:"covered"`
	Parts   []*CoverPart `json:"parts"`
}

// CoverPart is something that rows may come to.
type CoverPart struct {
	Kind   string `json:"kind"` // source, stage, arm, late, on_error
	Name   string `json:"name"` // of the source or stage
	Target string `json:"target,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Rows   int64  `json:"rows"` // that came there
	id     string
}

// countName is the connector that counts the rows of an output of a stage. No script sees it.
const countName = "counted"

// counts are the rows that were seen at each output, by outputKey.
type counts map[string]int64

func outputKey(node string, port int) string { return fmt.Sprintf("%s\x00%d", node, port) }

// conn makes the connector that counts.
func (c counts) conn() *spec.Conn {
	return &spec.Conn{
		Doc:      spec.Doc{Name: countName},
		ConnSig:  types.ConnSig{Sink: true},
		Updating: func(*types.ConnArgs) bool { return true },
		Sink: func(x *spec.Write) (exec.Sink, error) {
			return &countSink{to: c, key: x.Args.Args["key"].(string)}, nil
		},
	}
}

type countSink struct {
	nobody
	to  counts
	key string
}

// Write counts the rows.
func (s *countSink) Write(b *vec.Batch) error {
	s.to[s.key] += int64(b.Rows())
	return nil
}

// edit adds an output that counts to each output of the stages and sources of a plan.
func (c counts) edit(p *planner.Plan) {
	for _, n := range p.Nodes {
		var ports []int
		switch n.Kind {
		case planner.Write:
			continue
		case planner.Apply:
			for i := range n.Traits.Ports {
				ports = append(ports, i+1)
			}
			ports = append(ports, n.Late, n.Errors)
		case planner.Scan:
			ports = append(ports, n.Errors)
		case planner.Rows:
			if len(n.Steps) > 0 {
				ports = append(ports, n.Steps[0].Port)
			}
		}
		c.count(p, n, 0)
		for _, port := range ports {
			if port > 0 {
				c.count(p, n, port)
			}
		}
	}
}

func (c counts) count(p *planner.Plan, n *planner.Node, port int) {
	in := planner.Input{Node: n, Port: port}
	rows := in.Stream()
	args := &types.ConnArgs{Name: countName, Args: map[string]any{"key": outputKey(n.Name, port)}}
	w := &check.Write{Name: countName, Conn: args, In: rows, Schema: rows.Schema}
	p.Nodes = append(p.Nodes, &planner.Node{Kind: planner.Write, Name: countName, In: []planner.Input{in}, Out: rows, Write: w})
}

// cover runs a test once more and adds what it sees to the coverage of its script.
func (s *Script) cover(t *check.Test, c *Coverage) {
	run := newTestRun(s, t, nil)
	seen := counts{}
	var plan *planner.Plan
	run.job.lib = run.job.lib.With(seen.conn())
	run.job.edit = func(p *planner.Plan) { // one run without a storm, so order need not be known
		plan = p
		run.inputs(p)
		seen.edit(p)
	}
	func() {
		defer func() { _ = recover() }() // the run before it has told what there is to be told
		run.do()
	}()
	if plan == nil {
		return
	}
	failed := map[string]bool{}
	for _, stats := range run.job.stats {
		for _, x := range stats.Rejected.List() {
			failed[x.Stage] = true
		}
		for _, x := range stats.Behind.List() {
			failed["late "+x.Stage] = true
		}
	}
	for _, part := range c.Parts {
		switch part.Kind {
		case "source":
			part.Rows += seen[outputKey(part.id, 0)]
		case "stage":
			for _, key := range run.in[part.id] {
				part.Rows += seen[key]
			}
		default:
			n := int64(0)
			if at, ok := run.ports[part.Kind+" "+part.id+" "+part.Target]; ok {
				n = seen[at]
			}
			text := fmt.Sprintf("%s:%d:%d: %s", s.Name, part.Line, part.Column, part.Name)
			if n == 0 && (part.Kind == "on_error" && (failed[text] || failed[part.id]) || part.Kind == "late" && failed["late "+text]) {
				n = 1
			}
			part.Rows += n
		}
	}
}

// inputs notes from which outputs the rows of each stage come, and which of its outputs are what.
func (r *testRun) inputs(p *planner.Plan) {
	r.in, r.ports = map[string][]string{}, map[string]string{}
	for _, n := range p.Nodes {
		r.in[n.Name] = nil
		for _, in := range n.In {
			for in.Node.Kind == planner.Rows && in.Node.Name == "union" { // columns put in order
				in = in.Node.In[0]
			}
			r.in[n.Name] = append(r.in[n.Name], outputKey(in.Node.Name, in.Port))
		}
		port := func(kind, target string, port int) {
			if port > 0 {
				r.ports[kind+" "+n.Name+" "+target] = outputKey(n.Name, port)
			}
		}
		switch {
		case n.Kind == planner.Scan:
			port("on_error", n.Source.OnError.Target, n.Errors)
		case n.Kind == planner.Rows && len(n.Steps) > 0:
			port("on_error", n.Steps[0].OnError.Target, n.Steps[0].Port)
		case n.Kind == planner.Apply:
			for i, b := range n.Args.Branches {
				port("arm", armTarget(b, i), i+1)
			}
			port("late", n.Args.Late.Target, n.Late)
			port("on_error", n.Args.OnError.Target, n.Errors)
		}
	}
}

func armTarget(b types.Branch, i int) string {
	if b.Target != "" {
		return b.Target
	}
	return fmt.Sprintf("arm %d", i+1)
}

// coverage lists what the tests of a script could see.
func (s *Script) coverage() *Coverage {
	c := &Coverage{File: s.Name}
	add := func(kind, name, target, id string, at types.Place) {
		if at.File == s.Name {
			c.Parts = append(c.Parts, &CoverPart{Kind: kind, Name: name, Target: target, Line: at.Line, Column: at.Column, id: id})
		}
	}
	for _, x := range s.checked.Sources {
		add("source", x.Name, "", x.Name, x.Pos)
		if x.OnError.Mode == "drop" || x.OnError.Mode == "into" {
			add("on_error", x.Name, x.OnError.Target, x.Name, x.Pos)
		}
	}
	for _, st := range s.checked.Streams {
		for _, x := range st.Stages {
			a := x.Args
			if a.Name == "into" || a.Name == "tee" {
				continue // what flows into them has been seen before
			}
			add("stage", a.Name, "", a.ID, a.Pos)
			for i, b := range a.Branches {
				add("arm", a.Name, armTarget(b, i), a.ID, a.Pos)
			}
			if a.Late.Set {
				add("late", a.Name, a.Late.Target, a.ID, a.Pos)
			}
			if a.OnError.Mode == "drop" || a.OnError.Mode == "into" {
				add("on_error", a.Name, a.OnError.Target, a.ID, a.Pos)
			}
		}
	}
	sort.SliceStable(c.Parts, func(i, k int) bool {
		a, b := c.Parts[i], c.Parts[k]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	return c
}

// finish counts what was seen.
func (c *Coverage) finish() {
	for _, p := range c.Parts {
		if p.Rows > 0 {
			c.Covered++
		}
	}
}

// Text shows to people what no test has seen.
func (c *Coverage) Text() string {
	var b strings.Builder
	percent := 100
	if n := len(c.Parts); n > 0 {
		percent = 100 * c.Covered / n
	}
	fmt.Fprintf(&b, "coverage of %s: %d%% (%d of %d)\n", c.File, percent, c.Covered, len(c.Parts))
	for _, p := range c.Parts {
		if p.Rows == 0 {
			fmt.Fprintf(&b, "    %s:%d:%d: %s\n", c.File, p.Line, p.Column, p.unseen())
		}
	}
	return b.String()
}

func (p *CoverPart) unseen() string {
	switch p.Kind {
	case "source":
		return fmt.Sprintf("source %s: no test gives it rows", p.Name)
	case "arm":
		return fmt.Sprintf("%s: no row goes to %s", p.Name, p.Target)
	case "late":
		return p.Name + ": no row comes late"
	case "on_error":
		return p.Name + ": no row fails, on_error never comes into play"
	}
	return p.Name + ": no row comes here"
}
