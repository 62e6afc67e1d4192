//go:build amd64 || arm64

package delve

import (
	"strconv"
	"strings"
)

// innerThreads returns the thread ids of a target in another pid namespace,
// as the target sees them, with our ids; nil if the target is in ours.
func innerThreads(pid int) map[uint64]int {
	if len(strings.Fields(statusField(pid, pid, "NSpid:"))) < 2 {
		return nil
	}
	inner := map[uint64]int{}
	for _, tid := range tasks(pid) {
		ids := strings.Fields(statusField(pid, tid, "NSpid:"))
		if len(ids) == 0 {
			continue
		}
		if id, err := strconv.ParseUint(ids[len(ids)-1], 10, 64); err == nil {
			inner[id] = tid
		}
	}
	return inner
}
