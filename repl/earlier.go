package repl

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ebb-lang/ebb/repl/inspect"
	"github.com/ebb-lang/ebb/repl/view"
)

// mostEarlier bounds how many folders are looked into when a session begins.
const mostEarlier = 20

// Earlier names the jobs of earlier sessions in this folder that have not come to their end and that nobody runs, and how to go
// on with them; "" if there are none.
func Earlier() string {
	dirs, _ := filepath.Glob(filepath.Join(".ebb", "*"))
	out := ""
	for _, dir := range dirs[:min(len(dirs), mostEarlier)] {
		f, err := inspect.Open(dir)
		if err != nil || len(f.All) == 0 {
			continue
		}
		if i, m, err := f.Get(""); err == nil && !i.Finished && !i.Abandoned && !f.Held() {
			out += fmt.Sprintf("  %s, %s ago: .load %s, then .run %s\n", filepath.Base(dir), view.Span(time.Since(time.Unix(0, m.Durable))), dir, filepath.Base(dir))
		}
		f.Close()
	}
	if out == "" {
		return ""
	}
	return "Jobs of this folder that can go on from their last checkpoint:\n" + out
}
