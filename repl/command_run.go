package repl

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/planner"
	"github.com/ebb-lang/ebb/repl/job"
	"github.com/ebb-lang/ebb/repl/view"
)

var _ = command(Command{
	Name: "run", Args: "[NAME] [--fresh] [--from ID] [--allow-dropped STAGE] [--set PARAM=VALUE] [--pause]", Group: "jobs", Most: 1,
	Summary: "start the pipelines that write into something as a background job",
	Text: "The job takes checkpoints in .ebb/NAME (.ebb/repl in a session without a file) unless the script sets checkpoint.dir. It goes on " +
		"from the newest one if there is one. What is defined later does not touch a job that runs.",
	Flags: []Flag{
		{"--fresh", "", "start from nothing and abandon the checkpoints that are there"},
		{"--from", "ID", "go on from the checkpoint with this number or name, or -N for the N-th before the newest"},
		{"--allow-dropped", "STAGE", "drop the state of STAGE if it does not fit the script any more; may be given several times"},
		{"--set", "PARAM=VALUE", "value of a param, for this job; may be given several times"},
		{"--pause", "", "the job stands still at first; .step lets it go on row by row, .resume as ever"},
	},
	Complete: func(s *Session, _ []string) []string { return s.jobNames() },
	Run:      runJob,
})

var jobName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

func runJob(s *Session, a *Args) error {
	name := a.Arg(0)
	if name == "" {
		name = s.name()
	} else if err := a.jobNamed(name); err != nil {
		return err
	}
	if a.Has("--fresh") && a.Has("--from") {
		return a.Usage("--fresh starts from nothing, --from from a checkpoint: give one of them")
	}
	if !s.writes() {
		return errors.New("nothing is written: a pipeline that ends in `|> into csv(\"out.csv\")` is what a job runs; one without is shown at once")
	}
	plan := s.opts.Plan
	plan.Set = maps.Clone(plan.Set)
	for _, kv := range a.All("--set") {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return a.Usage("--set takes PARAM=VALUE, not %q", kv)
		}
		if plan.Set == nil {
			plan.Set = map[string]string{}
		}
		plan.Set[k] = v
	}
	j, err := s.start(name, s.script.text(), plan, planner.Launch{Fresh: a.Has("--fresh"), From: a.Flags["--from"], AllowDropped: a.All("--allow-dropped")}, a.Has("--pause"))
	if err != nil {
		return startError(err)
	}
	s.Screen.Note(j.begins())
	return nil
}

// name is that of the session's job.
func (s *Session) name() string {
	if s.opts.Name == "" {
		return "repl"
	}
	return strings.TrimSuffix(filepath.Base(s.opts.Name), filepath.Ext(s.opts.Name))
}

// writes reports whether the script has a pipeline that writes.
func (s *Session) writes() bool {
	return slices.ContainsFunc(s.script.stmts, statement.writes)
}

// startError turns the error of a start into one that says what to do in a session.
func startError(err error) error {
	var refused *planner.RefusedError
	var locked *checkpoint.LockedError
	var script *job.ScriptError
	switch {
	case errors.As(err, &script):
		return &ScriptError{Diags: script.Diags}
	case errors.As(err, &locked):
		return fmt.Errorf("%w\n`.run OTHER` starts a job with a folder of its own", err)
	case errors.As(err, &refused):
		return fmt.Errorf("%w\n.run --fresh starts from nothing, .run --from ID from another checkpoint", err)
	}
	return err
}

// begins says in one line how a job was started.
func (j *sessionJob) begins() string {
	var out strings.Builder
	for _, n := range j.Notes() {
		out.WriteString(n + "\n")
	}
	from := "starts from the beginning"
	if m := j.From(); m != nil {
		named := ""
		if m.Name != "" {
			named = " " + m.Name
		}
		from = fmt.Sprintf("goes on from checkpoint %d%s, %s old: after row %s of the input%s, %s in flight put back", m.ID, named,
			view.Span(time.Since(time.Unix(0, m.Durable))), count(m.Stats["rows_in"]), j.Rewind().After(plural(j.Rewind().Rows, "row")), plural(m.FlightRows, "row"))
	}
	keeps := "; it takes no checkpoints: " + j.Why()
	if dir := j.Folder(); dir != "" {
		keeps = "; checkpoints go to " + dir
	}
	out.WriteString(fmt.Sprintf("%s %s%s", j, from, keeps))
	if j.State() == job.Paused {
		out.WriteString("; it stands still until .resume")
	}
	return out.String()
}
