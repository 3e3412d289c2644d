//go:build !linux

package disk

import "os"

type osFile struct{ *os.File }
