package eval

import (
	"encoding/json"
	"iter"
	"strings"
)

// Values of type any are JSON text that its source has checked. These functions find their way in it without parsing;
// on text that is no JSON they end somewhere, and give nothing worse than a wrong piece of it.

// JSONMember returns the text of a member of a JSON object, of the last of that name. ok is false if s is no object, has
// no such member, or if the member is null.
func JSONMember(s, name string) (text string, ok bool) {
	for key, value := range JSONMembers(s) {
		if key == name {
			text = value
		}
	}
	return text, text != "" && text != "null"
}

// JSONMembers goes through the members of a JSON object: name and text. Anything else has none.
func JSONMembers(s string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		i := skipSpace(s, 0)
		if i >= len(s) || s[i] != '{' {
			return
		}
		for i = skipSpace(s, i+1); i < len(s) && s[i] == '"'; i = skipSpace(s, i+1) {
			end := skipValue(s, i)
			key := s[i+1 : max(end-1, i+1)]
			if strings.IndexByte(key, '\\') >= 0 {
				key = unquote(s[i:end])
			}
			i = skipSpace(s, end)
			if i >= len(s) || s[i] != ':' {
				return
			}
			i = skipSpace(s, i+1)
			end = skipValue(s, i)
			if end == i || !yield(key, s[i:end]) {
				return
			}
			if i = skipSpace(s, end); i >= len(s) || s[i] != ',' {
				return
			}
		}
	}
}

// JSONElement returns the text of an element of a JSON array, -1 being the last. ok is false if s is no array, has no
// such element, or if it is null.
func JSONElement(s string, k int64) (text string, ok bool) {
	if k < 0 {
		for range JSONElements(s) {
			k++
		}
		if k < 0 {
			return "", false
		}
	}
	for e := range JSONElements(s) {
		if k == 0 {
			return e, e != "null"
		}
		k--
	}
	return "", false
}

// JSONElements goes through the texts of the elements of a JSON array. Anything else has none.
func JSONElements(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		i := skipSpace(s, 0)
		if i >= len(s) || s[i] != '[' {
			return
		}
		for i = skipSpace(s, i+1); i < len(s) && s[i] != ']'; i = skipSpace(s, i+1) {
			end := skipValue(s, i)
			if end == i || !yield(s[i:end]) {
				return
			}
			if i = skipSpace(s, end); i >= len(s) || s[i] != ',' {
				return
			}
		}
	}
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the end of the JSON value that starts at i.
func skipValue(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(s))
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

func unquote(s string) string {
	var out string
	if json.Unmarshal([]byte(s), &out) != nil {
		return s
	}
	return out
}
