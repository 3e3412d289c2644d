package fn

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// Times in UTC are arithmetic of integers; package time is asked where another zone is named.

const (
	nsSecond = int64(time.Second)
	nsMinute = int64(time.Minute)
	nsHour   = int64(time.Hour)
	nsDay    = 24 * nsHour
)

// daysOf returns the day of a time, in days since 1970.
func daysOf(ns int64) int64 { return types.FloorDiv(ns, nsDay) }

// zones are the time zones of an argument: one for all rows, or looked up as they change.
type zones struct {
	names arg[string]
	last  string
	loc   *time.Location
}

func (z *zones) at(i int) (*time.Location, error) {
	name := z.names.at(i)
	if z.loc != nil && z.last == name {
		return z.loc, nil
	}
	loc, err := zone(name)
	if err != nil {
		return nil, err
	}
	z.loc, z.last = loc, strings.Clone(name)
	return loc, nil
}

// zone looks up a time zone by its IANA name.
func zone(name string) (*time.Location, error) {
	if name == "Local" { // would depend on the machine
		return nil, fmt.Errorf("unknown time zone %q; use a name like \"Europe/Berlin\"", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q; use a name like \"Europe/Berlin\"", short(name))
	}
	return loc, nil
}

// checkZone is a part of the Infer of functions whose argument k is a zone: a constant must be one.
func checkZone(args []*types.Expr, k int) error {
	if k < len(args) && args[k].Op == types.OpConst {
		if name, ok := args[k].Value.(string); ok {
			_, err := zone(name)
			return err
		}
	}
	return nil
}

// zoned is the Infer of a function of (time, zone) with the result t.
func zoned(t types.Type, k int) func(args []*types.Expr) (types.Type, error) {
	return func(args []*types.Expr) (types.Type, error) { return t, checkZone(args, k) }
}

// clockPart is the definition of a part of a time: utc computes it for UTC, local for a time in a zone.
func clockPart(doc spec.Doc, utc eval.Kernel, local func(t time.Time) int64) spec.Func {
	doc.Group = "time"
	doc.Signature = doc.Name + `(t: time, zone: string = "UTC") -> int`
	return spec.Func{Doc: doc, Overloads: []spec.Overload{
		{Sig: sig(intT, timeT), Kernel: utc},
		{Sig: types.Sig{Params: []types.Type{timeT, stringT}, Infer: zoned(intT, 1), Rare: true}, Kernel: func(c *eval.Call) {
			inZone(c, 1, func(i int, t time.Time) { c.Out.Ints[i] = local(t) })
		}},
	}}
}

// inZone calls f with the time of each row in the zone that argument k names.
func inZone(c *eval.Call, k int, f func(i int, t time.Time)) {
	z := zones{names: of[string](c.Args[k])}
	in := c.Args[0].Col.Ints
	each(c, func(i int) {
		loc, err := z.at(i)
		if err != nil {
			c.Fail(i, err)
			return
		}
		f(i, time.Unix(0, in[i]).In(loc))
	})
}

// unixNano returns t as nanoseconds since 1970, an error if they do not fit.
func unixNano(t time.Time) (int64, error) {
	ns, ok := types.UnixNano(t.Unix(), int64(t.Nanosecond()))
	if !ok {
		return 0, fmt.Errorf("the time %s is beyond what a time can hold (1677 to 2262)", t.Format("2006-01-02"))
	}
	return ns, nil
}
