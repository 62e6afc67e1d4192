//go:build linux && (amd64 || arm64)

package snapshot

import (
	"errors"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/halt"
)

// Bounds of a halt: at first, for each processor, and at last.
const (
	firstLimit     = time.Millisecond
	limitProcessor = 100 * time.Microsecond
	lastLimit      = 50 * time.Millisecond
)

// A haltLimit says how long a halt may take. A thread on a CPU stops within microseconds; one that doesn't waits for a CPU
// that something else has, on a busy machine for many milliseconds, and those that did stop would stand still all that
// time. It is cheaper to let them go and try again at the next tick. Where that fails again and again, there is nothing
// for it but to wait longer.
type haltLimit struct {
	failures int // in a row
}

// next is the limit of the next halt.
func (l *haltLimit) next(processors int) time.Duration {
	first := firstLimit + time.Duration(processors)*limitProcessor
	return min(first<<min(l.failures/2, 10), lastLimit)
}

// learn tells how the halt ended.
func (l *haltLimit) learn(err error) {
	if errors.Is(err, halt.ErrSlow) {
		l.failures++
	} else {
		l.failures = 0
	}
}
