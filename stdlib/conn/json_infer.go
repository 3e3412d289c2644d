package conn

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
)

const (
	sampleBytes  = 16 << 20 // of text are enough, however few rows they hold
	inferredDeep = 16       // a value deeper inside is any
	inferredKids = 200      // an object with more fields has keys for names, not fields: it is any
)

// jsonShape is what the first rows say about one value. A row that is no valid object says nothing.
type jsonShape struct {
	kind  types.Kind // Null while there is no value
	row   int        // that made it so, from 1
	text  string     // the value in that row
	names []string   // of a record, in the order in which they were met
	kids  map[string]*jsonShape
	elem  *jsonShape // of a list
}

// jsonSample is what the first rows of a file say about its columns.
type jsonSample struct {
	path string
	rows int
	bad  string // what is wrong with the first row that is no object
	root jsonShape
	text jsonText
}

// jsonInfer looks at the first rows of the first file.
func jsonInfer(a *types.ConnArgs, env *exec.Env) (*jsonSample, error) {
	var g *jsonSample
	err := firstText(a, env, jsonExts, func(name string, text []byte, final bool) (bool, error) {
		g = &jsonSample{path: name, root: jsonShape{kind: types.Record}}
		enough, err := g.look(text, final)
		if len(g.root.names) > 0 && (len(text) >= sampleBytes || optBool(a, "follow")) {
			enough = true
		}
		return enough, err
	})
	if err != nil {
		return nil, err
	}
	if optBool(a, "changes") {
		if g.root.kids[changeColumn] == nil {
			return nil, fmt.Errorf("the first rows of %s have no field %s, which changes: true wants", g.path, changeColumn)
		}
		g.root.forget(changeColumn)
	}
	g.text = jsonText{}
	switch {
	case len(g.root.names) > 0:
		return g, nil
	case g.rows > 0:
		return nil, fmt.Errorf("%s has no JSON object in %s, so its columns are not known; %s", g.path, g.sample(), g.bad)
	}
	return nil, fmt.Errorf("%s is empty, so its columns are not known; write a schema: source … = jsonl(…) schema {…}", g.path)
}

// look goes through the rows; false asks for more text.
func (g *jsonSample) look(text []byte, final bool) (bool, error) {
	l, err := openLayout(&jsonFormat{}, g.path, text, final)
	if err == errShort {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	style := l.(jsonLayout).style
	var cut jsonPieces
	p := 0
	for g.rows < sampleRows {
		if p = g.text.space(text, p); p >= len(text) {
			return final, nil
		}
		end, found := 0, false
		if style == jsonLines {
			end = bytes.IndexByte(text[p:], '\n') + p
			found = end >= p
		} else {
			if style == jsonList && !cut.opened {
				cut.opened = true
				p++
				continue
			}
			end, found = cut.end(text, p, style == jsonList)
			cut = jsonPieces{opened: true}
		}
		if !found {
			if !final {
				return false, nil
			}
			end = len(text)
		}
		value := bytes.TrimRight(text[p:end], " \t\r\n")
		last := style == jsonList && (end == len(text) || text[end] == ']')
		if len(value) > 0 || !last {
			g.rows++
			g.row(value)
		}
		if last {
			return true, nil
		}
		p = end
		if style == jsonList {
			p++
		}
	}
	return true, nil
}

// row takes one row into account.
func (g *jsonSample) row(b []byte) {
	if end := g.text.skip(b, 0, 0); end != len(b) || b[0] != '{' { // a row error when it is read
		switch {
		case g.bad != "":
		case end < 0:
			g.bad = fmt.Sprintf("row %d is not valid JSON at byte %d: %s", g.rows, g.text.at+1, g.text.why)
		case end < len(b):
			g.bad = fmt.Sprintf("row %d is not valid JSON at byte %d: something follows the value", g.rows, end+1)
		default:
			g.bad = fmt.Sprintf("row %d is %s", g.rows, excerpt(b))
		}
		return
	}
	g.value(b, 0, &g.root, 0)
}

// value takes the value at p of a valid text into account.
func (g *jsonSample) value(b []byte, p int, s *jsonShape, deep int) int {
	end := g.text.skip(b, p, 0)
	switch c := b[p]; {
	case s.kind == types.Any || c == 'n':
		return end
	case c == '"':
		text, _ := g.text.text(b, p)
		kind := types.String
		if _, ok := types.ParseInstant(text); ok {
			kind = types.Time
		}
		s.add(kind, g.rows, b[p:end])
	case c == 't' || c == 'f':
		s.add(types.Bool, g.rows, b[p:end])
	case c == '[':
		s.add(types.List, g.rows, b[p:end])
		if s.limit(deep); s.kind != types.Any {
			g.list(b, p, s, deep)
		}
	case c == '{':
		s.add(types.Record, g.rows, b[p:end])
		if s.limit(deep); s.kind != types.Any {
			g.object(b, p, s, deep)
		}
	default:
		kind := types.Float
		if _, _, ok := g.text.int(b, p); ok && !bytes.ContainsAny(b[p:end], ".eE") {
			kind = types.Int
		}
		s.add(kind, g.rows, b[p:end])
	}
	return end
}

func (g *jsonSample) list(b []byte, p int, s *jsonShape, deep int) {
	if s.elem == nil {
		s.elem = &jsonShape{kind: types.Null}
	}
	for p = g.text.space(b, p+1); b[p] != ']'; {
		p = g.text.space(b, g.value(b, p, s.elem, deep+1))
		if b[p] == ',' {
			p = g.text.space(b, p+1)
		}
	}
}

func (g *jsonSample) object(b []byte, p int, s *jsonShape, deep int) {
	for p = g.text.space(b, p+1); b[p] != '}'; {
		name, end := g.text.text(b, p)
		kid := s.kids[name]
		if kid == nil {
			kid = &jsonShape{kind: types.Null}
			if s.kids == nil {
				s.kids = map[string]*jsonShape{}
			}
			name = strings.Clone(name)
			s.kids[name] = kid
			s.names = append(s.names, name)
		}
		p = g.text.space(b, g.value(b, g.text.colon(b, end), kid, deep+1))
		if b[p] == ',' {
			p = g.text.space(b, p+1)
		}
	}
	if deep > 0 && len(s.names) > inferredKids {
		s.kind = types.Any
	}
}

// limit makes a list or record any that lies too deep.
func (s *jsonShape) limit(deep int) {
	if deep > inferredDeep {
		s.kind = types.Any
	}
}

// add makes the shape hold values of a kind, too.
func (s *jsonShape) add(kind types.Kind, row int, text []byte) {
	to := types.Any
	switch {
	case s.kind == kind || s.kind == types.Float && kind == types.Int || s.kind == types.String && kind == types.Time:
		return
	case s.kind == types.Null:
		to = kind
	case s.kind == types.Int && kind == types.Float:
		to = types.Float
	case s.kind == types.Time && kind == types.String:
		to = types.String
	}
	s.kind, s.row, s.text = to, row, excerpt(text)
}

// forget takes a field out of a record.
func (s *jsonShape) forget(name string) {
	delete(s.kids, name)
	for i, n := range s.names {
		if n == name {
			s.names = append(s.names[:i:i], s.names[i+1:]...)
			return
		}
	}
}

// typ returns the type of the shape. It is nullable, and so is all below it.
func (s *jsonShape) typ() types.Type {
	t := types.Type{Kind: s.kind, Nullable: true}
	switch {
	case s.kind == types.List:
		e := s.elem.typ()
		t.Elem = &e
	case s.kind == types.Record && len(s.names) > 0:
		for _, n := range s.names {
			t.Fields = append(t.Fields, types.Field{Name: n, Type: s.kids[n].typ()})
		}
	case s.kind == types.Null || s.kind == types.Record:
		t.Kind = types.Any
	}
	return t
}

func (g *jsonSample) schema() types.Schema { return types.Schema{Fields: g.root.typ().Fields} }

func (g *jsonSample) note() string {
	return fmt.Sprintf("schema inferred from %s of %s", g.sample(), g.path)
}

func (g *jsonSample) sample() string {
	if g.rows < sampleRows {
		return "the " + count(g.rows, "row")
	}
	return "the first 1,000 rows"
}

// why says which row decided the type of the value at a path of jsonField, and how to write one that also takes a value
// that starts with first; nothing if nothing was guessed.
func (g *jsonSample) why(path string, first byte) string {
	if g == nil {
		return ""
	}
	for _, n := range g.root.names {
		column := types.QuoteName(n)
		s := g.root.kids[n].find(column, path)
		if s == nil || s.kind == types.Null || s.kind == types.Any {
			continue
		}
		to := types.T(types.Any)
		switch {
		case path != column:
		case s.kind == types.Int && (first == '-' || first-'0' <= 9):
			to = types.T(types.Float)
		case s.kind == types.Time && first == '"':
			to = types.T(types.String)
		}
		what := "a " + s.typ().NotNull().Kind.String()
		if s.kind == types.Int {
			what = "an int"
		}
		return fmt.Sprintf(". Row %d (%s) made it %s, from %s; to read other values write the types: schema {%s: %s, …}",
			s.row, s.text, what, g.sample(), column, to.Null())
	}
	return ""
}

// find returns the shape at path, given that s is at the path here.
func (s *jsonShape) find(here, path string) *jsonShape {
	if here == path {
		return s
	}
	if s.elem != nil {
		if f := s.elem.find(here+"[]", path); f != nil {
			return f
		}
	}
	for _, n := range s.names {
		if f := s.kids[n].find(here+"."+types.QuoteName(n), path); f != nil {
			return f
		}
	}
	return nil
}
