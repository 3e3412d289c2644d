package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/lint"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
)

// gathered are the files of a run of the linter.
type gathered struct {
	files []*lintFile
	wrong []error // what keeps the exit status at 2; the other files are looked at

	lib    *stdlib.Catalog
	disk   *disk.Once
	limits map[string]syntax.Severity // by file: what makes the run fail
}

// lintFile is a script, or a page of Markdown with scripts in it.
type lintFile struct {
	name     string // as it is shown
	original string
	text     *syntax.Source // of a page
	blocks   []*syntax.Block
	scripts  []lint.Text // the one script, or one for each block
}

// gather reads files; of a folder what lies below it.
func gather(args []string) *gathered {
	g := &gathered{lib: stdlib.New(), disk: &disk.Once{FS: disk.OS{}}, limits: map[string]syntax.Severity{}}
	g.wrong = readTexts(args, g.add)
	return g
}

func (g *gathered) add(name, text string) {
	f := &lintFile{name: name, original: text}
	env := exec.OS().ReadOnly()
	env.FS, env.Stdin = disk.ReadOnly{FS: g.disk}, notRead{}
	script := func(name, text string) lint.Text {
		return lint.Text{Name: name, Text: text, Env: &planner.World{Catalog: g.lib, Env: env}, Facts: planner.Facts(g.lib, env)}
	}
	if isPage(name) {
		f.text = syntax.NewSource(name, text)
		f.blocks = syntax.Blocks(f.text)
		env.FS = pageFiles(f.text, env.FS)
		for _, b := range f.blocks {
			t := script(name, b.Text)
			t.Alone = true
			f.scripts = append(f.scripts, t)
		}
	} else {
		f.scripts = []lint.Text{script(name, text)}
	}
	g.files = append(g.files, f)
}

// notRead is the standard input of a script that does not run.
type notRead struct{}

func (notRead) Read([]byte) (int, error) {
	return 0, errors.New("standard input is not read before the script runs; write `schema {…}`")
}

func (g *gathered) stdin() bool {
	return slices.ContainsFunc(g.files, func(f *lintFile) bool { return f.name == stdinName })
}

// look finds what the rules say of all files.
func (g *gathered) look() []lint.Finding {
	var texts []lint.Text
	for _, f := range g.files {
		texts = append(texts, f.scripts...)
	}
	results := lint.Lint(texts)
	var found []lint.Finding
	rank := map[string]int{}
	for i, f := range g.files {
		rank[f.name] = i
		for j := range f.scripts {
			list := results[j].Found
			if f.text != nil {
				list = lifted(results[j], f.blocks[j])
			}
			found = append(found, list...)
		}
		results = results[len(f.scripts):]
	}
	// What a file says that others use is found with each of them.
	slices.SortStableFunc(found, func(a, b lint.Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Source.Name], rank[b.Source.Name]), cmp.Compare(a.Source.Name, b.Source.Name),
			cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset), cmp.Compare(a.Code, b.Code))
	})
	return slices.CompactFunc(found, func(a, b lint.Finding) bool {
		return a.Source.Name == b.Source.Name && a.Span == b.Span && a.Code == b.Code && a.Message == b.Message
	})
}

// lifted are the findings of a block as findings of its page.
func lifted(r lint.Result, b *syntax.Block) []lint.Finding {
	own := r.Tree.Source
	span := func(s syntax.Span) syntax.Span { return syntax.Span{Start: b.Lift(s.Start), End: b.Lift(s.End)} }
	list := slices.Clone(r.Found)
	for i := range list {
		f := &list[i]
		f.Notes = slices.Clone(f.Notes)
		for j, n := range f.Notes {
			if n.Source == own {
				f.Notes[j].Source, f.Notes[j].Span = b.Page, span(n.Span)
			}
		}
		if f.Source != own {
			continue
		}
		f.Source, f.Span = b.Page, span(f.Span)
		if f.Fix != nil {
			fix := *f.Fix
			fix.Edits = slices.Clone(fix.Edits)
			for j, e := range fix.Edits {
				fix.Edits[j] = lint.Edit{Span: span(e.Span), Text: b.Indented(e.Text)}
			}
			f.Fix = &fix
		}
	}
	return list
}

// mend makes the fixes of all files, or shows them, and reports whether there are any.
func (g *gathered) mend(most lint.Applicability, show bool) (changed bool, err error) {
	for _, f := range g.files {
		texts := make([]string, len(f.scripts))
		made := 0
		for i := range f.scripts {
			m := lint.Mend(f.scripts[i], most)
			texts[i], made = m.Text, made+m.Made
		}
		text := f.original
		if made > 0 && f.text != nil {
			text = lint.Restore(f.original, syntax.Replace(f.text, f.blocks, texts))
		} else if made > 0 {
			text = lint.Restore(f.original, texts[0])
		}
		changed = changed || text != f.original
		switch {
		case show:
			if _, err := os.Stdout.WriteString(unified(f.name, f.original, text)); err != nil {
				return changed, err
			}
			continue
		case f.name == stdinName:
			if _, err := os.Stdout.WriteString(text); err != nil {
				return changed, err
			}
		case text != f.original:
			if err := replaceFile(f.name, text); err != nil {
				g.wrong = append(g.wrong, fmt.Errorf("cannot write %s: %w", f.name, reason(err)))
				continue
			}
			g.disk.Forget()
		}
		if text != f.original {
			f.replace(g, text)
		}
	}
	return changed, nil
}

// replace reads a file again from what was written.
func (f *lintFile) replace(g *gathered, text string) {
	choice := f.choice()
	files := g.files
	g.files = nil
	g.add(f.name, text)
	*f = *g.files[0]
	g.files = files
	f.choose(choice)
}

func (f *lintFile) choice() lint.Choice {
	if len(f.scripts) == 0 {
		return lint.Choice{}
	}
	return f.scripts[0].Choice
}

func (f *lintFile) choose(c lint.Choice) {
	for i := range f.scripts {
		f.scripts[i].Choice = c
	}
}
