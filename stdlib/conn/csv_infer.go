package conn

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

// sampleRows is how many rows decide the types of a source without a schema.
const sampleRows = 1000

// csvGuess is what the first rows of a file say about its columns.
type csvGuess struct {
	path string
	rows int
	cols []csvColumn
}

// csvColumn is a column and which row made its type what it is.
type csvColumn struct {
	name string
	kind types.Kind // Null while there is no value
	row  int        // from 1
	text string     // of that row
}

// csvInfer looks at the first rows of the first file.
func csvInfer(a *types.ConnArgs, d csvDialect, env *exec.Env) (*csvGuess, error) {
	var g *csvGuess
	form := &csvFormat{csvDialect: d}
	err := firstText(a, env, csvExts, func(name string, text []byte, final bool) (bool, error) {
		if _, err := openLayout(form, name, text, final); err == errShort { // for its checks
			return false, nil
		}
		names, used, err := form.first(name, text, final)
		switch {
		case err == errShort:
			return false, nil
		case err != nil:
			return true, err
		case names == nil && !final:
			return false, nil
		case names == nil && optBool(a, "follow"):
			return true, fmt.Errorf("%s is still empty, so its columns are not known; write a schema: source … = csv(…) schema {…}", name)
		case names == nil:
			return true, fmt.Errorf("%s is empty, so its columns are not known; write a schema: source … = csv(…) schema {…}", name)
		}
		g = &csvGuess{path: name}
		for _, n := range names {
			g.cols = append(g.cols, csvColumn{name: n, kind: types.Null})
		}
		if d.header {
			if err := (&csvLayout{csvFormat: form}).byName(name, names); err != nil { // twice the same name
				return true, err
			}
		}
		return g.look(text, used, d, final), nil
	})
	if err != nil {
		return nil, err
	}
	if optBool(a, "changes") {
		found := false
		for i, c := range g.cols {
			if c.name == changeColumn || !d.header && i == 0 {
				g.cols, found = append(g.cols[:i:i], g.cols[i+1:]...), true
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("%s has no column %s, which changes: true wants", g.path, changeColumn)
		}
	}
	return g, nil
}

// look goes through the rows; false asks for more text.
func (g *csvGuess) look(text []byte, p int, d csvDialect, final bool) bool {
	s := csvSplitter{csvDialect: d}
	for g.rows < sampleRows {
		if len(g.cols) > 1 || d.comment != 0 {
			next, skipped, _ := s.blank(text, p)
			if skipped && (len(g.cols) > 1 || text[p] == d.comment) {
				p = next
				continue
			}
		}
		if p >= len(text) {
			return final
		}
		next, whole, why := s.split(text, p, final)
		if !whole {
			return false
		}
		g.rows++
		p = next
		if why != "" || len(s.spans) != len(g.cols) {
			continue // a row error when it is read
		}
		for i := range g.cols {
			field, quoted := s.text(text, i)
			v := strings.Trim(string(field), " \t")
			if v == "" || !quoted && d.null != "" && v == d.null {
				continue
			}
			if c := &g.cols[i]; c.kind != types.String {
				if k := mergeKinds(c.kind, kindOf(v)); k != c.kind {
					c.kind, c.row, c.text = k, g.rows, v
				}
			}
		}
	}
	return true
}

// mergeKinds returns the kind that holds values of both.
func mergeKinds(a, b types.Kind) types.Kind {
	switch {
	case a == b || a == types.Null:
		return b
	case a == types.Float && b == types.Int || a == types.Int && b == types.Float:
		return types.Float
	}
	return types.String
}

// kindOf returns the kind of a value as text: the first of int, float, time, bool, string that fits.
func kindOf(s string) types.Kind {
	if numeral(s) {
		if _, ok := parseInt(s); ok && !strings.ContainsAny(s, ".eE") {
			return types.Int
		}
		if _, ok := parseFloat(s); ok && strings.ContainsAny(s, ".eE") {
			return types.Float
		}
		return types.String // beyond 64 bits: an identifier
	}
	if _, ok := floatName(s); ok {
		return types.Float
	}
	if _, ok := types.ParseInstant(s); ok {
		return types.Time
	}
	if strings.EqualFold(s, "true") || strings.EqualFold(s, "false") {
		return types.Bool
	}
	return types.String
}

// numeral reports whether s is a number as people write quantities: no plus, no leading zero (which codes have).
func numeral(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || s[0] == '+' || len(s) > 1 && s[0] == '0' && s[1]-'0' <= 9 {
		return false
	}
	_, ok := types.ParseDecimal(s)
	return ok
}

// schema returns the columns, all nullable.
func (g *csvGuess) schema() types.Schema {
	var s types.Schema
	for _, c := range g.cols {
		k := c.kind
		if k == types.Null {
			k = types.String
		}
		s.Fields = append(s.Fields, types.Field{Name: c.name, Type: types.T(k).Null()})
	}
	return s
}

func (g *csvGuess) note() string {
	return fmt.Sprintf("schema inferred from %s of %s", g.sample(), g.path)
}

func (g *csvGuess) sample() string {
	if g.rows < sampleRows {
		return "the " + count(g.rows, "row")
	}
	return "the first 1,000 rows"
}

// why says which row decided the type of a column and how to write another one; nothing if nothing was guessed.
func (g *csvGuess) why(column string) string {
	if g == nil {
		return ""
	}
	for i, c := range g.cols {
		if c.name != column {
			continue
		}
		to := types.String
		if c.kind == types.Int {
			to = types.Float
		}
		if c.kind == types.Null {
			return ""
		}
		s := g.schema()
		s.Fields[i].Type = types.T(to).Null()
		if len(s.Fields) > 8 {
			s.Fields = s.Fields[i : i+1]
		}
		parts := make([]string, len(s.Fields))
		for k, f := range s.Fields {
			parts[k] = types.QuoteName(f.Name) + ": " + f.Type.String()
		}
		rest := ""
		if len(g.cols) > 8 {
			rest = ", …"
		}
		return fmt.Sprintf(". Row %d (%q) made the column %s, %s; to read other values write the types: schema {%s%s}",
			c.row, excerpt([]byte(c.text)), article(c.kind), g.from(), strings.Join(parts, ", "), rest)
	}
	return ""
}

func (g *csvGuess) from() string { return "from " + g.sample() }

func article(k types.Kind) string {
	if k == types.Int {
		return "an int"
	}
	return "a " + k.String()
}
