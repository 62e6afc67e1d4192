package sampledata

import "strconv"

var (
	runStateNames = []string{"unknown", "running", "detached", "runnable", "waiting", "blocked"}
	evidenceNames = []string{"none", "inferred", "ambiguous", "recorded", "likely", "free"}
	layerNames    = []string{"application", "sampled", "runtime", "kernel", "hardware"}
	kindNames     = []string{"counter", "level", "nominal"}
	endCauseNames = []string{"unknown", "duration", "interrupted", "exited", "killed",
		"exec", "failed"}
)

func (r RunState) String() string { return nameOf(runStateNames, int(r)) }

// waits reports whether two runs in a row may be the same: the
// goroutine has run in between.
func (r RunState) waits() bool    { return r == Waiting || r == Blocked }
func (e Evidence) String() string { return nameOf(evidenceNames, int(e)) }
func (l Layer) String() string    { return nameOf(layerNames, int(l)) }
func (k Kind) String() string     { return nameOf(kindNames, int(k)) }
func (c EndCause) String() string { return nameOf(endCauseNames, int(c)) }

// MarshalText writes the name.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// nameOf returns the number if it has no name. Errors can then
// show invalid values.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}
