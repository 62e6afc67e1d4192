package probe

import "time"

// A throttle decides which instruments cost too much. What they
// take of the target's time is kept within a share of the time;
// a short burst may take more.
type throttle struct {
	share  float64 // 0: no bound
	credit time.Duration
	last   time.Duration
}

// burst is how much time instruments may take at once, beyond
// the share. An instrument that takes all of a processor's time
// is taken out after so long.
const burst = 10 * time.Millisecond

func newThrottle(share float64, now time.Duration) *throttle {
	return &throttle{share: share, credit: burst, last: now}
}

// spend adds the time that instruments took since the last call,
// and reports whether that is too much.
func (t *throttle) spend(cost, now time.Duration) bool {
	if t.share == 0 {
		return false
	}
	t.credit = min(t.credit+time.Duration(t.share*float64(now-t.last)), burst) - cost
	t.last = now
	return t.credit < 0
}

// forgive is called when an instrument has been taken out: the
// others begin anew.
func (t *throttle) forgive() { t.credit = burst }
