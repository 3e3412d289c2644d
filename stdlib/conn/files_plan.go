package conn

import (
	"encoding/binary"
	"fmt"
	"path/filepath"

	"github.com/ebb-lang/ebb/checkpoint"
	"github.com/zeebo/xxh3"
)

// The list of what a rollback does to an output, as a file beside what it has cut off.

// checkpointHead is a sum and a length.
type checkpointHead [cutHead]byte

func (h *checkpointHead) put(sum, size uint64) {
	binary.LittleEndian.PutUint64(h[:], sum)
	binary.LittleEndian.PutUint64(h[8:], size)
}

func (h *checkpointHead) get() (sum, size uint64) {
	return binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:])
}

// writePlan makes a plan durable, and with it all that lies beside it.
func (s *fileSink) writePlan(name string, plan []*remake) error {
	w := checkpoint.NewWriter(0, 0)
	w.Uint(uint64(len(plan)))
	for _, m := range plan {
		w.String(m.name)
		w.Int(m.had)
		w.Int(m.keep)
		w.Int(m.rows)
		w.Bool(m.gone)
		w.Uint(uint64(len(m.back)))
		for _, c := range m.back {
			w.String(c.file)
			w.Int(c.off)
			w.Int(c.size)
		}
	}
	data, _, _ := w.Output()
	f, err := s.env.FS.Create(name + ".new")
	if err != nil {
		return err
	}
	var head checkpointHead
	head.put(xxh3.Hash(data), uint64(len(data)))
	if _, err = f.Write(append(head[:], data...)); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = s.env.FS.Rename(name+".new", name)
	}
	d := filepath.Dir(name)
	for range 3 { // with the folder in which those of all rollbacks lie, and the one above it
		if err == nil {
			err = s.env.FS.SyncDir(d)
		}
		d = filepath.Dir(d)
	}
	return err
}

// readPlan reads what writePlan wrote.
func (s *fileSink) readPlan(name string) ([]*remake, error) {
	info, err := s.env.FS.Stat(name)
	if err != nil {
		return nil, err
	}
	f, err := s.env.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, min(info.Size(), 1<<30))
	if err := readAt(f, data, 0, name); err != nil {
		return nil, err
	}
	var head checkpointHead
	if copy(head[:], data) < cutHead {
		return nil, fmt.Errorf("%s is damaged", name)
	}
	data = data[cutHead:]
	if sum, size := head.get(); size != uint64(len(data)) || sum != xxh3.Hash(data) {
		return nil, fmt.Errorf("%s is damaged", name)
	}
	r := checkpoint.NewReader(0, data)
	plan := make([]*remake, r.Count(5))
	for i := range plan {
		m := &remake{name: r.String(), had: r.Int(), keep: r.Int(), rows: r.Int(), gone: r.Bool()}
		m.back = make([]cutting, r.Count(3))
		for k := range m.back {
			m.back[k] = cutting{r.String(), r.Int(), r.Int()}
		}
		plan[i] = m
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", name, err)
	}
	return plan, nil
}
