package repl

import "io"

// A Screen is where a session shows things: a terminal, a pipe, or a test. Its methods may be called by any goroutine.
type Screen interface {
	// Write shows results. It never tears the line that is being typed.
	io.Writer
	// Note shows a message beside the results: on a terminal where it does not tear what is typed, else on standard error.
	Note(text string)
	// Ask asks a question that is answered with yes or no; without a terminal the answer is yes.
	Ask(question string) bool
	// Size is that of the terminal in cells; 0, 0 if there is none.
	Size() (width, height int)
	// Interrupts receives when Ctrl-C is pressed while a statement or command runs.
	Interrupts() <-chan struct{}
}
