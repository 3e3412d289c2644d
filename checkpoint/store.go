package checkpoint

import (
	"errors"

	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// Options say how a store works. The zero value is fine.
type Options struct {
	Owner Owner // written into the lock, for the message of those who find it taken

	Keep   int  // newest checkpoints of each branch that are kept; 0: 10
	Pinned []ID // kept in any case, like named ones

	SegmentBytes int64 // a segment that is larger is followed by a new one; 0: 128 MiB
	BufferBytes  int   // appended blocks are written when they are more; 0: 4 MiB

	// From makes this checkpoint the head before anything else, as Rollback does; 0: the head stays. With From, damage
	// elsewhere in the folder does not keep it from being opened.
	From ID
	// CheckOutput reports whether a range of an output holds the bytes that were sealed, and makes it durable. It is
	// asked for the newest checkpoint only if it is not known that its publishing ended; an error means that it did not,
	// and the checkpoint is left out. nil: nothing is checked.
	CheckOutput func(Sealed) error
	// Together runs functions at the same time and returns when all have returned. nil: each on a goroutine of its own.
	// The simulator gives one that runs them in an order of its own.
	Together func(fs []func())
}

// Store keeps the checkpoints of a job in a folder, which it holds alone. Its methods may be called from several
// goroutines; those that flush (Publish, Name, Delete, Rollback, Fresh, Tidy) wait for each other, Append waits for them
// only when its buffer is full. After an error of the disk every call returns that error: nothing is known any more
// about what was written, and the job has to end. What had been published before is not harmed.
type Store struct{}

var errUnwritten = errors.New("checkpoint: not written yet")

// Open takes a folder, which is made if it is missing, finds the newest complete checkpoint of its head branch and makes
// it durable. Errors: *LockedError if another process holds the folder, *DamageError if durable bytes are damaged,
// *NeedsNewer.
func Open(fs disk.FS, dir string, o Options) (*Store, *Recovery, error) {
	return nil, nil, errUnwritten
}

// NextID returns an id that was never returned before, whatever happened to the store in between.
func (s *Store) NextID() (ID, error) { return 0, errUnwritten }

// Append adds a block and returns its name for a manifest. data is copied or written before it returns. The block is
// durable when a checkpoint that was published after it is; if none comes to name it, it goes with its segment.
func (s *Store) Append(kind uint8, data []byte) (Ref, error) { return Ref{}, errUnwritten }

// Publish makes a checkpoint durable: it appends the manifest and flushes, and calls the functions of flush at the same
// time. The checkpoint is published when Publish returns nil. m.ID must be larger than all published before and come from
// NextID; m.Branch is set.
func (s *Store) Publish(m *Manifest, flush []func() error) error { return errUnwritten }

// Commit notes that every sink has committed checkpoint id, so that it need not be done again; finished: that the run
// ended with it. Only a finished one is flushed.
func (s *Store) Commit(id ID, finished bool) error { return errUnwritten }

// Tidy does what is not urgent: it makes the next segment ahead of need, changes to it, removes segments that nothing
// needs and carries out requests of other processes (see RequestDelete). Call it after each Commit.
func (s *Store) Tidy() error { return errUnwritten }

// Read returns the data of a block. A block that is not what was appended is a *DamageError.
func (s *Store) Read(r Ref) ([]byte, error) { return nil, errUnwritten }

// Manifest returns the manifest of a checkpoint; an error if there is none.
func (s *Store) Manifest(id ID) (*Manifest, error) { return nil, errUnwritten }

// List lists the checkpoints that are kept, of all branches, by id.
func (s *Store) List() []Info { return nil }

// Head returns the checkpoint that a run goes on from; 0: none.
func (s *Store) Head() ID { return 0 }

// Name names a checkpoint, which is then kept until it is deleted or its name is taken away ("").
func (s *Store) Name(id ID, name string) error { return errUnwritten }

// Delete forgets a checkpoint. The head cannot be deleted.
func (s *Store) Delete(id ID) error { return errUnwritten }

// Rollback makes id the head, on a new branch. The checkpoints after it stay as an abandoned branch, and a Rollback to
// one of them rolls forward again. Sinks then set aside what they cut, see Aside.
func (s *Store) Rollback(id ID) error { return errUnwritten }

// Fresh begins a branch without a checkpoint: the next run starts from nothing. Of all runs before it, as many
// checkpoints are kept as of one branch.
func (s *Store) Fresh() error { return errUnwritten }

// Aside returns the folder in which sinks put bytes that they cut when they restore the head, so that a later Rollback can
// put them back; "" if they need not: the head is simply the newest checkpoint of its branch. The folder need not exist
// yet. Folders of different rollbacks differ.
func (s *Store) Aside() string { return "" }

// Asides returns the folders of rollbacks whose bytes a kept checkpoint may need, the newest rollback first. They are
// removed with the last checkpoint that needs them.
func (s *Store) Asides() []string { return nil }

// Close flushes what was noted and gives the folder up.
func (s *Store) Close() error { return errUnwritten }
