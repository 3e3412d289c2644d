package syntax

import (
	"strings"
	"unicode/utf8"
)

// Suggest returns the candidate that was probably meant by word, or "" if none is near. Nearness is the
// Damerau-Levenshtein distance (a swap of neighbours is one step) of at most a third of the word's length; among equally near ones
// the longest common beginning wins, then the order of the candidates. The case of letters does not count.
func Suggest(word string, candidates []string) string {
	if word == "" || len(word) > 64 {
		return ""
	}
	low := strings.ToLower(word)
	length := utf8.RuneCountInString(word)
	limit := max(1, (length+1)/3)
	if length <= 1 {
		limit = 0
	}
	best, bestDist, bestPrefix := "", limit+1, -1
	for _, c := range candidates {
		if c == word || len(c) > 64 {
			continue
		}
		lc := strings.ToLower(c)
		n := utf8.RuneCountInString(c)
		if n-length > limit || length-n > limit {
			continue
		}
		d := distance([]rune(low), []rune(lc))
		// Two words with nothing in common are no misspelling of each other, however short they are.
		if d > limit || d >= min(n, length) {
			continue
		}
		p := commonPrefix(low, lc)
		if d < bestDist || d == bestDist && p > bestPrefix {
			best, bestDist, bestPrefix = c, d, p
		}
	}
	return best
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// distance is the optimal string alignment distance of two words.
func distance(a, b []rune) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// didYouMean is "; did you mean `x`?" or "".
func didYouMean(word string, candidates []string) string {
	if s := Suggest(word, candidates); s != "" {
		return "; did you mean `" + s + "`?"
	}
	return ""
}
