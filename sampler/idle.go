package sampler

import "time"

// An idleMeter tells how much of the machine's processors is idle.
type idleMeter struct {
	at   time.Duration // when it looked last, by the recording's clock
	idle time.Duration // of all processors together since the machine started
}

// idlePeriod is over how long it takes the mean. The kernel counts in hundredths of a second.
const idlePeriod = time.Second

func newIdleMeter(now time.Duration) idleMeter {
	idle, _ := idleTime()
	return idleMeter{now, idle}
}

// look gives the mean number of idle processors since the last look. It is not ok where that can't be told, or was
// only just.
func (m *idleMeter) look(now time.Duration) (processors float64, ok bool) {
	if now-m.at < idlePeriod {
		return 0, false
	}
	idle, ok := idleTime()
	if !ok {
		return 0, false
	}
	processors = float64(idle-m.idle) / float64(now-m.at)
	m.at, m.idle = now, idle
	return max(processors, 0), true
}
