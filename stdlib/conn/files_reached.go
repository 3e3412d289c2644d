package conn

import (
	"fmt"
	"strings"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// What files have saved, for people.

// mostTold is how many followed files are told of by name.
const mostTold = 3

// filesReached tells how far files were read.
func filesReached(saved []*checkpoint.Reader) (spec.Reached, error) {
	if len(saved) > 0 && saved[0] != nil {
		if kind := *saved[0]; kind.Uint() == savedFollow {
			return followReached(saved[0])
		}
	}
	s := &scan{Scan: &spec.Scan{}}
	v, err := s.load(saved)
	if err != nil {
		return spec.Reached{}, err
	}
	return spec.Reached{Rows: v.rows, Text: s.reached(v)}, nil
}

// reached tells where the first chunk is that is not finished. Other tasks may have read some that follow.
func (s *scan) reached(v *savedScan) string {
	c := s.done.next(0, 1)
	first := int64(0)
	for i, in := range s.files {
		if c >= first+in.pieces {
			first += in.pieces
			continue
		}
		rows := v.before(c) + s.begunOf(c).rows
		text := fmt.Sprintf("row %d of %s", rows, in.name)
		if rows == 0 {
			text = "the start of " + in.name
		}
		if c > first {
			text += fmt.Sprintf(", beyond byte %d of %d", (c-first)*s.chunk, in.size)
		}
		if len(s.files) > 1 {
			text += fmt.Sprintf("; file %d of %d", i+1, len(s.files))
		}
		return text
	}
	if n := len(s.files); n > 1 {
		return fmt.Sprintf("the end of %d files", n)
	}
	return "the end of " + s.files[0].name
}

// before returns how many rows come before a chunk of its file.
func (v *savedScan) before(chunk int64) int64 {
	for _, x := range v.places {
		if x.chunk == chunk {
			return x.at.rows
		}
	}
	return 0
}

func followReached(r *checkpoint.Reader) (spec.Reached, error) {
	r.Uint()
	v, err := loadFollow(r)
	if err != nil {
		return spec.Reached{}, err
	}
	var words []string
	for _, g := range v.list[:min(len(v.list), mostTold)] {
		switch {
		case g.rows == 0:
			words = append(words, "the start of "+g.name)
		default:
			words = append(words, fmt.Sprintf("row %d of %s, byte %d", g.rows, g.name, g.off))
		}
	}
	if n := len(v.list) - len(words); n > 0 {
		words = append(words, fmt.Sprintf("and %d more", n))
	}
	return spec.Reached{Rows: v.rows, Text: strings.Join(words, "; ")}, nil
}
