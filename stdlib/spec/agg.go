package spec

import (
	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/ebb-lang/ebb/exec/state"
	"github.com/ebb-lang/ebb/exec/vec"
	"github.com/ebb-lang/ebb/lang/types"
)

// Aggregate accumulates one aggregate call for all groups of a task. A group is a row of a state.Rows; the aggregate
// owns Words() words of it from an offset on, zero when the group is new. What does not fit into words it keeps itself,
// under a handle that it stores there. One Aggregate serves any number of state.Rows. All methods work on many groups
// at once, so that none is called for a row.
type Aggregate interface {
	// Words is how many 8-byte words of a group's row the aggregate wants.
	Words() int
	// Add adds row in.Rows[i] of the input to group g.IDs[i]; a group may come several times.
	Add(g Groups, in *Input)
	// Merge adds group from.IDs[i] to group to.IDs[i], which is another one, and leaves the former as it was.
	Merge(to, from Groups)
	// Result returns the results of the groups, a row each, in a column of the call's result type.
	Result(g Groups) *vec.Column
	// Free forgets what is kept outside the words for the groups. The words are void after it.
	Free(g Groups)
	// Save writes what is kept outside the words; those are saved with the groups.
	Save(w *checkpoint.Writer)
	// Load restores what Save wrote, in place of what there is.
	Load(r *checkpoint.Reader) error
	// Adopt takes groups over whose words were copied from groups of other, an aggregate of the same call in another
	// task: what the words refer to there, it copies. other stays as it was.
	Adopt(g Groups, other Aggregate)
}

// Retractor is an Aggregate that can take rows back exactly.
type Retractor interface {
	Aggregate
	// Retract undoes an Add of equal rows.
	Retract(g Groups, in *Input)
}

// Adder is an Aggregate that keeps less if it is told, before anything else, that no row will be taken back.
type Adder interface{ OnlyAdds() }

// Partialer is an Aggregate whose groups can be shipped as columns and merged elsewhere.
type Partialer interface {
	Aggregate
	// PartialTypes are the columns of a partial result.
	PartialTypes() []types.Type
	// Partial returns the partial results of the groups, a row each.
	Partial(g Groups) []*vec.Column
	// AddPartial merges row in.Rows[i] of partial results, which are the columns in.Args, into group g.IDs[i].
	AddPartial(g Groups, in *Input)
}

// Grower is a Partialer whose partial results grow with the rows of a group.
type Grower interface {
	// Values returns how many values the groups keep.
	Values(g Groups) int
}

// Flat is embedded by aggregates that keep nothing outside their words.
type Flat struct{}

// Free has nothing to forget.
func (Flat) Free(Groups) {}

// Save has nothing to write.
func (Flat) Save(*checkpoint.Writer) {}

// Load has nothing to read.
func (Flat) Load(*checkpoint.Reader) error { return nil }

// Adopt has nothing to copy.
func (Flat) Adopt(Groups, Aggregate) {}

// KeepsNothing marks the aggregate as one whose groups need no Free.
func (Flat) KeepsNothing() {}

// Groups are rows of a state.Rows, and where the aggregate's words are in them.
type Groups struct {
	Rows *state.Rows
	Off  int
	IDs  []uint32
	One  bool // all IDs are the same: what is added may be summed up first
}

// Words returns the aggregate's words of the i-th group; good until rows are added.
func (g *Groups) Words(i int) []uint64 { return g.Rows.At(g.IDs[i])[g.Off:] }

// Input is rows of a batch as an aggregate sees them.
type Input struct {
	N    int      // physical rows of the columns
	Rows []uint32 // physical rows to take
	Args []*vec.Column
	Time []int64  // event times by physical row; nil if there are none
	Pos  []uint64 // positions; nil if there are none

	ids, rows []uint32 // scratch of NotNull
}

// NotNull returns the groups and rows without those for which an argument is null: g and in.Rows themselves if there
// is none. What it returns is good until the next call.
func (in *Input) NotNull(g Groups) (Groups, []uint32) {
	var valid vec.Bitmap
	for _, a := range in.Args {
		valid = vec.And(valid, a.Valid)
	}
	if valid == nil {
		return g, in.Rows
	}
	if n := len(in.Rows); len(in.ids) < n {
		in.ids, in.rows = make([]uint32, max(n, vec.MaxRows)), make([]uint32, max(n, vec.MaxRows))
	}
	n := 0
	for i, r := range in.Rows { // without a branch: nulls are hard to foresee
		in.ids[n], in.rows[n] = g.IDs[i], r
		n += int(valid[r>>6] >> (r & 63) & 1)
	}
	return Groups{g.Rows, g.Off, in.ids[:n], g.One}, in.rows[:n]
}

// Order returns what orders row r among others: event time, then position.
func (in *Input) Order(r uint32) (time int64, pos uint64) {
	if in.Time != nil {
		time = in.Time[r]
	}
	if in.Pos != nil {
		pos = in.Pos[r]
	}
	return time, pos
}
