package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Box returns row i as the VM sees it: int, float64, bool, string, []byte, time.Time, time.Duration, []any,
// map[string]any, parsed JSON.
func Box(c *vec.Column, i int) any {
	if c.Null(i) {
		return nil
	}
	switch c.Type.Kind {
	case types.List:
		out := make([]any, 0, c.Offs[i+1]-c.Offs[i])
		for j := c.Offs[i]; j < c.Offs[i+1]; j++ {
			out = append(out, Box(c.Kids[0], int(j)))
		}
		return out
	case types.Record:
		out := make(map[string]any, len(c.Kids))
		for k, f := range c.Type.Fields {
			out[f.Name] = Box(c.Kids[k], i)
		}
		return out
	}
	return boxValue(c.Type, c.Value(i))
}

// boxValue is Box for a value as types.Expr.Value holds it.
func boxValue(t types.Type, v any) any {
	switch x := v.(type) {
	case int64:
		switch t.Kind {
		case types.Time:
			return time.Unix(0, x).UTC()
		case types.Duration:
			return time.Duration(x)
		case types.Float:
			return float64(x)
		}
		return int(x)
	case string:
		switch t.Kind {
		case types.Bytes:
			return []byte(x)
		case types.Any:
			d := json.NewDecoder(bytes.NewReader([]byte(x)))
			d.UseNumber()
			var out any
			if d.Decode(&out) != nil {
				return x
			}
			return numbers(out)
		}
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = boxValue(*t.Elem, e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for _, f := range t.Fields {
			out[f.Name] = boxValue(f.Type, x[f.Name])
		}
		return out
	}
	return v
}

func numbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		if i, err := x.Int64(); err == nil {
			return int(i)
		}
		f, _ := x.Float64()
		return f
	case []any:
		for i := range x {
			x[i] = numbers(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = numbers(x[k])
		}
	}
	return v
}

// unbox turns a result of the VM into a value of type t as vec.Builder takes it.
func unbox(t types.Type, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch t.Kind {
	case types.Any:
		return jsonText(v), nil
	case types.Null:
		return nil, nil
	}
	switch x := v.(type) {
	case bool:
		if t.Kind == types.Bool {
			return x, nil
		}
	case string:
		if t.Kind == types.String || t.Kind == types.Bytes {
			return x, nil
		}
	case []byte:
		if t.Kind == types.String || t.Kind == types.Bytes {
			return string(x), nil
		}
	case time.Time:
		if t.Kind == types.Time {
			return x.UnixNano(), nil
		}
	case time.Duration:
		if t.Kind == types.Duration {
			return int64(x), nil
		}
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt():
		switch t.Kind {
		case types.Int:
			return rv.Int(), nil
		case types.Float:
			return float64(rv.Int()), nil
		}
	case rv.CanFloat():
		f := rv.Float()
		switch {
		case t.Kind == types.Float:
			return f, nil
		case t.Kind == types.Int && f == math.Trunc(f) && math.Abs(f) < 1<<63:
			return int64(f), nil
		}
	case (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array) && t.Kind == types.List:
		out := make([]any, rv.Len())
		for i := range out {
			e, err := unbox(*t.Elem, rv.Index(i).Interface())
			if err != nil {
				return nil, err
			}
			out[i] = e
		}
		return out, nil
	case rv.Kind() == reflect.Map && t.Kind == types.Record:
		out := make(map[string]any, len(t.Fields))
		for _, f := range t.Fields {
			var member any
			if m := rv.MapIndex(reflect.ValueOf(f.Name)); m.IsValid() {
				member = m.Interface()
			}
			e, err := unbox(f.Type, member)
			if err != nil {
				return nil, err
			}
			out[f.Name] = e
		}
		return out, nil
	}
	return nil, fmt.Errorf("the value %v is no %s", v, t.NotNull())
}

// jsonText returns a result of the VM as JSON; the keys of maps are sorted.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(marshalable(v)) != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// marshalable returns v in the types that encoding/json takes, written as the language writes values.
func marshalable(v any) any {
	switch x := v.(type) {
	case nil, bool, string, time.Time, []byte:
		return x
	case time.Duration:
		return types.FormatDuration(int64(x))
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanFloat():
		if f := rv.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array:
		out := make([]any, rv.Len())
		for i := range out {
			out[i] = marshalable(rv.Index(i).Interface())
		}
		return out
	case rv.Kind() == reflect.Map:
		out := map[string]any{}
		for it := rv.MapRange(); it.Next(); {
			out[fmt.Sprint(it.Key().Interface())] = marshalable(it.Value().Interface())
		}
		return out
	case !rv.CanInt():
		return fmt.Sprint(v)
	}
	return v
}
