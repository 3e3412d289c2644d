package checkpoint

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

func line(i Info) string {
	s := fmt.Sprintf("%d branch %d", i.ID, i.Branch)
	if i.Name != "" {
		s += " " + i.Name
	}
	for _, f := range []struct {
		set  bool
		word string
	}{{i.Head, "head"}, {i.Abandoned, "abandoned"}, {i.Committed, "committed"}, {i.Finished, "finished"}, {i.Foreign, "foreign"}} {
		if f.set {
			s += " " + f.word
		}
	}
	return s + "\n"
}

// TestRecovery tells stories of a folder: what is called, what happens to the disk, and what is found then.
func TestRecovery(t *testing.T) {
	datadriven.Walk(t, "testdata/recovery", func(t *testing.T, path string) {
		sim := disk.NewSim()
		var s *Store
		misfit := "" // output that does not fit
		var rest Ref
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var b strings.Builder
			num := func(key string, or int) int {
				if d.HasArg(key) {
					d.ScanArgs(t, key, &or)
				}
				return or
			}
			word := func(key string) (out string) {
				if d.HasArg(key) {
					d.ScanArgs(t, key, &out)
				}
				return out
			}
			say := func(err error) string {
				if err != nil {
					fmt.Fprintf(&b, "error: %v\n", err)
				}
				if b.Len() == 0 {
					return "ok\n"
				}
				return b.String()
			}
			damage := func(ds []Damage) {
				for _, x := range ds {
					fmt.Fprintln(&b, x)
				}
			}
			switch d.Cmd {
			case "open":
				o := Options{Owner: Owner{PID: 12, Host: "box", What: "ebb run a.ebb"}, Keep: num("keep", 0), SegmentBytes: int64(num("segment", 0)), RoomBytes: int64(num("room", -1)), From: ID(num("from", 0)),
					CheckOutput: func(o Sealed) (bool, error) {
						fmt.Fprintf(&b, "check %s\n", o.Path)
						return o.Path != misfit, nil
					}}
				n, r, err := Open(sim, "c", o)
				if err != nil {
					return say(err)
				}
				s = n
				if r.Newest == nil {
					fmt.Fprintf(&b, "nothing; fresh %v\n", r.Fresh)
				} else {
					b.WriteString(line(r.Info))
				}
				for _, l := range r.LeftOut {
					fmt.Fprintln(&b, l)
				}
				damage(r.Damage)
				return say(nil)
			case "id":
				var id ID
				var err error
				for range num("n", 1) {
					id, err = s.NextID()
				}
				fmt.Fprintln(&b, id)
				return say(err)
			case "append":
				r, err := s.Append(9, make([]byte, num("bytes", 10)))
				rest = r
				return say(err)
			case "publish":
				id, err := s.NextID()
				if err != nil {
					return say(err)
				}
				m := &Manifest{ID: id, Parent: s.Head(), Name: word("name")}
				if n := num("bytes", 10); n > 0 {
					r, err := s.Append(1, make([]byte, n))
					if err != nil {
						return say(err)
					}
					m.Tasks = []Task{{Nodes: []Node{{ID: "a", Blocks: []Ref{r}}}}}
				}
				if d.HasArg("rest") { // what append appended
					m.Script = rest
				}
				if o := word("output"); o != "" {
					m.Outputs = []Sealed{{Path: o, Length: 3}}
				}
				fmt.Fprintln(&b, id)
				return say(s.Publish(m, nil))
			case "commit":
				return say(s.Commit(ID(num("id", 0)), d.HasArg("finished")))
			case "tidy":
				return say(s.Tidy())
			case "name":
				return say(s.Name(ID(num("id", 0)), word("name")))
			case "delete":
				return say(s.Delete(ID(num("id", 0))))
			case "request":
				return say(RequestDelete(sim, "c", ID(num("id", 0))))
			case "rollback":
				return say(s.Rollback(ID(num("id", 0))))
			case "fresh":
				return say(s.Fresh())
			case "close":
				return say(s.Close())
			case "aside":
				fmt.Fprintf(&b, "%q %q\n", s.Aside(), s.Asides())
				return b.String()
			case "fork":
				return say(Fork(sim, "c", ID(num("id", 0)), "fork", Options{RoomBytes: -1}))
			case "move":
				require.NoError(t, sim.Rename("c", "old"))
				return say(sim.Rename("fork", "c"))
			case "list":
				for _, i := range s.List() {
					b.WriteString(line(i))
				}
				return b.String()
			case "read": // everything, without lock
				f, err := OpenReader(sim, "c")
				if err != nil {
					return say(err)
				}
				defer f.Close()
				for _, i := range f.List() {
					b.WriteString(line(i))
					if m, err := f.Manifest(i.ID); err != nil {
						say(err)
					} else {
						m.Refs(func(r Ref) {
							if _, err := f.Read(r); err != nil {
								say(err)
							}
						})
					}
				}
				for _, l := range f.LeftOut() {
					fmt.Fprintln(&b, l)
				}
				damage(f.Verify(nil))
				return say(nil)
			case "kill":
				sim = sim.Kill()
				return ""
			case "crash": // with this seed
				sim = sim.Crash(rand.New(rand.NewPCG(uint64(num("seed", 0)), 0)))
				return ""
			case "fail": // the n-th call from now on
				at, op := num("at", 0), word("op")
				sim.Before = func(o, name string) error {
					if o != op {
						return nil
					}
					if at--; at == -1 {
						return fmt.Errorf("no space left on device")
					}
					return nil
				}
				return ""
			case "misfit":
				misfit = word("output")
				return ""
			case "make": // a file
				require.NoError(t, sim.MkdirAll(word("dir")))
				f, err := sim.Create(word("dir") + "/" + word("file"))
				require.NoError(t, err)
				f.Close()
				return ""
			case "flip":
				name := "c/" + word("file")
				p := content(t, sim, name)
				at := num("at", 0)
				if k := num("kind", 0); k != 0 { // data of the last record of that kind
					id, _ := parseSegment(word("file"))
					g, err := openSegment(sim, "c", id, true)
					require.NoError(t, err)
					for _, r := range g.recs {
						if int(r.kind) == k {
							at = int(r.off) + headerBytes
						}
					}
					g.close()
				}
				overwrite(t, sim, name, int64(at), []byte{p[at] ^ 1})
				return ""
			case "remove":
				require.NoError(t, sim.Remove("c/"+word("file")))
				return ""
			case "files":
				return sim.String()
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// TestRecoveryNewer opens a folder whose newest checkpoint only a newer engine can read, as a manifest of its own and as one in
// the catalog of the next segment: nothing is lost or passed over, and the place is said once.
func TestRecoveryNewer(t *testing.T) {
	for name, before := range map[string]int{"manifest": 0, "catalog": 1} {
		t.Run(name, func(t *testing.T) {
			sim := disk.NewSim()
			known["tomorrow"] = true
			t.Cleanup(func() { delete(known, "tomorrow") })
			s, _, err := Open(sim, "ckpt", Options{})
			require.NoError(t, err)
			publish(t, s, "a")
			id, err := s.NextID()
			require.NoError(t, err)
			m := &Manifest{ID: id, Parent: s.Head(), Tasks: []Task{{Group: "g"}}}
			m.Require("tomorrow")
			require.NoError(t, s.Publish(m, nil))
			require.NoError(t, s.Close())
			for range before { // a run begins a segment
				s, _, err := Open(sim, "ckpt", Options{})
				require.NoError(t, err)
				_, err = s.NextID()
				require.NoError(t, err)
				require.NoError(t, s.Close())
			}
			delete(known, "tomorrow")
			for range 2 {
				_, _, err = Open(sim, "ckpt", Options{})
				require.ErrorContains(t, err, `it needs "tomorrow", which this version of ebb does not know`)
				require.Equal(t, 1, strings.Count(err.Error(), "cannot be read"), err)
				_, err = OpenReader(sim, "ckpt")
				require.ErrorContains(t, err, `it needs "tomorrow", which this version of ebb does not know`)
				require.Equal(t, 1, strings.Count(err.Error(), "cannot be read"), err)
			}
			known["tomorrow"] = true
			s, r, err := Open(sim, "ckpt", Options{})
			require.NoError(t, err)
			require.Equal(t, id, s.Head(), r)
			require.NoError(t, s.Close())
		})
	}
}
