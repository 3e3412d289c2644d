package syntax

// Pos is a place in a source text. Offset counts bytes from 0; Line and Column count from 1, Column in runes.
type Pos struct{ Offset, Line, Column int }

// Span is a half-open range of a source text.
type Span struct{ Start, End Pos }

// Source is one text and its name as diagnostics print it.
type Source struct {
	Name string
	Text string
}

// Script is a parsed text. Statements that did not parse are missing from Stmts; each left at least one Diagnostic.
type Script struct {
	Source   *Source
	Stmts    []Stmt
	Broken   []Ident // names that statements with errors would have defined, so that a checker need not call them unknown
	Comments []Token // in the order of the text

	tokens []Token // all others, for who lays the text out
	lost   []int   // tokens in front of which characters that mean nothing were left out
}

// Stmt is one statement.
type Stmt interface{ Range() Span }

// Range makes every node that embeds a Span a Stmt or at least locatable.
func (s Span) Range() Span { return s }

// Ident is a name as written; Name is without the @"…" quoting.
type Ident struct {
	Span
	Name string
}

// Expr is the source text of an expression, handed to expr-lang unparsed. Tokens are those of the span, without trivia.
type Expr struct {
	Span
	Source *Source
	Text   string
	Tokens []Token
}

// Item is one element of a comma-separated list: `EXPR`, `NAME = EXPR` or, in the argument list of a call, `NAME: EXPR`,
// with an optional order word after it.
type Item struct {
	Span
	Name  *Ident // nil if unnamed
	Expr  *Expr
	Order string // "", "asc" or "desc"
	Input *Input // of join and union: set where the item is a connector call; Expr is the text of the call, too
}

// Call is `NAME(ITEM, …)`: a connector, a window or a pipe.
type Call struct {
	Span
	Name Ident
	Args []*Item // named arguments are `name: EXPR`
}

// Target is where rows go: a connector call, or the name of a sink or stream.
type Target struct {
	Span
	Name   *Ident
	Call   *Call       // set instead of Name
	Schema *SchemaExpr // of a connector call, nil if none
}

type (
	// Use is `use "PATH"`.
	Use struct {
		Span
		Path   string
		PathAt Span
	}
	// Param is `param NAME: TYPE = EXPR`.
	Param struct {
		Span
		Name    Ident
		Type    *TypeExpr
		Default *Expr // nil: required
	}
	// Let is `let NAME = EXPR`.
	Let struct {
		Span
		Name Ident
		Expr *Expr
	}
	// FnParam is `NAME: TYPE` of a fn or pipe.
	FnParam struct {
		Span
		Name Ident
		Type *TypeExpr
	}
	// Fn is `fn NAME(PARAM, …) = EXPR`.
	Fn struct {
		Span
		Name   Ident
		Params []*FnParam
		Body   *Expr
	}
	// Pipe is `pipe NAME(PARAM, …) = STAGES`.
	Pipe struct {
		Span
		Name   Ident
		Params []*FnParam
		Stages []*Stage
	}
	// SourceStmt is `source NAME = CONNECTOR(…) CLAUSES`.
	SourceStmt struct {
		Span
		Name Ident
		Input
	}
	// SinkStmt is `sink NAME = CONNECTOR(…) [schema {…}]`.
	SinkStmt struct {
		Span
		Name   Ident
		Call   *Call
		Schema *SchemaExpr
	}
	// Stream is `stream NAME = PIPELINE`.
	Stream struct {
		Span
		Name     Ident
		Pipeline *Pipeline
	}
	// PipelineStmt is a bare pipeline.
	PipelineStmt struct {
		Span
		Pipeline *Pipeline
	}
	// Set is `set KEY = VALUE`; Key may contain dots.
	Set struct {
		Span
		Key   Ident
		Value *Expr
	}
	// Test is `test "WHAT" { STEPS }`.
	Test struct {
		Span
		What   string
		WhatAt Span
		Steps  []*TestStep
	}
	// TestStep is one line of a test: given, expect, advance, checkpoint, crash, restore, rollback.
	TestStep struct {
		Span
		Verb  string // given expect advance checkpoint crash restore rollback
		Mode  string // of expect: "", ordered, changes, error; of restore: "" or parallelism
		Name  *Ident // source of given, stream of expect
		File  *Ident // of expect instead of Name: the path of an output
		Value *Expr  // rows, error text, duration, parallelism or checkpoint
		Call  *Call  // of given: set where Value is a call, of a connector or a function
	}
)

// Input is a connector call with the clauses of a source. A pipeline that starts with a call may carry them, too.
type Input struct {
	Call    *Call
	Schema  *SchemaExpr
	Time    *TimeClause
	Key     []*Ident
	OnError *Clause
}

// TimeClause is `time EXPR [lag DUR] [idle DUR]`.
type TimeClause struct {
	Span
	Expr, Lag, Idle *Expr
}

// SchemaExpr is `{ NAME: TYPE, … }`.
type SchemaExpr struct {
	Span
	Fields []*FnParam
}

// TypeExpr is a type as written: a name with an optional format (`time(ms)`, `time("LAYOUT")`), `[T]`, `{a: T}`, each with an optional `?`.
type TypeExpr struct {
	Span
	Name     string      // bool int float string bytes time duration any; "" for lists and records
	Format   string      // text in the parentheses, unquoted; "" if none
	Quoted   bool        // Format was a string literal
	Elem     *TypeExpr   // list
	Record   *SchemaExpr // record
	Nullable bool
}

// Pipeline is a head and stages. Exactly one of From and Input is set.
type Pipeline struct {
	Span
	From   *Ident
	Input  *Input
	Stages []*Stage
}

// Stage is a name, arguments, clauses in any order, and the block of split or pattern.
type Stage struct {
	Span
	Name    Ident   // two-word names are joined by a blank: "left join"
	Items   []*Item // arguments
	Call    bool    // written NAME(…): a pipe call; Items are its arguments
	Target  *Target // of tee and into
	Clauses []*Clause
	Cases   []*Case // split
	Steps   []*Step // pattern
}

// Clause is a label and what follows it.
type Clause struct {
	Span
	Label  string  // by per on as within window emit late retain keep rows into on_error
	Word   string  // final changes drop into allow fail first last ties forever, where the label takes one
	Items  []*Item // expressions of by, per, on, as, within, retain, rows, and of `late allow`; two for `within [a, b]`
	Call   *Call   // of window
	Every  *Expr   // of `emit changes every EXPR`
	Name   *Ident  // of `as`
	Target *Target // of `late into` and `on_error into`
}

// Case is `when EXPR => TARGET` or `else => TARGET` (When is nil).
type Case struct {
	Span
	When   *Expr
	Target *Target
}

// Step is one step of a pattern.
type Step struct {
	Span
	Link     string // "" for the first, then, next
	Not      bool
	Name     Ident
	Cond     *Expr
	Min, Max *Expr // times m..n
	For      *Expr
}
