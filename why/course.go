package why

import (
	"time"

	"github.com/cpprof/cpprof/refine/hotspots"
)

// A Step of a hypothesis is a change of its verdict as evidence grew.
type Step struct {
	At      time.Duration     `json:"at"` // since the recording's start
	Verdict hotspots.Verdict  `json:"verdict"`
	Share   hotspots.Estimate `json:"share"`
}

// courseMoments is the number of moments at which the verdicts
// of the past are computed.
const courseMoments = 60

// course returns how the verdict on a hypothesis changed, from
// the first samples on. The samples are what the search saw
// then, so that the verdicts are those that it had.
func (e *evidence) course(all []hotspots.Observation, bar float64) (steps []Step) {
	last := 0
	for k := 1; k <= courseMoments; k++ {
		n := len(all) * k / courseMoments
		if n < minSamples || n == last {
			continue
		}
		last = n
		share := hotspots.Estimated(all[:n], 1)
		if v := share.Against(bar); len(steps) == 0 || steps[len(steps)-1].Verdict != v {
			steps = append(steps, Step{e.time(e.from + int32(n) - 1), v, share})
		}
	}
	return steps
}
