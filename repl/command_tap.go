package repl

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "tap", Args: "STREAM [where EXPR] [limit N] [-j JOB]", Group: "look", Least: 1, Most: 2, Tail: true,
	Summary: "show live rows of a stream or source of a running job",
	Text: "Ctrl-C ends the tap. The job goes on undisturbed: it never waits for whoever looks, and rows that come faster than they can be shown are " +
		"left out. Columns that nothing written reads are not carried by the job and shown as null. -j stands before STREAM.",
	Flags: []Flag{jobFlag},
	Complete: func(s *Session, args []string) []string {
		if len(args) > 1 || len(s.jobs) == 0 {
			return nil
		}
		return s.jobs[len(s.jobs)-1].tappable()
	},
	Run: runTap,
})

var tapTail = regexp.MustCompile(`^(?s:(?:where\s+(.+?))?\s*(?:\blimit\s+([0-9]+))?)$`)

func runTap(s *Session, a *Args) error {
	j, err := s.live(a)
	if err != nil {
		return err
	}
	m := tapTail.FindStringSubmatch(a.Arg(1))
	if m == nil {
		return a.Usage("behind STREAM stands `where EXPR` or `limit N`, not %q", a.Arg(1))
	}
	at, whole, stages, err := j.cut(s, a.Arg(0))
	if err != nil {
		return err
	}
	of, ok := j.plan.Carries(at)
	if !ok {
		return fmt.Errorf("nothing written reads %s: %s does not have its rows", a.Arg(0), j)
	}
	t := newTap(of)
	lib := s.lib
	s.lib = s.lib.With(t.conn())
	defer func() { s.lib = lib }()
	if _, err := s.compileTap(j, stages); err != nil {
		missing := t.fill(whole.Schema)
		if missing == nil {
			return err
		}
		if _, again := s.compileTap(j, stages); again != nil {
			return err
		}
		s.Screen.Note(fmt.Sprintf("%s does not carry %s, which nothing written reads: shown as null", j, strings.Join(missing, ", ")))
	}
	if m[1] != "" {
		stages = append(stages, "where "+m[1])
	}
	c, err := s.compileTap(j, stages)
	if err != nil {
		return err
	}
	stop, over, err := j.Tap(at, t.take)
	if err != nil {
		return err
	}
	defer stop()
	t.over = over
	if j.State() == job.Paused {
		s.Screen.Note(fmt.Sprintf("%s is paused; rows come when it goes on", j))
	}
	out := c.Script.Writes[0]
	v, err := view.New(s.Screen, s.viewOptions(out.In), out.Schema)
	if err != nil {
		return err
	}
	if m[2] != "" {
		n, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil || n == 0 {
			return a.Usage("limit takes a number of rows, not %s", m[2])
		}
		v = &firstRows{v, n}
	}
	start := time.Now()
	stats, stopped, err := s.watch(c, v)
	if stats != nil {
		s.sumUp(v, stats, time.Since(start), stopped)
	}
	if n := t.missed.Load(); n > 0 && err == nil {
		s.Screen.Note(fmt.Sprintf("%s came faster than they could be looked at and are not shown", plural(n, "row")))
	}
	return err
}

// compileTap compiles stages behind the tap, with the constants and functions of the job's script.
func (s *Session) compileTap(j *sessionJob, stages []string) (*planner.Compiled, error) {
	text := tapName + "()\n"
	for _, g := range stages {
		text += "|> " + g + "\n"
	}
	tree, _ := syntax.Parse(typedName, j.Text())
	set := map[string]string{}
	for _, stmt := range tree.Stmts {
		switch x := stmt.(type) {
		case *syntax.Param:
			if v, ok := j.plan.Options.Set[x.Name.Name]; ok {
				set[x.Name.Name] = v
			}
		case *syntax.Let, *syntax.Fn, *syntax.Use:
		default:
			continue
		}
		text += tree.Source.Slice(stmt.Range()) + "\n"
	}
	c, diags, err := planner.Compile(".tap", text, s.lib, s.env(), planner.Options{Set: set, Parallelism: 1, Print: &types.ConnArgs{Name: feedName}})
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, &ScriptError{Diags: slices.DeleteFunc(diags, func(d check.Diagnostic) bool { return d.Severity != syntax.SevError })}
	}
	return c, nil
}

// tappable are the names that .tap takes.
func (j *sessionJob) tappable() []string {
	var out []string
	for _, x := range j.check.Streams {
		if x.Name != "" {
			out = append(out, x.Name)
		}
	}
	for _, x := range j.check.Sources {
		out = append(out, x.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// cut finds where the rows of a stream can be had in the running job: the stable name of the last stage with an operator of its
// own, or of the source, what it emits in whole, and the stages behind it, which are run once more for whoever looks.
func (j *sessionJob) cut(s *Session, name string) (at string, whole types.Stream, stages []string, err error) {
	for _, x := range j.check.Sources {
		if x.Name == name {
			return name, x.Out, nil, nil
		}
	}
	i := slices.IndexFunc(j.check.Streams, func(x *check.Stream) bool { return x.Name == name })
	if i < 0 {
		if m := syntax.Suggest(name, j.tappable()); m != "" {
			return "", whole, nil, fmt.Errorf("%s has no stream or source %s; did you mean %s?", j, name, m)
		}
		return "", whole, nil, fmt.Errorf("%s has no stream or source %s that something written reads; it has %s", j, name, strings.Join(j.tappable(), ", "))
	}
	tree, _ := syntax.Parse(typedName, j.Text())
	for x := j.check.Streams[i]; ; x = x.From.Stream {
		texts := stageTexts(tree, x.Name)
		for k, g := range slices.Backward(x.Stages) {
			def := s.lib.StageDef(g.Sig.Name)
			switch {
			case len(g.More) > 0 || g.Sig.Items == types.StreamList || len(texts) != len(x.Stages) && def.New == nil:
				return "", whole, nil, fmt.Errorf("%s cannot be tapped: it comes from `%s` in %s; tap what flows in there", name, g.Sig.Name, x.Name)
			case def.Steps != nil:
				stages = append([]string{texts[k]}, stages...)
			case def.New != nil:
				return g.Args.ID, g.Out, stages, nil
			}
		}
		switch {
		case len(x.Feeds) > 0:
			return "", whole, nil, fmt.Errorf("%s cannot be tapped: several stages write %s; tap one of the streams that do", name, x.Name)
		case x.From.Source != nil:
			return x.From.Source.Name, x.From.Source.Out, stages, nil
		}
	}
}

// stageTexts are the stages of a named stream as they were written.
func stageTexts(tree *syntax.Script, name string) (out []string) {
	for _, stmt := range tree.Stmts {
		if x, ok := stmt.(*syntax.Stream); ok && x.Name.Name == name {
			for _, g := range x.Pipeline.Stages {
				out = append(out, tree.Source.Slice(g.Span))
			}
		}
	}
	return out
}

// firstRows shows the first rows only. A stage could not cut the changes of an updating stream.
type firstRows struct {
	view.View
	left int64
}

// Add takes rows until there are enough.
func (f *firstRows) Add(b *vec.Batch) error {
	if n := int64(b.Rows()); n > f.left {
		rows := make([]uint32, f.left)
		for i := range rows {
			rows[i] = uint32(b.Row(i))
		}
		b = b.Select(rows)
	}
	f.left -= int64(b.Rows())
	if err := f.View.Add(b); err != nil || f.left > 0 {
		return err
	}
	return view.ErrEnough
}
