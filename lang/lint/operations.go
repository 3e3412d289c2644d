package lint

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/ebb-lang/ebb/lang/check"
	"github.com/ebb-lang/ebb/lang/syntax"
	"github.com/ebb-lang/ebb/lang/types"
)

// O: jobs that run for others: rows that fail, secrets, outputs that meet.
var _ = define(
	Rule{
		Code: "O901", Name: "failing-row-unsaid", Severity: syntax.SevWarn, Fix: Unsafe,
		Text: "A job has a stage, or a source with a `time`, whose expressions fail for some rows, and does not say what becomes of those.",
		Why: "Text that is no number, an index past the end and a division by zero fail, an event time must not be null, and one such row stops the job. `on_error into NAME` sends it elsewhere " +
			"with the reason, `on_error drop` counts it, and `on_error fail` says that stopping is meant. An output takes no `on_error`: what its `partition_by` computes belongs into a `derive` " +
			"before it. There is one finding a stage.",
		Bad:   "csv(\"orders.csv\") schema { id: string, amount: float }\n    |> derive n = int(id)\n    |> into jsonl(\"orders.jsonl\")\n",
		Good:  "csv(\"orders.csv\") schema { id: string, amount: float }\n    |> derive n = int(id) on_error drop\n    |> into jsonl(\"orders.jsonl\")\n",
		Check: mayFail,
	},
	Rule{
		Code: "O902", Name: "secret-in-script", Severity: syntax.SevError, Fix: Unsafe,
		Text: "A password, key or token stands in the options of a connector, or in a setting.",
		Why: "Scripts are copied, shown and kept in repositories, and every checkpoint holds the text of its script. `env(\"NAME\")` takes the secret from the environment of the job. " +
			"A secret that was ever committed should be changed.",
		Bad:   "csv(\"orders.csv\") |> into csv(\"https://ada:" + "lovelace1815@example.com/orders.csv\")\n",
		Good:  "csv(\"orders.csv\") |> into csv(env(\"ORDERS_URL\") ?? \"orders_out.csv\")\n",
		Check: secrets,
	},
	Rule{
		Code: "O903", Name: "dead-letters-come-back", Severity: syntax.SevError,
		Text: "Rows that failed or came late are written to where the source reads.",
		Why:  "They are read again, fail again, and are written again: the file grows without end. Write them outside of the folder or pattern that the source reads.",
		Bad: "source logs = jsonl([\"logs.jsonl\", \"bad.jsonl\"], follow: true)\n    schema { service: string }\n    on_error into bad\n" +
			"logs |> into csv(\"logs.csv\")\nbad |> into jsonl(\"bad.jsonl\")\n",
		Good: "source logs = jsonl([\"logs.jsonl\", \"more.jsonl\"], follow: true)\n    schema { service: string }\n    on_error into bad\n" +
			"logs |> into csv(\"logs.csv\")\nbad |> into jsonl(\"bad.jsonl\")\n",
		Check: deadLetters,
	},
	Rule{
		Code: "O904", Name: "one-place-twice", Severity: syntax.SevWarn,
		Text: "Two jobs write to one place, or keep their checkpoints in one folder. Two outputs of one script in one place are an error.",
		Why: "Each replaces what the other wrote, and what a rollback takes back is perhaps that of the other. Give each a place of its own; in one script declare the output once, " +
			"`sink out = csv(…)`, and send both streams `into out`. Scripts of different folders are not compared unless the path is absolute, nor are the examples of a page.",
		Bad: "-- a.ebb --\ncsv(\"orders.csv\") |> where amount > 15 |> into csv(\"out.csv\")\n" +
			"-- b.ebb --\ncsv(\"orders.csv\") |> where amount <= 15 |> into csv(\"out.csv\")\n",
		Good: "-- a.ebb --\ncsv(\"orders.csv\") |> where amount > 15 |> into csv(\"large.csv\")\n" +
			"-- b.ebb --\ncsv(\"orders.csv\") |> where amount <= 15 |> into csv(\"small.csv\")\n",
		Gather: places,
		Across: onePlace,
	},
)

// mayFail: O901.
func mayFail(p *Pass) {
	if !p.writes() {
		return
	}
	f := p.flow()
	leads := f.leads()
	p.mayLackTime(f, leads)
	done := map[*syntax.Stage]bool{}
	for _, s := range p.Stages {
		if s.Checked.Args.OnError.Mode != "" || done[s.Tree] || !leads[end{stage: s.Checked}] {
			continue
		}
		at, what := failing(s.exprs)
		if what == "" {
			at = s.Tree.Name.Span
		}
		if what == "" && !fails(s.Checked.Args) {
			continue
		}
		done[s.Tree] = true
		message := "a row for which the stage fails stops the job"
		if what != "" {
			message = fmt.Sprintf("a row for which `%s` fails stops the job", clip(what))
		}
		p.Report(at, message, whatBecomes, oneClause(s.Tree, "on_error drop", Unsafe))
	}
	for _, w := range p.Checked.Writes { // partition_by
		if t := f.targets[w.Pos]; w.Conn != nil && t != nil {
			if at, what := failing(p.within(t.Span)); what != "" {
				p.Report(at, fmt.Sprintf("a row for which `%s` fails stops the job", clip(what)), "compute it in a `derive` with `on_error` before, and partition by that column", nil)
			}
		}
	}
}

const whatBecomes = "say what becomes of it: `on_error into NAME`, `on_error drop`, or `on_error fail` if the job should stop"

// mayLackTime finds sources whose event time may fail, or be null by the schema. One that was guessed says nothing.
func (p *Pass) mayLackTime(f *flow, leads map[end]bool) {
	for _, src := range p.Checked.Sources {
		in := f.inputs[src.Pos]
		if in == nil || in.Time == nil || src.Time == nil || src.OnError.Mode != "" || !leads[end{source: src}] {
			continue
		}
		at, what := failing(p.within(in.Time.Span))
		message := fmt.Sprintf("a row for which `%s` fails stops the job", clip(what))
		if what == "" {
			if !src.Time.Type.Nullable || src.Info.Inferred || in.Time.Expr == nil {
				continue
			}
			at, message = in.Time.Expr.Span, fmt.Sprintf("a row without `%s` stops the job: each needs an event time", clip(in.Time.Expr.Text))
		}
		p.Report(at, message, whatBecomes, insert(in.Time.Span, " on_error drop", Unsafe, "add `on_error drop`"))
	}
}

// failing finds the first part of some expressions that fails for some rows, and how it is written; "" if there is none.
func failing(exprs []*check.Seen) (at syntax.Span, what string) {
	for _, e := range exprs {
		for _, n := range deepest(e, (*types.Expr).Fails) {
			return e.Span(n), e.Written(n)
		}
	}
	return at, ""
}

// fails reports whether an expression of a stage may fail; it may stand elsewhere, as the argument of a pipe.
func fails(a *types.StageArgs) bool {
	found := false
	look := func(e *types.Expr) { found = found || e.Any((*types.Expr).Fails) }
	for _, list := range [][]types.Item{a.Items, a.By, a.Per, a.Post} {
		for _, it := range list {
			look(it.Expr)
		}
	}
	for _, c := range a.Aggs {
		for _, e := range c.Args {
			look(e)
		}
	}
	for _, b := range a.Branches {
		look(b.When)
	}
	return found
}

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// Secrets: options that have the name of one, and texts that look like one.
var (
	secretName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|_)(password|passwd|passphrase|pwd|secret|token|credentials?|api_?key|access_?key|private_?key|secret_?key|sas)($|_)`)
	})
	secretText = sync.OnceValue(func() []*regexp.Regexp {
		return []*regexp.Regexp{
			regexp.MustCompile(`://[^/\s:@]+:[^/\s@]+@`),                      // a password in a URL
			regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`),                 // AWS
			regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`),          //
			regexp.MustCompile(`\b(ghp|gho|ghs|ghu)_[0-9A-Za-z]{36,}\b`),      // GitHub
			regexp.MustCompile(`\bgithub_pat_[0-9A-Za-z_]{40,}\b`),            //
			regexp.MustCompile(`\bxox[abprs]-[0-9A-Za-z-]{10,}`),              // Slack
			regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}\b`),                   // Google
			regexp.MustCompile(`\bsk_live_[0-9A-Za-z]{20,}`),                  // Stripe
			regexp.MustCompile(`(?i)\bbearer\s+[0-9A-Za-z._~+/-]{16,}`),       //
			regexp.MustCompile(`\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.`), // JSON web token
			regexp.MustCompile(`(?i)[?&;](password|passwd|pwd|secret|token|api_?key|access_?key|sig|signature)=[^&\s{$]+`),
		}
	})
)

// secrets: O902. It looks at the text alone: a script that is wrong otherwise has its secrets, too.
func secrets(p *Pass) {
	given := map[string]*syntax.Expr{} // constants by their names
	for _, st := range p.Tree.Stmts {
		switch st := st.(type) {
		case *syntax.Let:
			given[st.Name.Name] = st.Expr
		case *syntax.Param:
			if st.Default != nil {
				given[st.Name.Name] = st.Default
			}
		}
	}
	done := map[syntax.Pos]bool{}
	for _, st := range p.Tree.Stmts {
		set, is := st.(*syntax.Set)
		if !is || set.Value == nil {
			continue
		}
		for _, t := range set.Value.Tokens {
			if (t.Kind == syntax.KindString || t.Kind == syntax.KindRaw) && looksSecret(syntax.Unquote(t.Text)) {
				p.Report(t.Span, fmt.Sprintf("a secret stands in the value of `%s`", set.Key.Name), "take it from the environment: `env(\"NAME\")`", nil)
			}
		}
	}
	p.calls(func(c *syntax.Call) {
		for i, a := range c.Args {
			option := ""
			if a.Name != nil {
				option = a.Name.Name
			}
			for e, deep := a.Expr, 0; e != nil && deep < 10; deep++ {
				var next *syntax.Expr
				for _, t := range e.Tokens {
					text := ""
					switch t.Kind {
					case syntax.KindString, syntax.KindRaw:
						text = syntax.Unquote(t.Text)
					case syntax.KindIdent:
						if len(e.Tokens) == 1 {
							next = given[t.Text]
						}
						continue
					default:
						continue
					}
					// Of an option with the name of a secret a text that is all there is, so that env("X") stays.
					if done[t.Span.Start] || !(text != "" && secretName().MatchString(option) && len(e.Tokens) == 1) && !looksSecret(text) {
						continue
					}
					done[t.Span.Start] = true
					name := variable(c, i, option)
					with := fmt.Sprintf("env(%q) ?? \"\"", name)
					if len(e.Tokens) > 1 {
						with = "(" + with + ")"
					}
					p.Report(t.Span, fmt.Sprintf("a secret stands in the options of `%s`", c.Name.Name), fmt.Sprintf("take it from the environment: `env(%q)`", name),
						replace(t.Span, with, Unsafe, fmt.Sprintf("take it from `env(%q)`", name)))
				}
				e = next
			}
		}
	})
}

func looksSecret(text string) bool {
	for _, r := range secretText() {
		if r.MatchString(text) {
			return true
		}
	}
	return false
}

// variable is the name of an environment variable for an option of a call.
func variable(c *syntax.Call, i int, option string) string {
	if option == "" {
		option = "url"
		if i > 0 {
			option = fmt.Sprint(i + 1)
		}
	}
	return strings.ToUpper(c.Name.Name + "_" + option)
}

// calls visits the calls of connectors as they are written.
func (s *Script) calls(visit func(*syntax.Call)) {
	input := func(i *syntax.Input) { visit(i.Call) }
	target := func(t *syntax.Target) {
		if t.Call != nil {
			visit(t.Call)
		}
	}
	for _, st := range s.Tree.Stmts {
		if sink, is := st.(*syntax.SinkStmt); is && sink.Call != nil {
			visit(sink.Call)
		}
		syntax.Ends(st, input, target)
	}
}

// deadLetters: O903.
func deadLetters(p *Pass) {
	if p.Facts == nil {
		return
	}
	f := p.flow()
	for _, w := range p.Checked.Writes {
		t := f.targets[w.Pos]
		if w.Conn == nil || t == nil {
			continue
		}
		how := p.Facts.Writes(w)
		place := how.Place
		if place == "" {
			continue
		}
		sources := map[*check.Source]bool{}
		f.letters(w.From, func(s *check.Source) { sources[s] = true })
		for _, src := range p.Checked.Sources { // in their order
			if !sources[src] {
				continue
			}
			if takes := p.Facts.Reads(src).Takes; takes(place) || takes(how.File) {
				p.Report(t.Span, fmt.Sprintf("rows of `%s` that failed or came late go to %q, which `%s` reads", src.Name, place, src.Name), "write them where the source does not read", nil)
				break
			}
		}
	}
}

// letters calls visit for the sources whose rows, failed or late, are among those of a node.
func (f *flow) letters(n check.Node, visit func(*check.Source)) {
	seen := map[check.Node]bool{}
	var node func(check.Node)
	stages := map[*check.Stage]bool{}
	var stage func(*check.Stage)
	stream := func(s *check.Stream) {
		for _, feed := range s.Feeds {
			switch {
			case feed.Kind == "error" && feed.Source != nil:
				visit(feed.Source)
			case (feed.Kind == "error" || feed.Kind == "late") && feed.Stage != nil:
				f.up(feed.Stage, func(e end) bool {
					if e.source != nil {
						visit(e.source)
					}
					return true
				})
			case feed.Stage != nil:
				stage(feed.Stage)
			case feed.Stream != nil:
				node(check.Node{Stream: feed.Stream})
			}
		}
		node(s.From)
	}
	stage = func(s *check.Stage) {
		if stages[s] {
			return
		}
		stages[s] = true
		for _, m := range s.More {
			node(m)
		}
		if p, known := f.place[s]; known {
			node(check.Node{Stream: p.stream})
		}
	}
	node = func(n check.Node) {
		if n.Stream == nil || seen[n] {
			return
		}
		seen[n] = true
		for _, s := range n.Stream.Stages {
			stage(s)
		}
		stream(n.Stream)
	}
	node(n)
}

// spot is a file or a folder: a path, and the folder of the script if the path is relative.
type spot struct{ dir, name string }

// placed is what a script writes to a spot.
type placed struct {
	spot
	path string // as it is written
	at   syntax.Span
	told string // how another script speaks of it
}

// jobPlaces is where a script keeps its checkpoints and its outputs.
type jobPlaces struct{ states, outputs []placed }

// places finds the jobPlaces of a script.
func places(p *Pass) any {
	var all jobPlaces
	if p.Facts == nil {
		return all
	}
	dir := folder(p.Tree.Source.Name)
	put := func(name, written string, at syntax.Span, told string) placed {
		x := placed{spot{dir, name}, written, at, told}
		if path.IsAbs(written) {
			x.dir = ""
		}
		return x
	}
	if dir, ok := p.Checked.Set["checkpoint.dir"].(string); ok && p.writes() {
		for _, st := range p.Tree.Stmts {
			if set, is := st.(*syntax.Set); is && set.Key.Name == "checkpoint.dir" {
				all.states = append(all.states, put(path.Clean(dir), dir, set.Value.Span, p.Tree.Source.Name))
			}
		}
	}
	f := p.flow()
	own := map[spot]bool{}
	for _, w := range p.Checked.Writes {
		t := f.targets[w.Pos]
		if w.Conn == nil || t == nil {
			continue
		}
		name := p.Facts.Writes(w).Place
		if x := put(name, name, t.Span, w.Pos.String()); name != "" && !own[x.spot] {
			own[x.spot] = true
			all.outputs = append(all.outputs, x)
		}
	}
	return all
}

// onePlace: O904.
func onePlace(jobs []Gathered) {
	type first struct{ name, told string }
	states, outputs := map[spot]first{}, map[spot]first{}
	tell := func(known map[spot]first, p *Pass, list []placed, message, help string) {
		for _, x := range list {
			was, taken := known[x.spot]
			if !taken {
				known[x.spot] = first{p.Tree.Source.Name, x.told}
			} else if was.name != p.Tree.Source.Name {
				p.Report(x.at, fmt.Sprintf(message, x.path, was.told), help, nil)
			}
		}
	}
	for _, j := range jobs {
		all := j.What.(jobPlaces)
		tell(states, j.Pass, all.states, "another job keeps its checkpoints in %q, too: %s", "give each job a folder of its own")
		tell(outputs, j.Pass, all.outputs, "another job writes to %q, too: %s", "give each job an output of its own")
	}
}

func folder(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}
