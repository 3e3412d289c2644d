package term

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chzyer/readline"
	"github.com/mattn/go-runewidth"
	xterm "golang.org/x/term"
)

// Editor is a line editor on a terminal. What is written while a line is typed appears above it. Read and Ask are called by
// one goroutine, the other methods by any.
type Editor struct {
	o       Options
	in      *os.File
	out     *drawn
	rl      *readline.Instance
	keys    *keys
	history *history
	cooked  *xterm.State // the terminal as it was

	before     string // the lines of the statement that is typed, without the one at hand
	folds      folds
	interrupts chan struct{}
	resized    func()
	stopResize func()

	mu      sync.Mutex
	reading bool   // a line is being typed: output goes through waiting
	waiting []byte // output that is not shown yet
	left    int    // lines of it that were left out
	closed  bool
}

const (
	drawEvery   = 40 * time.Millisecond // how often output is shown above the line
	mostWaiting = 64 << 10              // bytes shown at once; the rest is counted
)

// New takes a terminal over. Close gives it back.
func New(in, out *os.File, o Options) (*Editor, error) {
	cooked, err := xterm.GetState(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	e := &Editor{o: o, in: in, out: &drawn{file: out}, cooked: cooked, history: openHistory(o.History), interrupts: make(chan struct{}, 1)}
	e.keys = newKeys(in, &e.folds, e.clear)
	e.rl, err = readline.NewEx(&readline.Config{
		Prompt: o.Prompt, HistoryLimit: mostRecalled, DisableAutoSaveHistory: true, HistorySearchFold: true,
		InterruptPrompt: "^C", EOFPrompt: "\n", AutoComplete: completer{e}, Painter: painter{},
		Stdin: e.keys, Stdout: e.out, Stderr: e.out,
		FuncIsTerminal:      func() bool { return true },
		FuncGetWidth:        func() int { w, _ := e.Size(); return max(w, 8) },
		FuncMakeRaw:         e.raw,
		FuncExitRaw:         e.restore,
		FuncOnWidthChanged:  func(f func()) { e.resized = f },
		ForceUseInteractive: true,
		Listener: readline.FuncListener(func(line []rune, pos int, key rune) ([]rune, int, bool) {
			e.keys.empty.Store(len(line) == 0)
			return nil, 0, false
		}),
	})
	if err != nil {
		return nil, err
	}
	e.stopResize = onResize(func() {
		e.resized()
		if e.rl.Terminal.IsReading() {
			e.rl.Refresh()
		}
	})
	go e.draw()
	return e, nil
}

// raw makes the terminal give keys as they are pressed, with pastes marked.
func (e *Editor) raw() error {
	_, err := readline.MakeRaw(int(e.in.Fd())) // unlike x/term's it leaves line ends of the output alone
	io.WriteString(e.out, "\x1b[?2004h")
	return err
}

func (e *Editor) restore() error {
	io.WriteString(e.out, "\x1b[?2004l")
	return xterm.Restore(int(e.in.Fd()), e.cooked)
}

// Close gives the terminal back as it was. The editor must not be used afterwards. A read that waits is left waiting: the
// library cannot end one without the risk of hanging.
func (e *Editor) Close() error {
	e.flush()
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stopResize()
	return e.restore()
}

// End makes Read return io.EOF, now and later: the process was told to end.
func (e *Editor) End() { e.keys.end() }

// Lost reports whether the terminal is gone or End was called.
func (e *Editor) Lost() bool {
	select {
	case <-e.keys.gone:
		return true
	default:
		return false
	}
}

// Read returns the next thing that was typed.
func (e *Editor) Read() (Input, error) {
	e.before = ""
	e.recall()
	defer e.rl.SetPrompt(e.o.Prompt)
	in := Input{}
	for first := true; ; first = false {
		prompt := e.o.Prompt
		if !first {
			prompt = e.o.More
		}
		line, err := e.line(prompt)
		switch {
		case e.Lost():
			return Input{}, io.EOF
		case errors.Is(err, io.EOF) && !first: // as Ctrl-C: the lines are dropped, the session goes on
			return e.Read()
		case errors.Is(err, readline.ErrInterrupt) && (!first || line != ""):
			return e.Read()
		case errors.Is(err, readline.ErrInterrupt):
			return Input{}, ErrInterrupt
		case err != nil:
			return Input{}, err
		}
		text, pasted := e.folds.open(line)
		in.Pasted = in.Pasted || pasted
		switch {
		case first:
			in.Text = text
		case strings.TrimSpace(text) == "": // what there is is run, so that nobody is caught in an open bracket
			e.remember(in.Text)
			return in, nil
		default:
			in.Text = e.o.Join(in.Text, text)
		}
		if !e.o.Incomplete(in.Text) {
			e.remember(in.Text)
			return in, nil
		}
		e.before = in.Text
	}
}

// line reads one line.
func (e *Editor) line(prompt string) (string, error) {
	e.flush()
	e.rl.SetPrompt(prompt)
	e.keys.empty.Store(true)
	e.setReading(true)
	defer e.flush()
	defer e.setReading(false)
	read := make(chan line, 1)
	go func() {
		text, err := e.rl.Readline()
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		return l.text, l.err
	case <-e.keys.gone: // the library cannot end a read that waits
		return "", io.EOF
	}
}

func (e *Editor) setReading(on bool) {
	e.mu.Lock()
	e.reading = on
	e.mu.Unlock()
}

func (e *Editor) remember(text string) {
	if strings.TrimSpace(text) != "" {
		e.history.add(text)
	}
}

// recall gives the library what it offers with the arrow keys. It starts from nothing each time: the library would save an
// entry that was recalled and edited in the place of what it is given.
func (e *Editor) recall() {
	e.rl.ResetHistory()
	e.folds.reset()
	for _, text := range e.history.last(mostRecalled) {
		e.rl.SaveHistory(e.folds.entry(text))
	}
}

// Ask asks a question that is answered with yes or no; Enter, Ctrl-C and a lost terminal mean no.
func (e *Editor) Ask(question string) bool {
	prompt := question + " [y/N] "
	if width, _ := e.Size(); runewidth.StringWidth(prompt) > width-2 { // the library draws such a prompt again with every key
		e.Note(question)
		prompt = "[y/N] "
	}
	for {
		e.before = ""
		e.rl.ResetHistory()
		line, err := e.line(prompt)
		if err != nil || e.Lost() {
			return false
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true
		case "", "n", "no":
			return false
		}
	}
}

// Write shows results: at once while something runs, above the line while one is typed.
func (e *Editor) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.reading || e.closed {
		if _, err := e.out.Write(b); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	if len(e.waiting)+len(b) > mostWaiting {
		e.left += strings.Count(string(b), "\n")
	} else {
		e.waiting = append(e.waiting, b...)
	}
	return len(b), nil
}

// Note shows a message.
func (e *Editor) Note(text string) { fmt.Fprintln(e, strings.TrimRight(text, "\n")) }

// Size is that of the terminal.
func (e *Editor) Size() (width, height int) {
	w, h, err := xterm.GetSize(int(e.out.file.Fd()))
	if err != nil || w <= 0 {
		return 80, 24
	}
	return w, h
}

// Interrupts receives when Ctrl-C is pressed while no line is typed.
func (e *Editor) Interrupts() <-chan struct{} { return e.interrupts }

// Interrupt is what a signal does: it stops what runs.
func (e *Editor) Interrupt() {
	select {
	case e.interrupts <- struct{}{}:
	default:
	}
}

// Started forgets interrupts that came before what runs now.
func (e *Editor) Started() {
	select {
	case <-e.interrupts:
	default:
	}
}

// draw shows waiting output now and then.
func (e *Editor) draw() {
	for range time.Tick(drawEvery) {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return
		}
		// Between lines the library would write where it believes that nothing is typed; Read flushes what waits.
		if e.reading && e.rl.Terminal.IsReading() {
			e.show(e.rl.Stdout(), false)
		}
		e.mu.Unlock()
	}
}

func (e *Editor) flush() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.show(e.out, true)
}

// show writes the whole lines that wait, or all. mu is held.
func (e *Editor) show(w io.Writer, all bool) {
	n := strings.LastIndexByte(string(e.waiting), '\n') + 1
	if all {
		n = len(e.waiting)
	}
	text := string(e.waiting[:n])
	if e.left > 0 && (n > 0 || all) {
		text += fmt.Sprintf("… %d lines are not shown\n", e.left)
		e.left = 0
	}
	if text != "" {
		io.WriteString(w, text)
		e.waiting = append(e.waiting[:0], e.waiting[n:]...)
	}
}

// clear erases the screen, for Ctrl-L.
func (e *Editor) clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	io.WriteString(e.out, "\x1b[H\x1b[2J")
	e.rl.Refresh()
}

// completer is asked by the library when Tab is pressed.
type completer struct{ e *Editor }

// Do completes what is the same in all words; a second Tab lists them above the line.
func (c completer) Do(line []rune, pos int) (suffixes [][]rune, length int) {
	defer func() {
		if recover() != nil { // in a goroutine of the library, a panic would leave the terminal raw
			suffixes, length = nil, 0
		}
	}()
	e := c.e
	text, _ := e.folds.open(string(line[:pos]))
	if e.before != "" {
		text = e.before + "\n" + text
	}
	if e.o.Complete == nil {
		return nil, 0
	}
	from, words := e.o.Complete(text)
	if len(words) == 0 || from > len(text) {
		return nil, 0
	}
	typed := text[from:]
	common := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, common) {
			common = common[:len(common)-1]
		}
	}
	if len(common) > len(typed) && strings.HasPrefix(common, typed) {
		return [][]rune{[]rune(common[len(typed):])}, len([]rune(typed))
	}
	if len(words) > 1 {
		width, _ := e.Size()
		e.Note(columns(words, width))
	}
	return nil, 0
}

// columns lays words out in columns.
func columns(words []string, width int) string {
	const most = 200
	more := ""
	if len(words) > most {
		more = fmt.Sprintf("\n… and %d more", len(words)-most)
		words = words[:most]
	}
	wide := 0
	for _, w := range words {
		wide = max(wide, len([]rune(w))+2)
	}
	n := max(1, (width-1)/wide)
	rows := (len(words) + n - 1) / n
	var out strings.Builder
	for r := range rows {
		if r > 0 {
			out.WriteByte('\n')
		}
		for i := r; i < len(words); i += rows {
			if i+rows < len(words) {
				fmt.Fprintf(&out, "%-*s", wide, words[i])
			} else {
				out.WriteString(words[i])
			}
		}
	}
	return out.String() + more
}
