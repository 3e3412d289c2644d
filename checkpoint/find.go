package checkpoint

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// UnknownError is the error of a checkpoint that there is not.
type UnknownError struct {
	Word string // that was to name it
	text string
}

func (e *UnknownError) Error() string { return e.text }

// Find returns the checkpoint of a list that people mean by a text: a number, a name, -N for the N-th before the newest,
// nothing for the newest. Newest are those on the way to the head, or of all if the job is to start afresh. Errors are
// *UnknownError where there are others.
func Find(list []Info, text string) (Info, error) {
	none := func(format string, args ...any) (Info, error) {
		return Info{}, &UnknownError{text, fmt.Sprintf("there is no checkpoint "+format+": %s", append(args, present(list))...)}
	}
	if len(list) == 0 {
		return Info{}, fmt.Errorf("there are no checkpoints")
	}
	if text == "" || strings.HasPrefix(text, "-") {
		back := 0
		if text != "" {
			var err error
			if back, err = strconv.Atoi(text[1:]); err != nil || back < 0 {
				return Info{}, fmt.Errorf("%q is no checkpoint: one is named by its number, its name, or -N for the N-th before the newest", text)
			}
		}
		var line []Info
		for _, x := range list {
			if !x.Abandoned {
				line = append(line, x)
			}
		}
		if len(line) == 0 {
			line = list
		}
		if back >= len(line) {
			return none("that lies %d before the newest", back)
		}
		return line[len(line)-1-back], nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		for _, x := range list {
			if x.ID == ID(n) {
				return x, nil
			}
		}
		return none("%d", n)
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Name == text {
			return list[i], nil
		}
	}
	return none("named %q", text)
}

// present lists what there is, for messages.
func present(list []Info) string {
	var ids []string
	for _, x := range list[max(0, len(list)-12):] {
		s := fmt.Sprint(x.ID)
		if x.Name != "" {
			s += " (" + x.Name + ")"
		}
		ids = append(ids, s)
	}
	return "there are " + strings.Join(ids, ", ")
}

// CutPath takes PATH#ID apart, a checkpoint in the folder of a job; without #ID it is the newest. other is false if the text
// names a checkpoint in the folder of whoever asks.
func CutPath(text string) (dir, id string, other bool) {
	dir, id, named := strings.Cut(text, "#")
	if !named && !strings.ContainsRune(text, filepath.Separator) && !strings.HasPrefix(text, ".") {
		return "", "", false
	}
	return filepath.Clean(dir), id, true
}
