package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMinusIDs(t *testing.T) {
	require.Equal(t, []string{"checkpoint", "show", "d", "~1", "--output", "json"}, minusIDs([]string{"checkpoint", "show", "d", "-1", "--output", "json"}))
	require.Equal(t, []string{"checkpoint", "show", "--", "-1"}, minusIDs([]string{"checkpoint", "show", "--", "-1"}))
	require.Equal(t, []string{"run", "-1"}, minusIDs([]string{"run", "-1"}))
}
