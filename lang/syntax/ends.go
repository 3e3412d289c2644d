package syntax

// Stages lists the stages of a statement, nil where it has none.
func Stages(s Stmt) []*Stage {
	switch s := s.(type) {
	case *Pipe:
		return s.Stages
	case *Stream:
		return s.Pipeline.Stages
	case *PipelineStmt:
		return s.Pipeline.Stages
	}
	return nil
}

// Head is the connector call that a statement reads by itself, nil where it has none.
func Head(s Stmt) *Input {
	switch s := s.(type) {
	case *SourceStmt:
		return &s.Input
	case *Stream:
		return s.Pipeline.Input
	case *PipelineStmt:
		return s.Pipeline.Input
	}
	return nil
}

// Ends calls input for each connector call of a statement that rows come from, and target for each place where rows go,
// those that fail included. The call of a sink statement is neither: a target may name it.
func Ends(s Stmt, input func(*Input), target func(*Target)) {
	Head(s).Ends(input, target)
	for _, st := range Stages(s) {
		st.Ends(input, target)
	}
}

// Ends is Ends of one stage.
func (s *Stage) Ends(input func(*Input), target func(*Target)) {
	to := func(t *Target) {
		if t != nil {
			target(t)
		}
	}
	to(s.Target)
	for _, k := range s.Cases {
		to(k.Target)
	}
	for _, k := range s.Clauses {
		to(k.Target)
	}
	for _, item := range s.Items {
		item.Input.Ends(input, target)
	}
}

// Ends is Ends of an input; of none, nothing.
func (in *Input) Ends(input func(*Input), target func(*Target)) {
	if in == nil {
		return
	}
	input(in)
	if in.OnError != nil && in.OnError.Target != nil {
		target(in.OnError.Target)
	}
}
