//go:build linux && (amd64 || arm64)

package snapshot

import (
	"math/rand/v2"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/halt"
)

// A timing decides when each sample surveys the target, and when it halts it. The moment of the halt must not depend on
// what the target does. On a busy machine an ordinary thread gets a CPU just when the target gives one up. So the halting
// thread sleeps, with its raised priority, until the moment that the caller chose at random:
//
//	asleep, usual priority | survey, usual priority | asleep, raised priority | halt
//	until shortly before     takes about as long as   until the chosen moment   at the chosen moment
//	                         the previous ones
//
// If the machine is so busy that there is no time for the survey before that moment, the sample does not halt the target as
// soon as it can: it has just got a CPU then, which the target may have given up. It chooses another random moment shortly
// after.
type timing struct {
	start  time.Time     // the sampling began; samples' times count from here
	survey time.Duration // likely duration of the next survey
}

const (
	ahead    = 5 * time.Millisecond   // an ordinary thread gets a CPU within this time, even on a busy machine
	reserve  = 300 * time.Microsecond // for the survey, beyond its likely duration
	postpone = 4 * time.Millisecond   // another moment is chosen from a time as long as this
	attempts = 4                      // to be on time for a survey
)

// lead returns how long before the halt a sample should begin.
func (t *timing) lead() time.Duration { return ahead + t.before() }

// before returns how long before the halt the survey begins.
func (t *timing) before() time.Duration { return t.survey + t.survey/2 + reserve }

// surveyed takes note of how long a survey took. Few surveys take much longer than others: the first one, and those that
// wait for a CPU.
func (t *timing) surveyed(took time.Duration) {
	switch {
	case t.survey == 0:
		t.survey = min(took, time.Millisecond)
	case took < t.survey:
		t.survey -= (t.survey - took) / 2
	default:
		t.survey += (min(took, 4*t.survey) - t.survey) / 8
	}
}

// await sleeps until it is time for the survey before a halt at the given time. It returns when to halt: at that time, or
// later if there is no time for the survey.
func (t *timing) await(at time.Time) time.Time {
	for range attempts {
		at = postponed(at.Add(-t.before())).Add(t.before())
		halt.SleepUntil(at.Add(-t.before()))
		if time.Until(at) > t.survey {
			break
		}
	}
	return at
}

// postponed returns a time that has not passed: the given one, or a random one shortly after now.
func postponed(at time.Time) time.Time {
	if now := time.Now(); now.After(at) {
		return now.Add(rand.N(postpone))
	}
	return at
}
