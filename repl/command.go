package repl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/lang/syntax"
)

// A Command is a dot word of the session. It is one definition in one file that registers itself with command.
type Command struct {
	Name    string // without the dot
	Args    string // as the usage prints them: "[NAME] [--pause]"
	Summary string // one line, for the list of .help
	Text    string // the rest of its help; may be empty
	Group   string // of .help: one of groups
	Least   int    // arguments there must be, at least
	Most    int    // and at most; < 0: any number
	Flags   []Flag
	// Tail says that the last argument takes the rest of the line as it stands: an expression.
	Tail bool
	// Where says that `where EXPR` may stand at the end. Flags stand before it.
	Where bool
	Run   func(s *Session, a *Args) error
	// Complete returns what may stand for the last of args; nil: nothing is offered.
	Complete func(s *Session, args []string) []string
}

// A Flag is an option of a command, as --pause or -j JOB.
type Flag struct {
	Name  string // with its dashes
	Value string // what it takes, "" if nothing
	Text  string
}

// groups are the groups of .help, in order.
var groups = []string{"look", "script", "jobs", "time travel", "session"}

var commands []*Command

// command registers a command; it is called from package-level variables only.
func command(c Command) bool {
	commands = append(commands, &c)
	return true
}

// Commands returns all commands by name. The caller must not change them.
func Commands() []*Command {
	slices.SortFunc(commands, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return commands
}

func findCommand(name string) *Command {
	for _, c := range commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// otherCommands are what other tools call our commands.
var otherCommands = map[string]string{"doc": "help", "man": "help", "exit": "quit", "q": "quit", "bye": "quit", "tables": "streams", "ls": "streams",
	"describe": "schema"}

// commandOf finds a command by its name, or by that of other tools.
func commandOf(name string) *Command {
	if c := findCommand(name); c != nil {
		return c
	}
	return findCommand(otherCommands[name])
}

// Usage is how a command is called.
func (c *Command) Usage() string {
	return strings.TrimSpace("." + c.Name + " " + c.Args)
}

// A UsageError is a command that is called wrongly. Its text says how it is called.
type UsageError struct {
	Command *Command
	Text    string
}

func (e *UsageError) Error() string {
	return fmt.Sprintf("%s\nusage: %s", e.Text, e.Command.Usage())
}

// run runs a line that begins with a dot.
func (s *Session) run(line string) error {
	if topic, ok := strings.CutPrefix(line, "?"); ok {
		line = ".help " + topic
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(line, "."), " ")
	c := commandOf(name)
	if c == nil {
		var names []string
		for _, c := range Commands() {
			names = append(names, c.Name)
		}
		if m := syntax.Suggest(name, names); m != "" {
			return fmt.Errorf("unknown command .%s; did you mean .%s?", name, m)
		}
		return fmt.Errorf("unknown command .%s; .help lists them", name)
	}
	a, err := c.parse(rest)
	if err != nil {
		return err
	}
	return c.Run(s, a)
}
