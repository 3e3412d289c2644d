package view

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

var cities = types.NewSchema(types.Field{Name: "city", Type: types.T(types.String)}, types.Field{Name: "visits", Type: types.T(types.Int).Null()})

func shown(t *testing.T, o Options, batches ...*vec.Batch) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Print(&out, o, cities, batches...))
	return out.String()
}

func TestModes(t *testing.T) {
	rows := vec.FromRows(cities, [][]any{{"Rome", int64(12)}, {"Oslo", nil}})
	changes := vec.FromRows(cities, [][]any{{"Rome", int64(1)}, {"Rome", int64(1)}, {"Rome", int64(2)}})
	changes.Change = []vec.Change{vec.Insert, vec.UpdateBefore, vec.UpdateAfter}
	for _, c := range []struct {
		o    Options
		b    *vec.Batch
		want string
	}{
		{Options{}, rows, "city  visits\n────  ──────\nRome      12\nOslo    null\n"},
		{Options{Mode: Append, Updating: true}, changes,
			"_change  city  visits\n───────  ────  ──────\n+I       Rome       1\n-U       Rome       1\n+U       Rome       2\n"},
		{Options{Mode: Table}, rows, "city  visits\n────  ──────\nRome      12\nOslo    null\n"},
		{Options{Mode: Table, Updating: true}, changes, "city  visits\n────  ──────\nRome       2\n"},
		{Options{Mode: JSONL}, rows, "{\"city\":\"Rome\",\"visits\":12}\n{\"city\":\"Oslo\",\"visits\":null}\n"},
		{Options{Mode: CSV}, rows, "city,visits\nRome,12\nOslo,\n"},
		{Options{Mode: JSON}, rows, "[\n  {\"city\":\"Rome\",\"visits\":12},\n  {\"city\":\"Oslo\",\"visits\":null}\n]\n"},
		{Options{Mode: JSON, Updating: true}, changes, "[\n  {\"_change\":\"+I\",\"city\":\"Rome\",\"visits\":1},\n" +
			"  {\"_change\":\"-U\",\"city\":\"Rome\",\"visits\":1},\n  {\"_change\":\"+U\",\"city\":\"Rome\",\"visits\":2}\n]\n"},
	} {
		require.Equal(t, c.want, shown(t, c.o, c.b), "%+v", c.o)
	}
	_, err := New(nil, Options{Mode: "jsnol"}, cities)
	require.EqualError(t, err, `"jsnol" is no mode. Did you mean jsonl? The modes are append, table, changes, json, jsonl, csv`)
}

func TestNothing(t *testing.T) {
	require.Equal(t, "city  visits\n────  ──────\n", shown(t, Options{}))
	require.Equal(t, "[]\n", shown(t, Options{Mode: JSON}))
	require.Equal(t, "", shown(t, Options{Mode: JSONL}))
	require.Equal(t, "city,visits\n", shown(t, Options{Mode: CSV}))
}
