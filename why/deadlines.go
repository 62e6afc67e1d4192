package why

import (
	"math"
	"slices"
	"time"
)

const (
	leastEnded  = 5  // waits that began and ended, if how long each takes is known
	eachSamples = 10 // of such a wait, at least
)

// lasts returns how long each wait of a finding takes, if all take
// about as long; else 0. A deadline or a timer may end such waits, if
// nobody is known to.
func (s *searcher) lasts(f *Finding) time.Duration {
	if !slices.Contains([]Kind{ChannelKind, ConditionKind, IOKind}, f.Kind) || len(f.Causes) > 0 || f.limits() ||
		f.Bound != nil || paces(s, f) >= isSign {
		return 0
	}
	least, most, ended := time.Duration(0), time.Duration(math.MaxInt64), 0
	for run := range s.e.runs(s.hits(f)) {
		// a sample has it, and the one before or after has not
		least = max(least, s.e.time(run.Last)-s.e.time(run.First))
		if run.First <= s.e.from || run.Last >= s.e.to-1 {
			continue
		}
		if run.Last+1-run.First < eachSamples {
			return 0
		}
		ended++
		most = min(most, s.e.time(run.Last+1)-s.e.time(run.First-1))
	}
	if ended < leastEnded || least > most || most-least > 2*most/eachSamples {
		return 0
	}
	return (least + most) / 2
}
