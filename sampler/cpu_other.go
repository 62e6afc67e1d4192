//go:build !unix

package sampler

import "time"

// ProcessorTime returns 0: the time is not known on this system,
// so a bound on it has no effect.
func ProcessorTime() time.Duration { return 0 }

// FamilyProcessorTime returns 0, too.
func FamilyProcessorTime() time.Duration { return 0 }
