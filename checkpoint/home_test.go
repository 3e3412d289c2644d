package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebb-lang/ebb/checkpoint/disk"
	"github.com/stretchr/testify/require"
)

func TestFolderOf(t *testing.T) {
	require.Equal(t, ".ebb/job", FolderOf("/a/b", "/a/b/.ebb/job"))
	require.Equal(t, "/a/kept", FolderOf("/a/b", "/a/kept"))
	here, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, "kept", FolderOf(here, "kept"))
}

// TestHome asks where a run's paths lead, after its folder has been copied, moved or linked.
func TestHome(t *testing.T) {
	for _, c := range []struct {
		name   string
		folder string // what the manifest says of its folder, W being the place of everything
		lie    string // what there is besides the directory of the run, W/job
		gone   bool   // that is not there any more
		link   [2]string
		asked  string
		want   string // "": refused
		copy   bool
	}{
		{name: "where it was", folder: ".ebb/job", lie: "job/.ebb/job", asked: "job/.ebb/job", want: "job"},
		{name: "by another name", folder: ".ebb/job", lie: "job/.ebb/job", link: [2]string{"job", "link"}, asked: "link/.ebb/job", want: "job"},
		{name: "outside", folder: "W/kept", lie: "kept", asked: "kept", want: "job"},
		{name: "outside, by another name", folder: "W/kept", lie: "kept", link: [2]string{"kept", "link"}, asked: "link", want: "job"},
		{name: "a copy", folder: ".ebb/job", lie: "job/.ebb/job copy/.ebb/job", asked: "copy/.ebb/job", copy: true},
		{name: "a copy beside it", folder: ".ebb/job", lie: "job/.ebb/job job/.ebb/again", asked: "job/.ebb/again", copy: true},
		{name: "a copy of one outside", folder: "W/kept", lie: "kept again", asked: "again", copy: true},
		{name: "moved with its job", folder: ".ebb/job", lie: "moved/.ebb/job", gone: true, asked: "moved/.ebb/job", want: "moved"},
		{name: "moved deep", folder: "a/b/c", lie: "moved/a/b/c", gone: true, asked: "moved/a/b/c", want: "moved"},
		{name: "moved, and another is in its place", folder: ".ebb/job", lie: "job/.ebb/job moved/.ebb/job", asked: "moved/.ebb/job", copy: true},
		{name: "moved without its job", folder: ".ebb/job", lie: "moved/.ebb/job", asked: "moved/.ebb/job"},
		{name: "moved within its job", folder: ".ebb/job", lie: "job/.ebb/again", asked: "job/.ebb/again", want: "job"},
		{name: "moved and renamed", folder: ".ebb/job", lie: "moved/.ebb/again", gone: true, asked: "moved/.ebb/again"},
		{name: "moved, and named by a link from elsewhere", folder: ".ebb/job", lie: "moved/.ebb/job else/.ebb", gone: true,
			link: [2]string{"moved/.ebb/job", "else/.ebb/job"}, asked: "else/.ebb/job"},
		{name: "outside, and the job is gone", folder: "W/kept", lie: "again", gone: true, asked: "again"},
		{name: "of an older engine", lie: "job/.ebb/job", asked: "job/.ebb/job", want: "job"},
		{name: "a copy, of an older engine", lie: "job/.ebb/job copy/.ebb/job", asked: "copy/.ebb/job", copy: true},
		{name: "moved, of an older engine", lie: "moved/.ebb/job", gone: true, asked: "moved/.ebb/job", want: "moved"},
		{name: "where the script said, of an older engine", lie: "kept", asked: "kept", want: "job"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := t.TempDir()
			if !c.gone {
				require.NoError(t, os.MkdirAll(filepath.Join(w, "job"), 0o777))
			}
			for _, dir := range strings.Fields(c.lie) {
				require.NoError(t, os.MkdirAll(filepath.Join(w, dir), 0o777))
			}
			if c.link[0] != "" {
				require.NoError(t, os.Symlink(filepath.Join(w, c.link[0]), filepath.Join(w, c.link[1])))
			}
			m := &Manifest{ID: 3, Job: "job", Dir: filepath.Join(w, "job"), Folder: strings.Replace(c.folder, "W", w, 1)}
			got, err := m.Home(disk.OS{}, filepath.Join(w, c.asked))
			if c.want != "" {
				require.NoError(t, err)
				require.Equal(t, filepath.Join(w, c.want), got)
				return
			}
			var e *ElsewhereError
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.copy, e.Copy)
			require.Equal(t, filepath.Join(w, c.asked), e.Dir)
		})
	}
}
