// Package conn holds the connectors: each is one definition in one file that registers itself with define. Files of
// text share a framework (files.go), which knows how files are found, cut, read in parallel, followed and written; a
// format (CSV, JSON lines, lines) only knows records.
package conn

import "github.com/ebb-lang/ebb/stdlib/spec"

var all []*spec.Conn

// define registers a connector; it is called from package-level variables only.
func define(c spec.Conn) bool {
	all = append(all, &c)
	return true
}

// All returns the connectors of this package, in no particular order. The caller must not change them.
func All() []*spec.Conn { return all }
