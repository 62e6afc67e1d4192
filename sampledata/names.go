package sampledata

import "strconv"

var (
	runStateNames = []string{"unknown", "running", "detached", "runnable", "waiting", "blocked"}
	evidenceNames = []string{"none", "inferred", "ambiguous", "recorded"}
	endCauseNames = []string{"unknown", "duration", "interrupted", "exited", "killed", "exec", "failed"}
)

func (r RunState) String() string { return nameOf(runStateNames, int(r)) }
func (e Evidence) String() string { return nameOf(evidenceNames, int(e)) }
func (c EndCause) String() string { return nameOf(endCauseNames, int(c)) }

// nameOf gives the number for what has no name, so that a bad value can be shown in an error.
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}
