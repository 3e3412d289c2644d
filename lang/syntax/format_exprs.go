package syntax

// This file finds the groups inside of expressions: brackets, and operators by how tightly they bind.

// brackets finds the groups of the brackets of a range.
func (f *formatter) brackets(from, to int) []*group {
	var kids []*group
	for i := from; i < to; i++ {
		if f.tokens[i].Kind == KindOpen {
			kids = append(kids, f.list(i))
			i = f.match[i]
		}
	}
	return kids
}

// list makes the group of a bracket, which is broken at each element.
func (f *formatter) list(open int) *group {
	end := f.match[open]
	g := f.newGroup(groupList, open, end+1)
	g.soft = true
	from := open + 1
	for i := from; i <= end; i++ {
		switch t := f.tokens[i]; {
		case t.Kind == KindOpen:
			i = f.match[i]
		case i == end || t.Kind == KindComma:
			if i < end && i+1 < end {
				g.soft = false
			}
			if from < i {
				if f.level[from] != levelWord {
					g.points = append(g.points, from)
				}
				kids := f.element(from, i)
				if f.tokens[open].Text == "[" && f.isRow(from, i) {
					kids[0].row, g.soft = true, false
				}
				g.kids = append(g.kids, kids...)
			}
			from = i + 1
		}
	}
	g.points = append(g.points, end)
	return g
}

// isRow reports whether an element of a list is a record: a row of a table, which stays in one line if it can.
func (f *formatter) isRow(from, to int) bool {
	return f.tokens[from].Text == "{" && f.match[from] == to-1 && !f.padded[from] && from+1 < to-1
}

// element finds the groups of an element: `EXPR`, `NAME: EXPR` or a field of a schema.
func (f *formatter) element(from, to int) []*group {
	if from+1 < to && f.tokens[from].Kind != KindOpen && f.tokens[from+1].Text == ":" && f.level[from+1] == levelNone {
		from += 2
	}
	return f.operators(from, to)
}

// operators finds the groups of an expression.
func (f *formatter) operators(from, to int) []*group {
	var marks []int
	choices := 0
	for i := from; i < to; i++ {
		t := f.tokens[i]
		switch {
		case t.Kind == KindOpen:
			marks = append(marks, i)
			i = f.match[i]
		case f.level[i] == levelChoice && t.Text == "?" && f.tokens[i+1].Text == ":": // `a ?: b`
			i++
		case f.level[i] == levelChoice && t.Text == "?":
			choices++
			marks = append(marks, i)
		case f.level[i] != levelNone && f.level[i] != levelWord:
			marks = append(marks, i)
		}
	}
	if choices > 1 {
		for _, i := range marks {
			if f.level[i] == levelChoice && f.tokens[i].Text == ":" {
				f.level[i] = levelElse
			}
		}
	}
	return f.split(from, to, marks)
}

// split makes a group of the loosest operators among the marks of a range, and groups of what is between them.
func (f *formatter) split(from, to int, marks []int) []*group {
	loosest := levelNone
	for _, i := range marks {
		if l := f.level[i]; l != levelNone && (loosest == levelNone || l < loosest) {
			loosest = l
		}
	}
	if loosest == levelNone {
		var kids []*group
		for _, i := range marks {
			kids = append(kids, f.list(i))
		}
		return kids
	}
	g := f.newGroup(groupOps, from, to)
	switch loosest {
	case levelElse:
		g.kind = groupElse
	case levelNext:
		g.kind = groupNext
	}
	first := 0
	for k := 0; k <= len(marks); k++ {
		end := to
		if k < len(marks) {
			if f.level[marks[k]] != loosest {
				continue
			}
			end = marks[k]
			if g.kind == groupNext {
				g.points = append(g.points, end+1)
			} else {
				g.points = append(g.points, end)
			}
		}
		g.kids = append(g.kids, f.split(from, end, marks[first:k])...)
		first, from = k+1, end+1
	}
	return []*group{g}
}
