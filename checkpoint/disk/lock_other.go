//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import (
	"errors"
	"io/fs"
	"os"
)

// Lock holds name by a second file beside it. One that a killed process left has to be removed by hand.
func (OS) Lock(name string) (unlock func() error, err error) {
	held := name + ".held"
	f, err := os.OpenFile(held, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	f.Close()
	return func() error { return os.Remove(held) }, nil
}
