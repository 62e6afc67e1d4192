package sampler

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// idleTime returns the idle time of all processors together since the machine
// started.
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
