package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// stageUse is one use of a stage while it is checked.
type stageUse struct {
	c     *checker
	run   *pipeline
	stage *syntax.Stage
	sig   *types.StageSig
	in    flow
	args  *types.StageArgs
	made  *Stage
	more  []flow // further inputs
	ok    bool   // nothing wrong so far, and the rows are known
}

// stage checks a stage and moves the rows of the run behind it.
func (c *checker) stage(r *pipeline, s *syntax.Stage) {
	name := s.Name.Name
	sig := c.env.Stage(name)
	pipe := c.lookup(c.frame.file, name)
	switch {
	case pipe != nil && pipe.kind == "pipe" && s.Call:
		c.expand(r, s, pipe)
		return
	case sig == nil:
		c.unknownStage(s, pipe)
		r.rows.ok = false
		return
	case s.Call:
		c.fault(s.Name.Span, "C307", fmt.Sprintf("`%s` is a stage and takes its arguments without parentheses", name), "only pipes are called: `|> NAME(…)`")
		r.rows.ok = false
		return
	}
	u := &stageUse{c: c, run: r, stage: s, sig: sig, in: r.rows, ok: r.rows.ok}
	u.args = &types.StageArgs{Name: sig.Name, Pos: c.place(s.Name.Span)}
	u.args.ID = r.stream.Name + "/" + r.ids.next(r.pipes+strings.ReplaceAll(name, " ", "_"))
	u.made = &Stage{Sig: sig, Args: u.args}
	u.clauses()
	u.items()
	u.output()
}

// bad notes an error of the stage.
func (u *stageUse) bad(at syntax.Span, code, message, help string) {
	u.c.fault(at, code, message, help)
	u.ok = false
}

// need notes whether a part of the stage was right.
func (u *stageUse) need(ok bool) { u.ok = u.ok && ok }

// output ends the stage: what flows out of it, and the next stage's input.
func (u *stageUse) output() {
	r, sig := u.run, u.sig
	if sig.Ends || sig.Items == types.Branches {
		r.ended = u.stage
		if r.named {
			u.bad(u.stage.Name.Span, "C311", fmt.Sprintf("`%s` ends the pipeline, but a `stream` needs rows at its end", u.stage.Name.Name),
				"let the rows go on with `tee`, or write a pipeline of its own: `"+r.stream.Name+" |> "+u.stage.Name.Name+" …`")
			return
		}
	}
	if sig.Items == types.Sink && sig.Ends {
		u.seen()
		u.target("into", u.run.node())
		return
	}
	if !u.ok {
		u.targets()
		r.rows.ok = r.rows.ok && keeps(sig.Items)
		return
	}
	in := []types.Stream{u.in.rows}
	for _, m := range u.more {
		in = append(in, m.rows)
		u.made.More = append(u.made.More, m.node)
	}
	u.made.In = in
	out, err := sig.Output(in, u.args)
	if err != nil {
		u.stageError(err)
		r.rows.ok = r.rows.ok && keeps(sig.Items)
		return
	}
	if twice := out.Schema.Duplicate(); twice != "" {
		u.bad(u.stage.Name.Span, "N105", fmt.Sprintf("two columns of the result are named `%s`", twice), "")
		r.rows.ok = false
		return
	}
	u.made.Out = out
	u.seen()
	r.stream.Stages = append(r.stream.Stages, u.made)
	r.rows.rows = out
	u.targets()
}

// target sends the rows at the end of the pipeline to the target of the stage.
func (u *stageUse) target(kind string, from Node) {
	r := u.run
	rows := u.in
	rows.node = from
	feed := Feed{Kind: kind, Stream: r.stream}
	if t := u.stage.Target; t != nil {
		if from.Stream != nil {
			feed.Stream = from.Stream
		} else if t.Name != nil {
			// Rows of a source enter a stream: the pipeline itself stands between them.
			d := u.c.lookup(u.c.frame.file, t.Name.Name)
			r.into = d != nil && d.kind == "stream"
		}
		u.c.deliver(t, rows, feed, r.stream.Name, &r.sides)
	}
	if !u.ok {
		r.rows.ok = false
	}
}

// targets sends the rows that leave a stage sideways to their targets: those of tee, of the branches of split, late rows
// and rows that failed.
func (u *stageUse) targets() {
	r := u.run
	side := flow{rows: u.in.rows, ok: u.in.ok}
	if t := u.stage.Target; t != nil {
		u.c.deliver(t, side, Feed{Stage: u.made, Kind: "tee"}, u.args.ID, &r.sides)
	}
	for i, k := range u.stage.Cases {
		to := u.c.deliver(k.Target, side, Feed{Stage: u.made, Kind: "branch", Branch: i}, fmt.Sprintf("%s/%d", u.args.ID, i+1), &r.sides)
		if i < len(u.args.Branches) {
			u.args.Branches[i].Target = to
		}
	}
	for _, k := range u.stage.Clauses {
		switch {
		case k.Target == nil:
		case k.Label == "late":
			u.args.Late.Target = u.c.deliver(k.Target, side, Feed{Stage: u.made, Kind: "late"}, u.args.ID+"/late", &r.sides)
		case k.Label == "on_error":
			errors := flow{rows: types.Stream{Schema: types.ErrorSchema, Bounded: u.in.rows.Bounded}, ok: true}
			u.args.OnError = u.c.onError(k, errors, Feed{Stage: u.made, Kind: "error"}, u.args.ID, &r.sides)
		}
	}
}

// stageError reports what the definition of a stage says about its use.
func (u *stageUse) stageError(err error) {
	at, code, help := u.stage.Name.Span, "C330", ""
	var e *types.StageError
	if errors.As(err, &e) {
		help = e.Help
		if e.Code != "" {
			code = e.Code
		}
		if k := u.clause(e.Clause); k != nil {
			at = k.Span
		}
		if n, is := strings.CutPrefix(e.Clause, "item:"); is {
			if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < len(u.stage.Items) {
				at = u.stage.Items[i].Span
			}
		}
	}
	u.bad(at, code, err.Error(), help)
}

// clause gives the clause of a label, nil if there is none.
func (u *stageUse) clause(label string) *syntax.Clause {
	for _, k := range u.stage.Clauses {
		if k.Label == label {
			return k
		}
	}
	return nil
}

// unknownStage reports a word that is no stage. other is what the script calls so, if anything.
func (c *checker) unknownStage(s *syntax.Stage, other *decl) {
	name, f := s.Name.Name, c.frame.file
	if other != nil && other.kind == "broken" {
		return
	}
	if other != nil && other.kind == "pipe" {
		c.fault(s.Name.Span, "C308", fmt.Sprintf("`%s` is a pipe and is called with parentheses", name), "write `|> "+name+"(…)`")
		return
	}
	if c.laterStage(s, name) || strings.HasSuffix(name, "join") && c.laterStage(s, "join") {
		return
	}
	if hint := otherStages[strings.ToLower(name)]; hint != "" {
		c.fault(s.Name.Span, "P002", fmt.Sprintf("unknown stage `%s`", name), hint)
		return
	}
	help := c.hidden(f, name)
	words := append(c.env.Names("stage"), c.visible(f, "pipe")...)
	words = slices.AppendSeq(words, maps.Keys(laterStages))
	slices.Sort(words)
	guess := ""
	switch {
	case help != "":
	case other != nil:
		help = fmt.Sprintf("it is %s; a stage is a word of the language, or a pipe: `|> NAME(…)`", other.what(f))
	case c.env.Conn(name) != nil:
		help = "`" + name + "` is a connector: write `|> into " + name + "(…)`"
	case s.Call && (c.env.Func(name) != nil || c.env.Agg(name) != nil):
		help = "`" + name + "` is a function: use it in a stage, for example `|> derive x = " + name + "(…)`"
		if c.env.Agg(name) != nil {
			help = "`" + name + "` is an aggregate: write `|> aggregate x = " + name + "(…)`"
		}
	default:
		meant := syntax.Suggest(name, slices.Compact(words))
		if c.laterStage(s, meant) {
			return
		}
		if guess = didYouMean(name, []string{meant}); guess == "" {
			help = "the stages are " + strings.Join(c.env.Names("stage"), ", ")
		}
	}
	c.fault(s.Name.Span, "P002", fmt.Sprintf("unknown stage `%s`%s", name, guess), help)
}

// laterStage reports that the catalog lacks a stage of the language, if it does.
func (c *checker) laterStage(s *syntax.Stage, name string) bool {
	help, later := laterStages[name]
	if !later || c.env.Stage(name) != nil {
		return false
	}
	c.fault(s.Name.Span, "C302", fmt.Sprintf("this version does not have the stage `%s` yet", name), help)
	return true
}

// laterStages are stages of the language that a catalog need not have yet, and what does a part of their work.
var laterStages = map[string]string{
	"join": "", "left join": "", "full join": "", "semi join": "", "anti join": "", "pattern": "",
	"dedup": "`aggregate amount = first(amount) by id` gives one row for each id",
	"top":   "rows that end can be put in order: `sort by amount desc |> limit 10`; the largest of each key is `aggregate best = max(amount) by customer`",
}

// languageClauses are the labels that the language gives to stages, whether a catalog has them yet or not.
var languageClauses = map[string][]string{"derive": {"per", "rows", "within", "late"}, "sort": {"by", "window"}, "limit": {},
	"aggregate": {"by", "window", "emit", "late", "retain"}, "top": {"by", "per", "window", "keep", "emit", "late"},
	"dedup": {"by", "within", "retain", "keep", "emit", "late"}}

// otherStages are what other languages call our stages.
var otherStages = map[string]string{
	"filter":    "rows are filtered by `where`",
	"having":    "filter behind the aggregate: `|> aggregate … |> where …`",
	"where_":    "write `where`",
	"distinct":  "`aggregate n = count() by customer` gives one row for each value",
	"unique":    "`aggregate n = count() by customer` gives one row for each value",
	"group":     "write `aggregate total = sum(amount) by customer`",
	"group by":  "write `aggregate total = sum(amount) by customer`",
	"groupby":   "write `aggregate total = sum(amount) by customer`",
	"summarize": "write `aggregate total = sum(amount) by customer`",
	"summarise": "write `aggregate total = sum(amount) by customer`",
	"agg":       "write `aggregate total = sum(amount) by customer`",
	"reduce":    "write `aggregate total = sum(amount) by customer`",
	"count":     "write `aggregate n = count()`",
	"order":     "write `sort by amount desc`",
	"orderby":   "write `sort by amount desc`",
	"order by":  "write `sort by amount desc`",
	"order_by":  "write `sort by amount desc`",
	"map":       "`derive` adds columns, `select` chooses and computes them",
	"project":   "columns are chosen by `select`",
	"keep":      "columns are chosen by `select`, rows by `where`",
	"pick":      "columns are chosen by `select`",
	"extend":    "columns are added by `derive`",
	"mutate":    "columns are added by `derive`",
	"with":      "columns are added by `derive`",
	"let":       "columns are added by `derive`",
	"set":       "columns are added by `derive`",
	"take":      "write `limit 10`",
	"head":      "write `limit 10`",
	"first":     "write `limit 10`; the first value of each key is `aggregate amount = first(amount) by id`",
	"skip":      "streams have no stage that skips rows; filter with `where`",
	"offset":    "streams have no stage that skips rows; filter with `where`",
	"remove":    "columns are dropped by `drop`, rows by `where not (…)`",
	"exclude":   "columns are dropped by `drop`, rows by `where not (…)`",
	"explode":   "write `unnest tags as tag`",
	"flatten":   "write `unnest tags as tag`",
	"flatmap":   "write `unnest tags as tag`",
	"flat_map":  "write `unnest tags as tag`",
	"mv_expand": "write `unnest tags as tag`",
	"window":    "a window is a clause: `aggregate n = count() window tumbling(1m)`",
	"to":        "write `into jsonl(\"out.jsonl\")`",
	"write":     "write `into jsonl(\"out.jsonl\")`",
	"sink":      "write `into jsonl(\"out.jsonl\")`",
	"output":    "write `into jsonl(\"out.jsonl\")`",
	"print":     "a pipeline without `into` is printed",
	"show":      "a pipeline without `into` is printed",
	"merge":     "write `union other`",
	"concat":    "write `union other`",
	"append":    "write `union other`",
	"branch":    "write `split { when amount > 100 => large else => small }`",
	"case":      "write `split { when amount > 100 => large else => small }`",
	"match":     "rows are found by `where`",
	"check":     "write `assert amount >= 0`",
	"expect":    "write `assert amount >= 0`",
}
