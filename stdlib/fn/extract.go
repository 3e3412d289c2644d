package fn

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/exec/eval"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

var _ = define(spec.Func{
	Doc: spec.Doc{Name: "extract", Group: "text", Signature: "extract(s: string, regex: string, group: int = 0) -> string?",
		Text: "What a regular expression (RE2 syntax) finds first in the text: the whole match, or one of its groups. " +
			"Null without a match, or if the group took no part in it.",
		Examples: []spec.Example{{Code: `extract("id=42;", "id=([0-9]+)", 1)`, Want: `"42"`}, {Code: `extract("id=x", "[0-9]+")`, Want: "nil"}}},
	Overloads: []spec.Overload{
		{Sig: types.Sig{Params: []types.Type{stringT, stringT}, Infer: extractType, Rare: true}, Kernel: extractKernel},
		{Sig: types.Sig{Params: []types.Type{stringT, stringT, intT}, Infer: extractType, Rare: true}, Kernel: extractKernel},
	},
})

// extractType checks what is constant.
func extractType(args []*types.Expr) (types.Type, error) {
	re, err := constantRegexp(args[1])
	if err != nil {
		return types.Type{}, err
	}
	if re != nil && len(args) > 2 {
		if g, ok := args[2].Value.(int64); ok && args[2].Op == types.OpConst && (g < 0 || g > int64(re.Groups())) {
			return types.Type{}, fmt.Errorf("there is no group %d: %s", g, groupCount(re))
		}
	}
	return stringT.Null(), nil
}

// constantRegexp compiles e if it is a constant, else it returns nil.
func constantRegexp(e *types.Expr) (*eval.Regexp, error) {
	s, ok := e.Value.(string)
	if e.Op != types.OpConst || !ok {
		return nil, nil
	}
	re, err := eval.CompileRegexp(s)
	if err != nil {
		return nil, &types.StageError{Code: "X304", Message: err.Error()}
	}
	return re, nil
}

func groupCount(re *eval.Regexp) string {
	switch n := re.Groups(); n {
	case 0:
		return "the expression has no groups"
	case 1:
		return "the expression has one group"
	default:
		return fmt.Sprintf("the expression has %d groups", n)
	}
}

func extractKernel(c *eval.Call) {
	in, out := c.Args[0].Col.Strs, c.Out.Strs
	groups := arg[int64]{[]int64{0}, 0}
	if len(c.Args) > 2 {
		groups = of[int64](c.Args[2])
	}
	ps := newPatterns(c, 1)
	var buf [32]int
	each(c, func(i int) {
		re, err := ps.at(i)
		if err != nil {
			c.Fail(i, err)
			return
		}
		g := groups.at(i)
		if g < 0 || g > int64(re.Groups()) {
			c.Fail(i, fmt.Errorf("`extract`: there is no group %d: %s", g, groupCount(re)))
			return
		}
		loc := re.Find(in[i], buf[:0])
		if loc == nil || loc[2*g] < 0 {
			c.SetNull(i)
			return
		}
		out[i] = in[i][loc[2*g]:loc[2*g+1]]
	})
}

// patterns are the regular expressions of an argument: one for all rows, or compiled as they come and kept.
type patterns struct {
	text arg[string]
	kept map[string]*eval.Regexp
	last string
	re   *eval.Regexp
}

func newPatterns(c *eval.Call, k int) *patterns {
	ps, ok := c.Memo.(*patterns)
	if !ok {
		ps = &patterns{kept: map[string]*eval.Regexp{}}
		c.Memo = ps
	}
	ps.text = of[string](c.Args[k])
	return ps
}

func (p *patterns) at(i int) (*eval.Regexp, error) {
	s := p.text.at(i)
	if p.re != nil && s == p.last {
		return p.re, nil
	}
	if p.re = p.kept[s]; p.re == nil {
		re, err := eval.CompileRegexp(s)
		if err != nil {
			return nil, err
		}
		if len(p.kept) >= 64 {
			clear(p.kept)
		}
		p.re = re
		p.kept[strings.Clone(s)] = re
	}
	p.last = strings.Clone(s)
	return p.re, nil
}
