package planner

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Text prints the logical plan: a line a node, inputs first.
func (p *Plan) Text() string {
	var s strings.Builder
	for _, n := range p.Nodes {
		fmt.Fprintf(&s, "%d %s%s", n.ID, n, inputsText(n))
		if n.Kind != Write {
			fmt.Fprintf(&s, " -> %s", streamText(n.Out))
		}
		s.WriteByte('\n')
	}
	for _, note := range p.Notes {
		fmt.Fprintf(&s, "note: %s\n", note)
	}
	return s.String()
}

func inputsText(n *Node) string {
	if len(n.In) == 0 {
		return ""
	}
	parts := make([]string, len(n.In))
	for i, in := range n.In {
		parts[i] = fmt.Sprint(in.Node.ID)
		if in.Port > 0 {
			parts[i] += "." + portName(in)
		}
	}
	return " from " + strings.Join(parts, ", ")
}

func portName(in Input) string {
	n := in.Node
	switch {
	case n.Kind == Apply && in.Port == n.Late:
		return "late"
	case n.Kind == Apply && in.Port <= len(n.Traits.Ports):
		return n.Traits.Ports[in.Port-1]
	}
	return "error"
}

func streamText(s types.Stream) string {
	t := s.Schema.String()
	if s.Time {
		t += " timed"
	}
	if s.Updating {
		t += " updating"
	}
	if s.Bounded {
		t += " bounded"
	}
	return t
}

// Text prints the parallel plan: the groups of tasks, what each runs, and the edges between them.
func (p *Physical) Text() string {
	var s strings.Builder
	for _, g := range p.Groups {
		fmt.Fprintf(&s, "group %d × %d\n", g.ID, g.Width)
		if g.Scan != nil {
			fmt.Fprintf(&s, "  %s\n", g.Scan)
		}
		for _, e := range p.Edges {
			if e.To == g {
				fmt.Fprintf(&s, "  from group %d by %s\n", e.From.ID, e)
			}
		}
		writePorts(&s, g.Ports, "  ")
	}
	return s.String()
}

func writePorts(s *strings.Builder, ports [][]Link, indent string) {
	for i, links := range ports {
		for _, l := range links {
			port := ""
			if i > 0 {
				port = fmt.Sprintf("port %d: ", i)
			}
			if l.Edge != nil {
				fmt.Fprintf(s, "%s%sto group %d by %s\n", indent, port, l.Edge.To.ID, l.Edge)
				continue
			}
			fmt.Fprintf(s, "%s%s%s\n", indent, port, l.Op)
			next := indent
			if countLinks(ports) > 1 {
				next += "  "
			}
			writePorts(s, l.Op.Ports, next)
		}
	}
}

func countLinks(ports [][]Link) int {
	n := 0
	for _, l := range ports {
		n += len(l)
	}
	return n
}

// String prints an edge: `hash(auction)`, `gather in order`.
func (e *Edge) String() string {
	t := e.Spread.String()
	if e.Spread == exec.Hash {
		t += "(" + strings.Join(e.KeyNames, ", ") + ")"
	}
	if e.InOrder {
		t += " in order"
	}
	return t
}

// String prints an operator on one line, with its state and what bounds it.
func (o *Op) String() string {
	switch o.Kind {
	case EncodeOp:
		return "encode " + writeName(o.Node)
	case PartialOp:
		return "pre-" + argsText(o.Node)
	case StageOp:
		t := o.Node.String()
		if o.Merges {
			t = "merge " + argsText(o.Node)
		}
		if st := o.Node.Traits.State; st != "" {
			t += fmt.Sprintf(" [state: %s; bounded by: %s]", st, o.Node.Traits.Bound)
		}
		return t
	}
	return o.Node.String()
}

func writeName(n *Node) string {
	if n.Write.Conn == nil {
		return "print"
	}
	return n.Write.Conn.Name
}

// label is an operator's text as far as a drawing has room for it.
func label(s string) string {
	const most = 100
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}
