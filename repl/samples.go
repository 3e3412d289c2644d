package repl

import (
	"fmt"
	"io"
	"strings"

	"github.com/ebb-lang/ebb/exec"
)

// writeSamples writes the last of n rows; all says what and how many they are.
func writeSamples(w io.Writer, list []exec.Sample, n int64, all string) error {
	var out strings.Builder
	if n > int64(len(list)) {
		fmt.Fprintf(&out, "the last %d of %s\n", len(list), all)
	}
	for _, x := range list {
		out.WriteString(x.Stage)
		if x.Source != "" {
			out.WriteString(": " + x.Source)
		}
		if x.Row > 0 {
			fmt.Fprintf(&out, ": row %s", count(x.Row))
		}
		out.WriteString(": " + x.Reason + "\n")
		if x.Raw != "" {
			out.WriteString("  " + strings.ReplaceAll(strings.TrimRight(x.Raw, "\n"), "\n", "\n  ") + "\n")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
