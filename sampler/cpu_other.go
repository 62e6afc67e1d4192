//go:build !unix

package sampler

import "time"

// ProcessorTime returns 0: the time is not known on this system, so a bound on
// it has no effect.
func ProcessorTime() time.Duration { return 0 }
