package testrun

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/exec/sim"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/stdlib"
	"github.com/ebb-lang/ebb/stdlib/conn"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// testRun carries out the steps of a test, one after the other, on one job.
type testRun struct {
	script *Script
	test   *check.Test
	job    *job
	at     syntax.Span // of the step at hand
	rows   int         // that were given
	broken error       // of the job: it stands still since
	failed syntax.Span

	ordered map[string]bool     // the outputs whose rows come in one order under every schedule
	in      map[string][]string // by stage: the outputs that its rows come from
	ports   map[string]string   // outputs beside the main one
}

func newTestRun(s *Script, t *check.Test, st *storm) *testRun {
	w := &world{given: map[string]*conn.Given{}, replaced: map[string]bool{}, sinks: map[types.Place]bool{}, outputs: map[string]*output{}}
	h := fnv.New64()
	h.Write([]byte(t.What))
	seed := uint64(1)
	if st != nil {
		seed = st.seed
	}
	j := &job{script: s, text: s.textOf(t), world: w, memory: disk.NewSim(), clock: &sim.Clock{At: start}, width: max(1, s.options.Parallelism), storm: st,
		rng: rand.New(rand.NewPCG(seed, h.Sum64()))}
	j.lib = w.catalog()
	for _, x := range t.Steps {
		if x.Source != nil {
			w.replaced[x.Source.Name] = true
			w.given[x.Source.Name] = &conn.Given{}
		}
		if x.Kind == "sink" {
			w.sinks[x.To] = true
		}
	}
	r := &testRun{script: s, test: t, job: j, at: t.Span}
	j.edit = r.order
	return r
}

// order notes which outputs have their rows in one order: those of one source, behind stages that keep it.
func (r *testRun) order(p *planner.Plan) {
	r.ordered = map[string]bool{}
	for _, n := range p.Nodes {
		if n.Kind != planner.Write || n.Write.Conn == nil {
			continue
		}
		name := sinkName(n.Write.Conn.Pos)
		if n.Write.Conn.Name == captureName {
			name = streamName(n.Write.Conn.Args["name"].(string))
		}
		_, twice := r.ordered[name]
		r.ordered[name] = !twice && keepsOrder(n)
	}
}

func keepsOrder(n *planner.Node) bool {
	for n.Kind != planner.Scan {
		spreads := n.Kind == planner.Apply && !n.Traits.RowWise && n.Traits.Spread != spec.InOrder
		if spreads || len(n.In) != 1 {
			return false
		}
		n = n.In[0].Node
	}
	return true
}

// do carries out the steps and returns what is not as it should be.
func (r *testRun) do() (out []Failure) {
	for _, x := range r.test.Steps {
		r.at = x.Span
		if x.Verb == "expect" {
			out = append(out, r.expect(x)...)
			continue
		}
		if r.broken != nil || r.job.dead {
			continue
		}
		if err := r.step(x); err != nil {
			r.broken, r.failed = err, x.Span
		}
	}
	if len(r.test.Steps) > 0 && r.broken == nil && !r.job.dead {
		r.fault(r.job.close())
	}
	if r.broken != nil {
		out = append([]Failure{{At: r.failed, Text: "the job failed: " + r.broken.Error()}}, out...)
	}
	return out
}

func (r *testRun) fault(err error) {
	if err != nil && r.broken == nil {
		r.broken, r.failed = err, r.at
	}
}

func (r *testRun) step(x *check.TestStep) error {
	j := r.job
	switch x.Verb {
	case "given":
		list, err := r.given(x)
		if err != nil {
			return err
		}
		for _, g := range list {
			r.rows += g.batch.N + len(g.failed)
		}
		return j.give(x.Source.Name, list)
	case "advance":
		return j.advance(x.Number)
	case "checkpoint":
		id, err := j.checkpoint(x.Text)
		if err == nil && id == 0 {
			return errors.New("the job has come to its end, so there is nothing to take a checkpoint of")
		}
		j.taken = append(j.taken, checkpointed{id, x.Text})
		return err
	case "crash":
		j.crash()
	case "restore":
		if x.Number > 0 {
			j.width = int(x.Number)
		}
		if j.launched != nil {
			j.crash()
		}
		return j.settle()
	case "rollback":
		id, err := j.find(x.Text, x.Number)
		if err != nil {
			return err
		}
		if err := j.rollback(id); err != nil {
			return err
		}
		return j.settle()
	}
	return nil
}

// gift is a batch that a step gives, and the rows before it that could not be read.
type gift struct {
	batch  *vec.Batch
	failed []*exec.RowError
}

// given returns the rows of a step in batches.
func (r *testRun) given(x *check.TestStep) (out []gift, err error) {
	if x.Conn != nil {
		return r.read(x)
	}
	rows := make([]map[string]any, len(x.Rows))
	var changes []vec.Change
	for i, row := range x.Rows {
		rows[i] = row.Values
		if row.Change != "" {
			if changes == nil {
				changes = make([]vec.Change, len(x.Rows))
			}
			changes[i] = changeOf(row.Change)
		}
	}
	for _, b := range batches(x.Schema, rows, changes) {
		out = append(out, gift{batch: b})
	}
	return out, nil
}

func changeOf(word string) vec.Change {
	for c := vec.Insert; c <= vec.Delete; c++ {
		if c.String() == word {
			return c
		}
	}
	return vec.Insert
}

// content is the call that reads the text of a step, and the file that the text stands in: the one that the source reads, if
// it is one.
func content(x *check.TestStep, env *exec.Env) *types.ConnArgs {
	call := *x.Conn
	call.Args = maps.Clone(call.Args)
	sig := stdlib.New().Conn(call.Name)
	for _, p := range sig.Params {
		if !p.Place {
			continue
		}
		name := x.Source.Name
		if list, _ := call.Args[p.Name].([]any); len(list) == 1 && list[0] != "-" && !strings.ContainsAny(list[0].(string), "*?[") {
			name = list[0].(string)
		}
		env.FS = &disk.Texts{FS: env.FS, Files: map[string]string{path.Clean(filepath.ToSlash(name)): x.Content}}
		call.Args[p.Name] = []any{name}
	}
	if call.Args["follow"] != nil {
		call.Args["follow"] = false
	}
	if call.Args["compression"] != nil {
		call.Args["compression"] = "none"
	}
	return &call
}

// read reads all rows of a connector, to its end.
func (r *testRun) read(x *check.TestStep) (out []gift, err error) {
	env := exec.OS().ReadOnly()
	env.FS = disk.ReadOnly{FS: r.script.files}
	env.Stdin = noInput()
	now := int64(start)
	env.Now = func() int64 { return now } // rates keep nobody waiting
	call := x.Conn
	if call == x.Source.Conn {
		call = content(x, env)
	}
	def := stdlib.New().ConnDef(call.Name)
	info, err := def.Info(call, &x.Source.Schema, env)
	if err != nil {
		return nil, err
	}
	if !info.Bounded {
		return nil, fmt.Errorf("`%s` has no end here: a test needs all of its rows", call.Name)
	}
	var failed []*exec.RowError
	keep := func(list []*exec.RowError) {
		for _, e := range list {
			e.Raw = strings.Clone(e.Raw)
			failed = append(failed, e)
		}
	}
	scan := &spec.Scan{Name: x.Source.Name, Args: call, Info: info, Schema: x.Source.Schema, Width: 1, OneSplit: true, Env: env, Hosts: []*exec.Host{{Env: env, Wake: func() {}}},
		Failures: func() *exec.Failures {
			return &exec.Failures{Mode: x.Source.OnError.Mode, Stats: env.Stats, Keep: keep}
		}}
	for i := range scan.Schema.Fields {
		scan.Columns = append(scan.Columns, i)
	}
	sources, err := def.Open(scan)
	if err != nil {
		return nil, err
	}
	tap := exec.NewTap(func(_ int, it exec.Item) {
		if it.Kind == exec.Rows {
			b := it.Batch.Dense()
			out = append(out, gift{&vec.Batch{N: b.N, Cols: b.Cols, Change: b.Change}, failed})
			failed = nil
		}
	})
	for _, s := range sources {
		for err == nil {
			var st exec.Status
			if st, err = s.Poll(tap); st == exec.Done {
				break
			}
			if st == exec.Idle { // it waits for its clock, or for a reader of its own
				now += int64(time.Millisecond)
				runtime.Gosched()
			}
		}
		err = errors.Join(err, s.Close())
	}
	if len(failed) > 0 {
		out = append(out, gift{batch(x.Source.Schema, nil), failed})
	}
	return out, err
}

// expect compares what there is with what is wanted.
func (r *testRun) expect(x *check.TestStep) []Failure {
	if r.broken == nil && !r.job.dead {
		if x.Ends {
			r.fault(r.job.end())
		} else {
			r.fault(r.job.settle())
		}
	}
	if x.Mode == "error" {
		err := r.broken
		switch {
		case err == nil:
			return []Failure{{At: x.Span, Text: fmt.Sprintf("the job did not fail; expected was an error with %q", x.Text)}}
		case !strings.Contains(err.Error(), x.Text):
			r.broken, r.job.dead = nil, true
			return []Failure{{At: x.Value.Span, Text: fmt.Sprintf("the job failed with another error\n  expected  %s\n  found     %s", x.Text, strings.ReplaceAll(err.Error(), "\n", "\n            "))}}
		}
		r.broken = nil
		r.job.dead = true
		return nil
	}
	if r.broken != nil {
		return nil
	}
	d := compare(x, r.have(x), x.Mode == "ordered" && (r.job.storm == nil || r.ordered[r.output(x)]))
	if d == nil {
		return nil
	}
	return []Failure{{At: x.Span, Text: d.Text(), Diff: d}}
}

// output is the name of the output that a step speaks of.
func (r *testRun) output(x *check.TestStep) string {
	if x.Kind == "sink" {
		return sinkName(x.To)
	}
	return streamName(x.Name.Name)
}

// have returns the rows of what a step speaks of: all changes, or those that are left.
func (r *testRun) have(x *check.TestStep) []Row {
	o := r.job.world.output(r.output(x))
	var rows []Row
	at := make([]int, len(x.Schema.Fields)) // a sink may have them in another order
	for i, f := range x.Schema.Fields {
		at[i] = o.schema.Index(f.Name)
	}
	for _, w := range o.rows {
		row := Row{Values: map[string]any{}, Change: w.change}
		for i, f := range x.Schema.Fields {
			if at[i] >= 0 {
				row.Values[f.Name] = w.values[at[i]]
			}
		}
		rows = append(rows, row)
	}
	if x.Mode == "changes" {
		return rows
	}
	return leftOf(x.Schema, rows)
}

// leftOf is what is left of rows of which some take others back.
func leftOf(schema types.Schema, rows []Row) []Row {
	gone := make([]bool, len(rows))
	last := map[string][]int{}
	for i, row := range rows {
		key := keyOf(schema, row.Values)
		if !row.Change.Retracts() {
			last[key] = append(last[key], i)
			continue
		}
		gone[i] = true
		if l := last[key]; len(l) > 0 {
			gone[l[len(l)-1]] = true
			last[key] = l[:len(l)-1]
		}
	}
	var out []Row
	for i, row := range rows {
		if !gone[i] {
			row.Change = vec.Insert
			out = append(out, row)
		}
	}
	return out
}

func keyOf(schema types.Schema, values map[string]any) string {
	var b strings.Builder
	for _, f := range schema.Fields {
		b.WriteString(format(f.Type, values[f.Name]))
		b.WriteByte(0)
	}
	return b.String()
}

func stack() string { return string(debug.Stack()) }
