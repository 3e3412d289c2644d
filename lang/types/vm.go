package types

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// ToVM returns a value of type t, as Expr.Value holds it, as the VM of expr has it: int, float64, bool, string, []byte,
// time.Time, time.Duration, []any, map[string]any, parsed JSON.
func ToVM(t Type, v any) any {
	switch x := v.(type) {
	case int64:
		switch t.Kind {
		case Time:
			return time.Unix(0, x).UTC()
		case Duration:
			return time.Duration(x)
		case Float:
			return float64(x)
		}
		return int(x)
	case string:
		switch t.Kind {
		case Bytes:
			return []byte(x)
		case Any:
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
			out[i] = ToVM(*t.Elem, e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for _, f := range t.Fields {
			out[f.Name] = ToVM(f.Type, x[f.Name])
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

// FromVM is the inverse of ToVM: it returns a result of the VM as Expr.Value holds it. It fails for what is no value of
// type t.
func FromVM(t Type, v any) (any, error) {
	if v == nil {
		if t.Nullable || t.Kind == Null {
			return nil, nil
		}
		return nil, errors.New("the value is nil")
	}
	switch t.Kind {
	case Any:
		return jsonText(v), nil
	case Null:
		return nil, nil
	}
	switch x := v.(type) {
	case bool:
		if t.Kind == Bool {
			return x, nil
		}
	case string:
		if t.Kind == String || t.Kind == Bytes {
			return x, nil
		}
	case []byte:
		if t.Kind == String || t.Kind == Bytes {
			return string(x), nil
		}
	case time.Time:
		if t.Kind == Time {
			ns, ok := UnixNano(x.Unix(), int64(x.Nanosecond()))
			if !ok {
				return nil, fmt.Errorf("the time %s is out of range: years go from 1678 to 2261", x.UTC().Format(time.RFC3339))
			}
			return ns, nil
		}
	case time.Duration:
		if t.Kind == Duration {
			return int64(x), nil
		}
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt():
		switch t.Kind {
		case Int:
			return rv.Int(), nil
		case Float:
			return float64(rv.Int()), nil
		}
	case rv.CanFloat():
		f := rv.Float()
		switch {
		case t.Kind == Float:
			return f, nil
		case t.Kind == Int && f == math.Trunc(f) && math.Abs(f) < 1<<63:
			return int64(f), nil
		}
	case (rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array) && t.Kind == List:
		out := make([]any, rv.Len())
		for i := range out {
			e, err := FromVM(*t.Elem, rv.Index(i).Interface())
			if err != nil {
				return nil, err
			}
			out[i] = e
		}
		return out, nil
	case rv.Kind() == reflect.Map && t.Kind == Record:
		out := make(map[string]any, len(t.Fields))
		for _, f := range t.Fields {
			var member any
			if m := rv.MapIndex(reflect.ValueOf(f.Name)); m.IsValid() {
				member = m.Interface()
			}
			e, err := FromVM(f.Type, member)
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
	case nil, bool, string, []byte:
		return x
	case time.Time:
		if ns, ok := UnixNano(x.Unix(), int64(x.Nanosecond())); ok {
			return string(AppendInstant(nil, ns))
		}
		return x
	case time.Duration:
		return FormatDuration(int64(x))
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
