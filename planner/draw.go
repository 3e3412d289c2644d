package planner

import (
	"encoding/json"
	"fmt"
	"strings"
)

// box is an operator of a drawing; arrow leads between boxes.
type box struct {
	id    string
	stage string // the name that checkpoints and counters have for it
	group *Group
	text  string
}

// Notes gives further lines for the box of a stage in a drawing: what a running job has counted there. It may be nil.
type Notes func(stage string) []string

// lines are the text of a box, cut to what a drawing has room for, and the notes.
func (n Notes) lines(b box) []string {
	out := []string{label(b.text)}
	if n != nil {
		out = append(out, n(b.stage)...)
	}
	return out
}

type arrow struct{ from, to, text string }

// drawing flattens a parallel plan into boxes by group and arrows.
func (p *Physical) drawing() (boxes []box, arrows []arrow) {
	names := nameAll(p)
	heads := map[*Group]string{}
	type exit struct {
		edge *Edge
		from string
	}
	var exits []exit
	var walk func(g *Group, from string, ports [][]Link)
	walk = func(g *Group, from string, ports [][]Link) {
		for i, links := range ports {
			name := ""
			if i > 0 {
				name = fmt.Sprintf("port %d", i)
			}
			for _, l := range links {
				if l.Edge != nil {
					exits = append(exits, exit{l.Edge, from})
					continue
				}
				id := fmt.Sprintf("n%d", len(boxes)+1)
				boxes = append(boxes, box{id, names.ops[l.Op], g, l.Op.String()})
				if from == "" {
					heads[g] = id
				} else {
					arrows = append(arrows, arrow{from, id, name})
				}
				walk(g, id, l.Op.Ports)
			}
		}
	}
	for _, g := range p.Groups {
		from := ""
		if g.Scan != nil {
			from = fmt.Sprintf("n%d", len(boxes)+1)
			boxes = append(boxes, box{from, names.groups[g], g, g.Scan.String()})
		}
		walk(g, from, g.Ports)
	}
	for _, x := range exits {
		arrows = append(arrows, arrow{x.from, heads[x.edge.To], x.edge.String()})
	}
	return boxes, arrows
}

// Dot prints the parallel plan for Graphviz.
func (p *Physical) Dot(notes Notes) string {
	boxes, arrows := p.drawing()
	var s strings.Builder
	s.WriteString("digraph plan {\n  rankdir=LR;\n  node [shape=box];\n")
	for _, g := range p.Groups {
		fmt.Fprintf(&s, "  subgraph cluster_%d {\n    label=%q;\n", g.ID, fmt.Sprintf("group %d × %d", g.ID, g.Width))
		for _, b := range boxes {
			if b.group == g {
				fmt.Fprintf(&s, "    %s [label=%q];\n", b.id, strings.Join(notes.lines(b), "\n"))
			}
		}
		s.WriteString("  }\n")
	}
	for _, a := range arrows {
		fmt.Fprintf(&s, "  %s -> %s", a.from, a.to)
		if a.text != "" {
			fmt.Fprintf(&s, " [label=%q]", a.text)
		}
		s.WriteString(";\n")
	}
	s.WriteString("}\n")
	return s.String()
}

// Mermaid prints the parallel plan as a Mermaid flowchart.
func (p *Physical) Mermaid() string {
	quote := strings.NewReplacer(`"`, "#quot;", "\n", " ", "<", "#lt;", ">", "#gt;")
	boxes, arrows := p.drawing()
	var s strings.Builder
	s.WriteString("flowchart LR\n")
	for _, g := range p.Groups {
		fmt.Fprintf(&s, "  subgraph g%d[\"group %d × %d\"]\n", g.ID, g.ID, g.Width)
		for _, b := range boxes {
			if b.group == g {
				fmt.Fprintf(&s, "    %s[\"%s\"]\n", b.id, quote.Replace(label(b.text)))
			}
		}
		s.WriteString("  end\n")
	}
	for _, a := range arrows {
		if a.text == "" {
			fmt.Fprintf(&s, "  %s --> %s\n", a.from, a.to)
		} else {
			fmt.Fprintf(&s, "  %s -- \"%s\" --> %s\n", a.from, quote.Replace(a.text), a.to)
		}
	}
	return s.String()
}

// JSON prints both plans for programs.
func (p *Physical) JSON() (string, error) {
	type node struct {
		ID     int      `json:"id"`
		Kind   string   `json:"kind"`
		Text   string   `json:"text"`
		Inputs []string `json:"inputs"`
		Schema string   `json:"schema,omitempty"`
		State  string   `json:"state,omitempty"`
		Bound  string   `json:"bounded_by,omitempty"`
	}
	type operator struct {
		ID    string `json:"id"`
		Group int    `json:"group"`
		Text  string `json:"text"`
	}
	type group struct {
		ID          int `json:"id"`
		Parallelism int `json:"parallelism"`
	}
	type edge struct {
		From  string `json:"from"`
		To    string `json:"to"`
		Label string `json:"label,omitempty"`
	}
	type exchange struct {
		From    int      `json:"from_group"`
		To      int      `json:"to_group"`
		Kind    string   `json:"kind"`
		Keys    []string `json:"keys,omitempty"`
		InOrder bool     `json:"in_order"`
	}
	out := struct {
		Logical   []node     `json:"logical"`
		Groups    []group    `json:"groups"`
		Operators []operator `json:"operators"`
		Edges     []edge     `json:"edges"`
		Exchanges []exchange `json:"exchanges"`
		Notes     []string   `json:"notes"`
	}{Edges: []edge{}, Exchanges: []exchange{}, Notes: p.Logical.Notes}
	kinds := [...]string{"scan", "rows", "apply", "union", "write"}
	for _, n := range p.Logical.Nodes {
		x := node{ID: n.ID, Kind: kinds[n.Kind], Text: n.String(), Inputs: []string{}, State: n.Traits.State, Bound: n.Traits.Bound}
		for _, in := range n.In {
			t := fmt.Sprint(in.Node.ID)
			if in.Port > 0 {
				t += "." + portName(in)
			}
			x.Inputs = append(x.Inputs, t)
		}
		if n.Kind != Write {
			x.Schema = n.Out.Schema.String()
		}
		out.Logical = append(out.Logical, x)
	}
	for _, g := range p.Groups {
		out.Groups = append(out.Groups, group{g.ID, g.Width})
	}
	boxes, arrows := p.drawing()
	for _, b := range boxes {
		out.Operators = append(out.Operators, operator{b.id, b.group.ID, b.text})
	}
	for _, a := range arrows {
		out.Edges = append(out.Edges, edge{a.from, a.to, a.text})
	}
	for _, e := range p.Edges {
		out.Exchanges = append(out.Exchanges, exchange{e.From.ID, e.To.ID, e.Spread.String(), e.KeyNames, e.InOrder})
	}
	if out.Notes == nil {
		out.Notes = []string{}
	}
	var s strings.Builder
	enc := json.NewEncoder(&s)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(out)
	return s.String(), err
}
