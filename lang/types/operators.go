package types

// Operators are the overloads of the operators that an OpCall names by their sign, `neg` for a minus in front of a value,
// and `slice(x, from[, to])` for x[from:to]. Operands have exactly the kinds of Params: the checker makes casts where an
// int stands for a float. Where Params are Invalid (== != in) it has given both sides one type.
// The loose ones see nulls: == and != are total, the others are false where a side is null.
var Operators = map[string][]*Sig{
	"+": overloads(two(Int, Int, Int), two(Float, Float, Float), rare(two(String, String, String)), rare(two(Time, Duration, Time)),
		rare(two(Duration, Time, Time)), two(Duration, Duration, Duration)),
	"-": overloads(two(Int, Int, Int), two(Float, Float, Float), rare(two(Time, Duration, Time)), two(Time, Time, Duration),
		two(Duration, Duration, Duration)),
	"*": overloads(two(Int, Int, Int), two(Float, Float, Float), two(Duration, Int, Duration), two(Int, Duration, Duration),
		rare(two(Duration, Float, Duration)), rare(two(Float, Duration, Duration))),
	"/": overloads(two(Float, Float, Float), rare(two(Duration, Int, Duration)), rare(two(Duration, Float, Duration)),
		two(Duration, Duration, Float)),
	"%":   overloads(divides(two(Int, Int, Int))),
	"**":  overloads(two(Float, Float, Float)),
	"..":  overloads(rare(Sig{Params: []Type{T(Int), T(Int)}, Result: ListOf(T(Int))})),
	"neg": overloads(one(Int, Int), one(Float, Float), one(Duration, Duration)),
	"not": overloads(one(Bool, Bool)),
	"<":   ordering(), "<=": ordering(), ">": ordering(), ">=": ordering(),
	"==": equality(), "!=": equality(), "in": equality(),
	"contains": textTest(), "startsWith": textTest(), "endsWith": textTest(),
	"matches": overloads(rare(*textTest()[0])),
	"slice": overloads(
		Sig{Params: []Type{T(String), T(Int), T(Int)}, Optional: 1, Result: T(String)},
		Sig{Params: []Type{{Kind: List, Elem: &Type{}}, T(Int), T(Int)}, Optional: 1,
			Infer: func(args []*Expr) (Type, error) { return args[0].Type.NotNull(), nil }}),
}

func overloads(sigs ...Sig) []*Sig {
	out := make([]*Sig, len(sigs))
	for i := range sigs {
		sigs[i].ID = i
		out[i] = &sigs[i]
	}
	return out
}

func one(a, result Kind) Sig    { return Sig{Params: []Type{T(a)}, Result: T(result)} }
func two(a, b, result Kind) Sig { return Sig{Params: []Type{T(a), T(b)}, Result: T(result)} }

// divides says of a signature that the second operand may be zero, if it is no constant.
func divides(s Sig) Sig {
	s.Fails = ByZero
	return s
}

// rare says of a signature that rows may fail beyond bounds that data hardly ever reach, or for a pattern from the row.
func rare(s Sig) Sig {
	s.Rare = true
	return s
}

// ByZero reports whether the second of two ints may be zero.
func ByZero(args []*Expr) bool {
	n, ok := args[1].Value.(int64)
	return args[1].Op != OpConst || !ok || n == 0
}

func ordering() []*Sig {
	return overloads(two(Int, Int, Bool), two(Float, Float, Bool), two(String, String, Bool), two(Time, Time, Bool), two(Duration, Duration, Bool))
}

func equality() []*Sig {
	return overloads(Sig{Params: []Type{{}, {}}, Result: T(Bool), Loose: true})
}

func textTest() []*Sig {
	return overloads(Sig{Params: []Type{T(String), T(String)}, Result: T(Bool), Loose: true})
}

// Takes reports whether the function may be called with n arguments.
func (s *Sig) Takes(n int) bool {
	if s.Variadic {
		return n >= len(s.Params)-1 && len(s.Params) > 0
	}
	return n >= len(s.Params)-s.Optional && n <= len(s.Params)
}
