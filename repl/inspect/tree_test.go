package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/checkpoint"
)

// TestTree draws branches that rollbacks have left, one within another.
func TestTree(t *testing.T) {
	info := func(id, parent checkpoint.ID, branch uint64, abandoned bool) checkpoint.Info {
		return checkpoint.Info{ID: id, Parent: parent, Branch: branch, Abandoned: abandoned}
	}
	var lines []string
	for _, b := range tree([]checkpoint.Info{info(2, 0, 1, false), info(3, 2, 1, true), info(4, 3, 1, true), info(5, 3, 2, true), info(6, 2, 3, false), info(7, 6, 3, false)}) {
		lines = append(lines, fmt.Sprintf("%s%d", b.twig, b.info.ID))
	}
	require.Equal(t, "2\n├─ 3\n│  ├─ 4\n│  5\n6\n7", strings.Join(lines, "\n"))
	require.Empty(t, tree(nil))
}
