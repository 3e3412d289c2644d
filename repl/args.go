package repl

import (
	"fmt"
	"strings"
)

// Args are the arguments of a command.
type Args struct {
	Command *Command
	Pos     []string          // those that are no flags
	Flags   map[string]string // by name with dashes; "" for those without a value. Of a flag given twice it is the last value
	Where   string            // the condition behind the word where; "" if there is none
	all     map[string][]string
}

// All returns the values of a flag that may be given several times.
func (a *Args) All(flag string) []string { return a.all[flag] }

// Arg returns the i-th argument, "" if there is none.
func (a *Args) Arg(i int) string {
	if i < len(a.Pos) {
		return a.Pos[i]
	}
	return ""
}

// As takes arguments of the form `[WHAT] [as NAME]` apart; of tells, for the message, whose name it is.
func (a *Args) As(of string) (what, name string, err error) {
	what = a.Arg(0)
	switch {
	case len(a.Pos) >= 2 && a.Pos[len(a.Pos)-2] == "as":
		name = a.Pos[len(a.Pos)-1]
		if len(a.Pos) == 2 {
			what = ""
		}
	case len(a.Pos) > 1 || what == "as":
		return "", "", a.Usage("the name of %s stands behind `as`", of)
	}
	return what, name, nil
}

// jobNamed refuses what cannot be the name of a job.
func (a *Args) jobNamed(name string) error {
	if !jobName.MatchString(name) {
		return a.Usage("%q cannot be the name of a job: it is also that of a folder, and takes a letter, then letters, digits, _ and -", name)
	}
	return nil
}

// Has reports whether a flag was given.
func (a *Args) Has(flag string) bool {
	_, ok := a.Flags[flag]
	return ok
}

// Usage is an error that says how the command is called.
func (a *Args) Usage(format string, args ...any) error {
	return &UsageError{a.Command, fmt.Sprintf(format, args...)}
}

// parse takes a command line apart: words, "quoted words", flags. A word of the kind -3 is an argument.
func (c *Command) parse(rest string) (*Args, error) {
	a := &Args{Command: c, Flags: map[string]string{}, all: map[string][]string{}}
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			break
		}
		if c.Tail && len(a.Pos) == c.Most-1 && !strings.HasPrefix(rest, "-") {
			a.Pos = append(a.Pos, strings.TrimSpace(rest))
			break
		}
		word, after, quoted, err := cutWord(rest)
		if err != nil {
			return nil, a.Usage("%v", err)
		}
		rest = after
		if c.Where && word == "where" && !quoted {
			if a.Where = strings.TrimSpace(rest); a.Where == "" {
				return nil, a.Usage("the condition behind where is missing")
			}
			break
		}
		if quoted || len(word) < 2 || word[0] != '-' || word[1] >= '0' && word[1] <= '9' {
			a.Pos = append(a.Pos, word)
			continue
		}
		f := c.flag(word)
		if f == nil {
			return nil, a.Usage(".%s has no flag %s", c.Name, word)
		}
		value := ""
		if f.Value != "" {
			if value, rest, _, err = cutWord(strings.TrimLeft(rest, " \t")); err != nil || value == "" {
				return nil, a.Usage("%s takes %s", word, f.Value)
			}
		}
		a.Flags[word] = value
		a.all[word] = append(a.all[word], value)
	}
	switch {
	case len(a.Pos) < c.Least:
		return nil, a.Usage("an argument is missing")
	case c.Most >= 0 && len(a.Pos) > c.Most:
		return nil, a.Usage("%q is one argument too many", a.Pos[c.Most])
	}
	return a, nil
}

func (c *Command) flag(name string) *Flag {
	for i := range c.Flags {
		if c.Flags[i].Name == name {
			return &c.Flags[i]
		}
	}
	return nil
}

// cutWord takes the first word off a line; in quotes it may hold blanks.
func cutWord(s string) (word, rest string, quoted bool, err error) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		end := strings.IndexByte(s[1:], s[0])
		if end < 0 {
			return "", "", false, fmt.Errorf("the quote %c is not closed", s[0])
		}
		return s[1 : 1+end], s[2+end:], true, nil
	}
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], s[i:], false, nil
	}
	return s, "", false, nil
}
