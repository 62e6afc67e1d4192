package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// longVersion returns what --version prints.
func longVersion() string {
	return fmt.Sprintf("cpprof %s %s %s/%s", version(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
}

// released is the version of a release, which internal/release sets.
var released string

// version returns the version of the release or of the module. A build from a
// checkout has the commit in it.
func version() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	return v
}
