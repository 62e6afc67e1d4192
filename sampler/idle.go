package sampler

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// An idleMeter measures how many of the machine's processors are idle.
type idleMeter struct {
	at   time.Duration // time of the last reading, by the recording's clock
	idle time.Duration // idle time of all processors together since the machine started
}

// idlePeriod is the minimum time between two readings. The
// kernel counts idle time in hundredths of a second.
const idlePeriod = time.Second

func newIdleMeter(now time.Duration) idleMeter {
	idle, _ := idleTime()
	return idleMeter{now, idle}
}

// read returns the mean number of idle processors since the last
// reading. It returns false if the number is not known, or if
// the last reading was less than idlePeriod ago.
func (m *idleMeter) read(now time.Duration) (processors float64, ok bool) {
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

// idleTime returns the idle time of all processors together
// since the machine started. Only Linux shows it.
func idleTime() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, false
	}
	// seconds since the start, and idle seconds of all processors together
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	idle, err := strconv.ParseFloat(fields[1], 64)
	return time.Duration(idle * float64(time.Second)), err == nil
}
