//go:build !linux

package monitor

import (
	"errors"

	"github.com/cpprof/cpprof/sampledata"
)

// processClock reads the processor time of a process.
var processClock = source(Source{Every: clockEvery}, []column[struct{}]{
	{Monitor: kernel("process.cpu", sampledata.Counter, "ns",
		"the process's CPU clock (clock_gettime)", clockEvery.String())},
}, func(Target) (func(*struct{}) error, func() error, error) {
	return nil, nil, errors.New("only Linux has a clock for another process's processor time")
})
