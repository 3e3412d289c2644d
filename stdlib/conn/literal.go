package conn

import (
	"fmt"
	"slices"

	"github.com/ebb-lang/ebb/lang/types"
)

// Constants of a script that a connector takes as data: their types, and the order of their fields, come along where
// they have one type; otherwise they follow from the values.

// typeOfValue is the type of a constant by its Go type.
func typeOfValue(v any) (types.Type, error) {
	switch x := v.(type) {
	case nil:
		return types.T(types.Null), nil
	case bool:
		return types.T(types.Bool), nil
	case int64:
		return types.T(types.Int), nil
	case float64:
		return types.T(types.Float), nil
	case string:
		return types.T(types.String), nil
	case []any:
		e, err := listElem(x, types.Type{})
		return types.ListOf(e), err
	case map[string]any:
		r := types.T(types.Record)
		for _, name := range orderedNames(x, types.Type{}) {
			t, err := typeOfValue(x[name])
			if err != nil {
				return types.Type{}, err
			}
			r.Fields = append(r.Fields, types.Field{Name: name, Type: t})
		}
		return r, nil
	}
	return types.Type{}, fmt.Errorf("%v is no value", v)
}

// listElem is the type of the elements of a list, given the list's type or Invalid.
func listElem(values []any, t types.Type) (types.Type, error) {
	if t.Kind == types.List && t.Elem.Kind != types.Invalid {
		return *t.Elem, nil
	}
	out := types.T(types.Null)
	for i, v := range values {
		e, err := typeOfValue(v)
		if err != nil {
			return types.Type{}, err
		}
		if i == 0 {
			out = e
		} else if out, err = types.Unify(out, e); err != nil {
			return types.Type{}, fmt.Errorf("value %d of the list: %w", i+1, err)
		}
	}
	return out, nil
}

// orderedNames are the names of a record's fields: as written, if its type is known, else sorted.
func orderedNames(m map[string]any, t types.Type) []string {
	var out []string
	for _, f := range t.Fields {
		if _, ok := m[f.Name]; ok {
			out = append(out, f.Name)
		}
	}
	if len(out) == len(m) {
		return out
	}
	out = out[:0]
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
