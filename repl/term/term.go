// Package term is what a session is typed on: a line editor on a terminal, or a pipe that is read line by line. It knows
// nothing of the language but what its callbacks tell.
package term

import "errors"

// ErrInterrupt is Ctrl-C on a line.
var ErrInterrupt = errors.New("interrupted")

// Options are what an editor asks about the text.
type Options struct {
	Prompt, More string // before a statement, and before the lines that go on with it
	// Incomplete reports whether a text goes on in the next line; Join puts that line behind it.
	Incomplete func(text string) bool
	Join       func(text, line string) string
	// Complete returns what may stand at the end of a text, and from which byte on it would stand there.
	Complete func(text string) (from int, words []string)
	// History is the file that statements are remembered in; "" for none.
	History string
}

// Input is one thing that was typed: a statement, or lines that were pasted.
type Input struct {
	Text   string
	Pasted bool // at least a part of it was pasted as several lines
}
