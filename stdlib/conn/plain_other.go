//go:build !amd64

package conn

func (x *plainRun) digits(to []int64, from int, v between, unit int64, most uint64, strict bool) int {
	return x.digitsPortable(to, from, v, unit, most, strict)
}

func (x *plainRun) alike(sign, at int, want, mask *[slack]byte) bool {
	return x.alikePortable(sign, at, want, mask)
}

func (x *plainRun) have(sign int, want []byte) bool { return x.havePortable(sign, want) }
