package goruntime

import (
	"fmt"
	"regexp"
	"strconv"
)

// The supported lines of Go: 1.21 to 1.27.
const (
	OldestLine = 21
	NewestLine = 27
)

// A Release is a release of Go 1.
type Release struct {
	Line  int // 26 of go1.26.8
	Patch int // 8 of go1.26.8
}

func (r Release) String() string { return fmt.Sprintf("go1.%d.%d", r.Line, r.Patch) }

// version finds the release in what build info says: "go1.26.8", "devel
// go1.27-3f2a1b", "go1.25.3 X:nogreenteagc".
var version = regexp.MustCompile(`\bgo1\.(\d{1,4})(?:\.(\d{1,4}))?(.*)$`)

// ParseRelease reads a Go version. Exact is false for what is
// near a release and is not one: development versions, release
// candidates, experiments, vendors' builds.
func ParseRelease(s string) (r Release, exact bool, err error) {
	m := version.FindStringSubmatch(s)
	if m == nil {
		return Release{}, false, fmt.Errorf("unknown Go version %q", s)
	}
	r.Line, _ = strconv.Atoi(m[1])
	r.Patch, _ = strconv.Atoi(m[2])
	return r, m[0] == s && m[3] == "" && m[2] != "", nil
}

// Compare orders releases by age.
func (r Release) Compare(o Release) int {
	if r.Line != o.Line {
		return r.Line - o.Line
	}
	return r.Patch - o.Patch
}
