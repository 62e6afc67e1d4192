//go:build !linux

package sampler

import "time"

func idleTime() (time.Duration, bool) { return 0, false }
