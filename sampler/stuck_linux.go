//go:build amd64 || arm64

package sampler

import (
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
)

// Stuck waits for a while. It returns the id of a process if the
// process's memory was being read all the time, and otherwise 0.
func Stuck(patience time.Duration) (pid int) { return halt.Stuck(patience) }
