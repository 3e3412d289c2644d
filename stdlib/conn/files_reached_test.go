package conn

import (
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec"
	"github.com/stretchr/testify/require"
)

// What files have saved is told for people, at every place that a run comes by.
func TestFilesTellHowFarTheyCame(t *testing.T) {
	files := map[string]string{"a.csv": "n,s,t,u\n" + strings.Repeat("1,a,5,b\n", 6), "b.csv.gz": zipped("n,s,t,u\n" + strings.Repeat("2,a,5,b\n", 3))}
	r := read{args: map[string]any{"path": []any{"a.csv", "b.csv.gz"}}, schema: messySchema}
	sources, err := openCSV(24)(r.scanOf(memEnv(files)))
	require.NoError(t, err)
	defer sources[0].Close()
	var told []string
	for {
		st, err := sources[0].Poll(exec.NewTap(func(int, exec.Item) {}))
		require.NoError(t, err)
		w := checkpoint.NewWriter(1, 0)
		require.NoError(t, sources[0].(interface {
			Save(*checkpoint.Writer) error
		}).Save(w))
		data, _, _ := w.Output()
		for n := range len(data) { // damaged
			filesReached([]*checkpoint.Reader{checkpoint.NewReader(1, data[:n])})
		}
		at, err := filesReached([]*checkpoint.Reader{checkpoint.NewReader(1, data)})
		require.NoError(t, err)
		if n := len(told); n == 0 || told[n-1] != at.Text {
			told = append(told, at.Text)
		}
		if st == exec.Done {
			require.EqualValues(t, 9, at.Rows)
			break
		}
	}
	require.Equal(t, []string{
		"row 2 of a.csv; file 1 of 2",
		"row 2 of a.csv, beyond byte 24 of 56; file 1 of 2",
		"row 5 of a.csv, beyond byte 24 of 56; file 1 of 2",
		"row 5 of a.csv, beyond byte 48 of 56; file 1 of 2",
		"row 6 of a.csv, beyond byte 48 of 56; file 1 of 2",
		"the start of b.csv.gz; file 2 of 2",
		"row 3 of b.csv.gz; file 2 of 2",
		"the end of 2 files",
	}, told)
}
