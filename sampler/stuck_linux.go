//go:build amd64 || arm64

package sampler

import (
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
)

// Stuck waits for a while, and returns the id of a process whose memory was being read all the time; 0 if there is none.
func Stuck(patience time.Duration) (pid int) { return halt.Stuck(patience) }
