// Package checkpoint names and keeps snapshots of a running job. It knows bytes and positions, and no row.
package checkpoint

// ID numbers the checkpoints of a job, from 1; ids only ever grow.
type ID uint64
