package lint

import (
	"runtime"
	"sync"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
)

// Text is a script that is to be looked at.
type Text struct {
	Name, Text string
	Env        check.Env                 // must answer several texts at a time if they share it
	Facts      func(*check.Script) Facts // may be nil
	Choice     Choice
	Alone      bool // nothing to do with the other texts: an example of a page
}

// Result is what was found in a text.
type Result struct {
	*Script
	Found []Finding // what is chosen and not suppressed, in the order of the text
}

// spread calls f with the numbers below n, some at a time.
func spread(n int, f func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), n) {
		wait.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// Lint looks at texts, each by itself and all of them together. The results are in the order of the texts. Of several texts no
// more is kept than their findings need: what is known of a thousand would fill the memory.
func Lint(texts []Text) []Result {
	results := make([]Result, len(texts))
	look := func(i int) {
		t := texts[i]
		results[i].Script, results[i].Found = Look(t.Name, t.Text, t.Env, t.Facts)
	}
	if len(texts) == 1 {
		look(0) // on the goroutine of the caller, who may want to survive it
	} else {
		spread(len(texts), func(i int) {
			look(i)
			results[i].forget()
		})
	}

	var scripts []*Script
	of := map[*syntax.Source]int{}
	for i, r := range results {
		if of[r.Tree.Source] = i; !texts[i].Alone {
			scripts = append(scripts, r.Script)
		}
	}
	for _, f := range across(scripts) {
		i := of[f.Source]
		results[i].Found = append(results[i].Found, f)
	}
	for i := range results {
		r := &results[i]
		r.Found = sorted(suppress(r.Script, r.Found, texts[i].Choice))
	}
	return results
}
