package conn

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the collector come more seldom: tests keep little, and most of what they make is garbage at once.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
