package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

// BenchmarkPublish publishes checkpoints of that many bytes of state, in blocks of 64 KiB, and appends and flushes as many
// bytes to a bare file, in turn, so that both meet the same disk. Both wait in between, as jobs do. The times of the
// benchmark itself are of both and mean nothing; the metrics are medians and 99th percentiles.
func BenchmarkPublish(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprint(size>>10, "KiB"), func(b *testing.B) {
			dir := b.TempDir()
			s, _, err := Open(disk.OS{}, filepath.Join(dir, "c"), Options{RoomBytes: 0})
			require.NoError(b, err)
			defer s.Close()
			f, err := os.Create(filepath.Join(dir, "bare"))
			require.NoError(b, err)
			bare, err := disk.OS{}.Append(f.Name())
			require.NoError(b, err)
			defer bare.Close()
			data := make([]byte, size)
			for i := range data {
				data[i] = byte(i * 7)
			}
			var store, plain []time.Duration
			store1 := func() {
				at := time.Now()
				id, err := s.NextID()
				require.NoError(b, err)
				m := &Manifest{ID: id, Tasks: []Task{{Nodes: []Node{{}}}}}
				for off := 0; off < size; off += 64 << 10 {
					r, err := s.Append(1, data[off:min(off+64<<10, size)])
					require.NoError(b, err)
					m.Tasks[0].Nodes[0].Blocks = append(m.Tasks[0].Nodes[0].Blocks, r)
				}
				require.NoError(b, s.Publish(m, nil))
				store = append(store, time.Since(at))
				require.NoError(b, s.Commit(id, false))
				require.NoError(b, s.Tidy())
			}
			plain1 := func() {
				at := time.Now()
				_, err := bare.Write(data)
				require.NoError(b, err)
				require.NoError(b, bare.Sync())
				plain = append(plain, time.Since(at))
			}
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					store1()
				}
				time.Sleep(2 * time.Millisecond)
				plain1()
				time.Sleep(2 * time.Millisecond)
				if i%2 == 1 {
					store1()
				}
				time.Sleep(2 * time.Millisecond)
			}
			report := func(name string, ds []time.Duration) {
				slices.Sort(ds)
				b.ReportMetric(float64(ds[len(ds)/2].Microseconds())/1000, name+"-p50-ms")
				b.ReportMetric(float64(ds[len(ds)*99/100].Microseconds())/1000, name+"-p99-ms")
			}
			report("store", store)
			report("bare", plain)
		})
	}
}
