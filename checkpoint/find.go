package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
)

// Find returns the id that people mean by a text: a number, a name, -N for the N-th before the head, nothing for the head.
func Find(list []Info, head ID, text string) (ID, error) {
	if len(list) == 0 {
		return 0, fmt.Errorf("there is no checkpoint")
	}
	parent := map[ID]ID{}
	for _, x := range list {
		parent[x.ID] = x.Parent
	}
	if text == "" || strings.HasPrefix(text, "-") {
		back := 0
		if text != "" {
			n, err := strconv.Atoi(text[1:])
			if err != nil || n < 0 {
				return 0, fmt.Errorf("%q is no checkpoint: one is named by its number, its name, or -N for the N-th before the newest", text)
			}
			back = n
		}
		id := head
		for range back {
			id = parent[id]
		}
		if _, ok := parent[id]; !ok || id == 0 {
			return 0, fmt.Errorf("there is no checkpoint %s: %s", text, present(list))
		}
		return id, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		if _, ok := parent[ID(n)]; !ok {
			return 0, fmt.Errorf("there is no checkpoint %d: %s", n, present(list))
		}
		return ID(n), nil
	}
	for _, x := range list {
		if x.Name == text {
			return x.ID, nil
		}
	}
	return 0, fmt.Errorf("there is no checkpoint named %q: %s", text, present(list))
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
