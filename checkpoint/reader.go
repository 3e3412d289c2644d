package checkpoint

import (
	"github.com/ebb-lang/ebb/checkpoint/disk"
)

// Folder reads a folder: it takes no lock, so it works while a job runs, and reads what it can of a damaged folder.
// What it shows is the state of when it was opened; blocks that the owner removes after that are gone (fs.ErrNotExist).
type Folder struct{}

// OpenReader reads a folder. Damage is no error: see Damage.
func OpenReader(fs disk.FS, dir string) (*Folder, error) { return nil, errUnwritten }

// Damage lists what is damaged, as far as it was seen by opening the folder.
func (f *Folder) Damage() []Damage { return nil }

// LeftOut lists what lies at the end of the log and belongs to no published checkpoint; while a job runs, that is what
// it is writing.
func (f *Folder) LeftOut() []LeftOut { return nil }

// Owner returns who holds the folder, if it says so.
func (f *Folder) Owner() (Owner, bool) { return Owner{}, false }

// List lists the checkpoints that are kept, of all branches, by id.
func (f *Folder) List() []Info { return nil }

// Head returns the checkpoint that a run goes on from; 0: none.
func (f *Folder) Head() ID { return 0 }

// Manifest returns the manifest of a checkpoint; an error if there is none.
func (f *Folder) Manifest(id ID) (*Manifest, error) { return nil, errUnwritten }

// Read returns the data of a block. A block that is not what was appended is a *DamageError.
func (f *Folder) Read(r Ref) ([]byte, error) { return nil, errUnwritten }

// Verify reads every byte of the folder and returns what is damaged. progress may be nil; it gets bytes read and to read.
func (f *Folder) Verify(progress func(done, total int64)) []Damage { return nil }

// Close closes the files.
func (f *Folder) Close() error { return errUnwritten }

// RequestDelete asks the owner of a folder to delete a checkpoint; it does so at its next Tidy.
func RequestDelete(fs disk.FS, dir string, id ID) error { return errUnwritten }

// Fork makes the checkpoint id of folder from the head of folder to, which must not hold one yet, by second names for its
// segments, or copies where the system has no such. The new folder stands by itself.
func Fork(fs disk.FS, from string, id ID, to string) error { return errUnwritten }
