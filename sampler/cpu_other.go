//go:build !unix

package sampler

import "time"

// processorTime is not known here; a bound on it has no effect.
func processorTime() time.Duration { return 0 }
