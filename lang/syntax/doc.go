// Package syntax reads the text of an Ebb script: it lexes, parses and reports what is wrong with it.
//
// Parse turns a text into a Script, the tree of statements that the rest of the front end works on, and a list of
// Diagnostics; one run reports every error. Render prints a diagnostic with its source line and a caret.
//
// How it works: the lexer (lexer.go) never fails. The token stream is cut at statement starts, which the layout rule
// defines (a statement starts at the left margin), and each pipeline at its `|>` (cut.go). Every piece is parsed with
// participle by a small grammar of its own (grammar.go, leaves.go), so that an error costs one piece and no more;
// build.go turns the grammar structs into the tree. Expressions are not parsed here: expr.go finds where they end, and
// the checker hands their text to expr-lang.
//
// The package knows no library, no types and no schemas: it does not know which functions, aggregates or connectors
// exist, nor which clauses a stage takes. It does know the closed set of words that the grammar is made of (words.go).
package syntax
