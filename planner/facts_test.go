package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// TestFacts prints what the linter is told of scripts, of those with errors, too.
func TestFacts(t *testing.T) {
	lib, env := stdlib.New(), exec.OS().ReadOnly()
	datadriven.RunTest(t, "testdata_facts/facts.txt", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		checked, wrong := check.Text("facts.ebb", d.Input, &planner.World{Catalog: lib, Env: env}, check.Options{})
		for _, w := range wrong {
			if w.Severity == syntax.SevError {
				fmt.Fprintf(&b, "error %s\n", w.Code)
			}
		}
		f := planner.Facts(lib, env)(checked)
		for _, s := range checked.Sources {
			r := f.Reads(s)
			fmt.Fprintf(&b, "source %s: rewinds=%t splits=%t outside=%t takes(in/x.csv)=%t\n", s.Name, r.Rewinds, r.Splits, r.Outside, r.Takes("in/x.csv"))
		}
		for _, st := range checked.Streams {
			for _, s := range st.Stages {
				fmt.Fprintf(&b, "stage %s: passes=%t marks=%t grows=%q\n", s.Args.ID, f.Passes(s), f.Marks(s), f.Grows(s))
			}
		}
		for _, w := range checked.Writes {
			x := f.Writes(w)
			fmt.Fprintf(&b, "output %s: exactly_once=%t shown=%t place=%q file=%q\n", w.Name, x.ExactlyOnce, x.Shown, x.Place, x.File)
		}
		for _, x := range f.Shuffles() {
			fmt.Fprintf(&b, "shuffle before %s: sums=%t rows=%d\n", x.Stage.Args.ID, x.Sums, x.Rows)
		}
		return b.String()
	})
}

// TestEverySinkSaysHowItDelivers: a sink without an answer counts as one that may repeat rows.
func TestEverySinkSaysHowItDelivers(t *testing.T) {
	lib := stdlib.New()
	for _, name := range lib.Names("conn") {
		if c := lib.ConnDef(name); c.Sink != nil {
			require.NotNil(t, c.Delivery, "%s: Delivery", name)
		}
	}
}
