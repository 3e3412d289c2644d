package syntax

import (
	"fmt"
	"reflect"
	"strings"
)

// dump prints a tree, one node a line, without spans; expressions print as their text in guillemets.
func dump(script *Script) string {
	var b strings.Builder
	for _, s := range script.Stmts {
		dumpValue(&b, "", reflect.ValueOf(s), 0)
	}
	if len(script.Broken) > 0 {
		var names []string
		for _, n := range script.Broken {
			names = append(names, n.Name)
		}
		fmt.Fprintf(&b, "broken: %s\n", strings.Join(names, " "))
	}
	return b.String()
}

var (
	exprType  = reflect.TypeFor[Expr]()
	identType = reflect.TypeFor[Ident]()
	spanType  = reflect.TypeFor[Span]()
)

func dumpValue(b *strings.Builder, label string, v reflect.Value, depth int) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	pad := strings.Repeat("  ", depth)
	if label != "" {
		label += ": "
	}
	switch {
	case v.Type() == spanType || v.IsZero():
	case v.Type() == exprType:
		fmt.Fprintf(b, "%s%s«%s»\n", pad, label, strings.ReplaceAll(v.Interface().(Expr).Text, "\n", "⏎"))
	case v.Type() == identType:
		fmt.Fprintf(b, "%s%s%s\n", pad, label, v.Interface().(Ident).Name)
	case v.Kind() == reflect.Struct:
		name := v.Type().Name()
		if one, ok := line(v); ok {
			fmt.Fprintf(b, "%s%s%s %s\n", pad, label, name, one)
			return
		}
		fmt.Fprintf(b, "%s%s%s\n", pad, label, name)
		for i := range v.NumField() {
			f := v.Type().Field(i)
			dumpValue(b, f.Name, v.Field(i), depth+1)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			dumpValue(b, label[:len(label)-2], v.Index(i), depth)
		}
	default:
		fmt.Fprintf(b, "%s%s%v\n", pad, label, v.Interface())
	}
}

// line prints small nodes in one line.
func line(v reflect.Value) (string, bool) {
	switch n := v.Interface().(type) {
	case Item:
		return itemText(n), n.Input == nil
	case TypeExpr:
		return typeText(&n), true
	case FnParam:
		return n.Name.Name + ": " + typeText(n.Type), true
	}
	return "", false
}

func itemText(n Item) string {
	s := "«" + strings.ReplaceAll(n.Expr.Text, "\n", "⏎") + "»"
	if n.Name != nil {
		s = n.Name.Name + " = " + s
	}
	if n.Order != "" {
		s += " " + n.Order
	}
	return s
}

func typeText(t *TypeExpr) string {
	s := t.Name
	switch {
	case t.Elem != nil:
		s = "[" + typeText(t.Elem) + "]"
	case t.Record != nil:
		var fields []string
		for _, f := range t.Record.Fields {
			fields = append(fields, f.Name.Name+": "+typeText(f.Type))
		}
		s = "{" + strings.Join(fields, ", ") + "}"
	case t.Quoted:
		s += fmt.Sprintf("(%q)", t.Format)
	case t.Format != "":
		s += "(" + t.Format + ")"
	}
	if t.Nullable {
		s += "?"
	}
	return s
}
