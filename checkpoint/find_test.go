package checkpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	list := []Info{{ID: 3, Name: "a"}, {ID: 4}, {ID: 6, Name: "b", Abandoned: true}, {ID: 9, Name: "a", Head: true}}
	for text, want := range map[string]ID{"": 9, "-0": 9, "-1": 4, "-2": 3, "6": 6, "b": 6, "a": 9, "3": 3} {
		got, err := Find(list, text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.ID, text)
	}
	for text, want := range map[string]string{
		"-3":  "there is no checkpoint that lies 3 before the newest: there are 3 (a), 4, 6 (b), 9 (a)",
		"5":   "there is no checkpoint 5: there are 3 (a), 4, 6 (b), 9 (a)",
		"c":   `there is no checkpoint named "c": there are 3 (a), 4, 6 (b), 9 (a)`,
		"-x":  `"-x" is no checkpoint: one is named by its number, its name, or -N for the N-th before the newest`,
		"--1": `"--1" is no checkpoint: one is named by its number, its name, or -N for the N-th before the newest`,
	} {
		_, err := Find(list, text)
		require.EqualError(t, err, want, text)
	}
	_, err := Find(nil, "1")
	require.EqualError(t, err, "there are no checkpoints")
	got, err := Find([]Info{{ID: 1, Abandoned: true}, {ID: 2, Abandoned: true}}, "") // after a fresh start
	require.NoError(t, err)
	require.Equal(t, ID(2), got.ID)
}
