package fn

import (
	"errors"
	"fmt"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "captures", Group: "text", Signature: "captures(s: string, regex: string) -> {name: string?, …}",
		Text: "The named groups `(?P<name>…)` of a constant regular expression as a record. A field is null where its group took no part; " +
			"all are where nothing matches.",
		Examples: []spec.Example{{Code: `captures("GET /x", "(?P<verb>[A-Z]+) (?P<path>\\S+)").path`, Want: `"/x"`}, {Code: `captures("?", "(?P<verb>[A-Z]+)").verb`, Want: "nil"}}},
	Overloads: []spec.Overload{{Sig: types.Sig{Params: []types.Type{stringT, stringT}, Infer: capturesType, Rare: true}, Kernel: capturesKernel}},
})

func capturesType(args []*types.Expr) (types.Type, error) {
	re, err := constantRegexp(args[1])
	if err != nil {
		return types.Type{}, err
	}
	if re == nil {
		return types.Type{}, errors.New("the regular expression must be a constant: its groups are the fields of the result")
	}
	t := types.Type{Kind: types.Record}
	for _, name := range re.GroupNames() {
		if name == "" {
			continue
		}
		if t.Field(name) >= 0 {
			return types.Type{}, fmt.Errorf("two groups are called %s", name)
		}
		t.Fields = append(t.Fields, types.Field{Name: name, Type: stringT.Null()})
	}
	if len(t.Fields) == 0 {
		return types.Type{}, errors.New("the regular expression has no named groups; write `(?P<name>…)`, or use `extract` for a numbered one")
	}
	return t, nil
}

func capturesKernel(c *eval.Call) {
	in := c.Args[0].Col.Strs
	ps := newPatterns(c, 1)
	for _, k := range c.Out.Kids {
		k.Valid = vec.NewBitmap(c.N)
	}
	var buf [32]int
	each(c, func(i int) {
		re, err := ps.at(i)
		if err != nil {
			c.Fail(i, err)
			return
		}
		loc := re.Find(in[i], buf[:0])
		if loc == nil {
			return
		}
		k := 0
		for g, name := range re.GroupNames() {
			if name == "" {
				continue
			}
			if lo := loc[2*g]; lo >= 0 {
				c.Out.Kids[k].Strs[i] = in[i][lo:loc[2*g+1]]
				c.Out.Kids[k].Valid.Set(i)
			}
			k++
		}
	})
}
