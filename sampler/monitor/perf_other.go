//go:build !linux

package monitor

import "errors"

func openPerf(Target, []perfEvent) (Reader, error) {
	return nil, errors.New("only Linux has performance events (perf_event_open)")
}
