package conn

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebb-lang/ebb/exec"
	"github.com/ebb-lang/ebb/lang/types"
	"github.com/ebb-lang/ebb/stdlib/spec"
)

// What is known of a call that names files, before anything is opened.

// severalFiles reports whether a call names more than one file, or may: a folder, a pattern.
func severalFiles(a *types.ConnArgs, env *exec.Env) bool {
	paths := optStrings(a, "path")
	if len(paths) != 1 {
		return len(paths) > 1
	}
	p := paths[0]
	info, err := env.FS.Stat(p)
	return err == nil && info.IsDir() || strings.HasSuffix(p, "/") || err != nil && strings.ContainsAny(p, "*?[")
}

// takes makes the Takes of a format whose files in a folder have these endings; nil: any.
func takes(exts []string) func(a *types.ConnArgs, path string, env *exec.Env) bool {
	return func(a *types.ConnArgs, path string, env *exec.Env) bool {
		if path == stdio {
			return false
		}
		path = filepath.Clean(path)
		return slices.ContainsFunc(optStrings(a, "path"), func(p string) bool { return p != stdio && covers(p, path, exts, env) })
	}
}

// covers reports whether what a call names with p includes a file at path, should there be one.
func covers(p, path string, exts []string, env *exec.Env) bool {
	clean := filepath.Clean(p)
	if clean == path {
		return true
	}
	if strings.ContainsAny(p, "*?[") {
		if _, err := env.FS.Stat(p); err != nil {
			names := strings.Split(strings.Trim(filepath.ToSlash(path), "/"), "/")
			return filepath.IsAbs(p) == filepath.IsAbs(path) && matchDeep(strings.Split(strings.Trim(filepath.ToSlash(clean), "/"), "/"), names) && !hidden(names[len(names)-1])
		}
	}
	rel, err := filepath.Rel(clean, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return false
	}
	if info, err := env.FS.Stat(clean); err != nil && !strings.HasSuffix(p, "/") || err == nil && !info.IsDir() {
		return false
	}
	if slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), hidden) {
		return false
	}
	base := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	return exts == nil || slices.Contains(exts, strings.ToLower(filepath.Ext(base)))
}

// partFile makes the File of a format whose files in a folder end so.
func partFile(ext string) func(a *types.ConnArgs) string {
	return func(a *types.ConnArgs) string {
		paths := optStrings(a, "path")
		if len(a.Rows) == 0 || len(paths) != 1 {
			return ""
		}
		name := paths[0]
		for _, it := range a.Rows {
			name = filepath.Join(name, it.Name+"=x")
		}
		pack, _ := packFor(optString(a, "compression"), paths[0])
		return filepath.Join(name, "part-0"+ext+packExt(pack))
	}
}

// delivery: what goes into a regular file is put there, and taken back, with its checkpoint.
func delivery(a *types.ConnArgs, env *exec.Env) spec.Delivery {
	for _, p := range optStrings(a, "path") {
		if exec.Passing(p, env.FS) {
			return spec.Shown
		}
	}
	return spec.ExactlyOnce
}
