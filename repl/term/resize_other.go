//go:build !unix

package term

// onResize does nothing: there is no signal for it.
func onResize(func()) (stop func()) { return func() {} }
