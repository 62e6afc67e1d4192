//go:build linux && (amd64 || arm64)

package snapshot

import (
	"math/rand/v2"
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
)

// A timing decides when each sample surveys the target, and when
// it halts it. The moment of the halt must not depend on what
// the target does. On a busy machine an ordinary thread gets a
// CPU just when the target gives one up. So the halting thread
// sleeps, with its raised priority, until the moment that the
// caller chose at random. Then it keeps its CPU until the halt.
// It takes that CPU from the target, so the halt should come
// soon. If there are few goroutines, the survey is a part of the
// halt:
//
//	asleep, raised priority | halt
//	until the chosen moment
//
// For example, a program whose five goroutines exchange messages
// every 30 µs was seen with a sixth less ready goroutines than
// it had, when the survey kept a CPU from it for 0.2 ms before
// each halt. If there are more goroutines, the survey comes
// first:
//
//	asleep, raised priority | survey | halt
//	until the chosen moment
//
// What the thread does at its usual priority also makes a
// difference, for some milliseconds: the scheduler shares a busy
// CPU among groups, such as sessions. A CPU that was given to
// the sampler's group passes on to the target, if that belongs
// to the group too. A target that had a sixth of a CPU was found
// on it in 87 % of the moments 1 ms after its sampler had slept,
// in 63 % after 6 ms, and in 50 % after 12 ms, as often as at
// any time. So the thread falls asleep early, and does not
// survey the target before that moment. How early varies: a
// target that does the same every few milliseconds would
// otherwise be found in the same phase after each of these
// disturbances. But it is less than 10 ms: if a goroutine, such
// as the halting thread's, has its processor for longer, Go's
// scheduler interrupts the thread.
//
// A survey of very many goroutines takes too long to keep others
// from a CPU:
//
//	asleep, usual priority | survey, usual priority | asleep, raised priority | halt
//	until shortly before     takes about as long as   until the chosen moment
//	                         the previous ones
//
// If the machine is so busy that the thread does not wake in
// time, the sample does not go on as soon as it can: the thread
// has just got a CPU then, which the target may have given up.
// It chooses another random moment.
type timing struct {
	start  time.Time     // the sampling began; samples' times count from here
	survey time.Duration // likely duration of the next survey
}

const (
	// an ordinary thread gets a CPU within this time, even on a
	// busy machine
	ahead    = 9500 * time.Microsecond
	vary     = 3 * time.Millisecond   // it is less than that by a random time of up to this
	short    = time.Millisecond       // a survey is short up to this
	reserve  = 300 * time.Microsecond // for a long survey, beyond its likely duration
	punctual = 200 * time.Microsecond // after the chosen moment the thread still wakes in time
	postpone = 4 * time.Millisecond   // another moment is chosen from a time as long as this
	attempts = 4                      // to wake in time
)

// lead returns how long before the halt a sample should begin.
func (t *timing) lead() time.Duration { return ahead - rand.N(vary) + t.before() }

// before returns how long before the chosen moment the survey
// begins: 0 if it is short, and begins at that moment.
func (t *timing) before() time.Duration {
	if t.survey <= short {
		return 0
	}
	return t.survey + t.survey/2 + reserve
}

// surveyed takes note of how long a survey took. Few surveys
// take much longer than others: the first one, and those that
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

// A wake is when to halt, and when the thread woke for that.
type wake struct {
	at   time.Time // the chosen moment
	woke time.Time // if the thread has slept until then, when it woke: the halt is to begin at once
}

// halt returns when the halt is to begin; the zero Time means at once.
func (w *wake) halt() time.Time {
	if !w.woke.IsZero() {
		return time.Time{}
	}
	return postponed(w.at)
}

// await sleeps until it is time for the survey before a halt at
// the given time.
func (t *timing) await(h *halt.Halter, at time.Time) wake {
	if t.before() == 0 {
		return t.awaitMoment(h, at)
	}
	return t.awaitSurvey(at)
}

// awaitMoment sleeps until the moment of the halt. If it does
// not wake in time, it chooses a later one.
func (t *timing) awaitMoment(h *halt.Halter, at time.Time) wake {
	for range attempts {
		if time.Until(at) < 0 {
			at = postponed(at).Add(ahead)
		}
		h.SleepUntil(at)
		if time.Since(at) < punctual {
			break
		}
	}
	return wake{at: at, woke: time.Now()}
}

// awaitSurvey sleeps until it is time for a long survey. If it
// does not wake in time for that, it chooses a later moment for
// the halt.
func (t *timing) awaitSurvey(at time.Time) wake {
	for range attempts {
		at = postponed(at.Add(-t.before())).Add(t.before())
		halt.SleepUntil(at.Add(-t.before()))
		if time.Until(at) > t.survey {
			break
		}
	}
	return wake{at: at}
}

// postponed returns a time that has not passed: the given one,
// or a random one shortly after now.
func postponed(at time.Time) time.Time {
	if now := time.Now(); now.After(at) {
		return now.Add(rand.N(postpone))
	}
	return at
}
