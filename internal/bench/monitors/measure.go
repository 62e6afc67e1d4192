//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"errors"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/monitor"
	"github.com/cpprof/cpprof/sampler/snapshot"
)

// The samples of a turn, and the time between two.
const (
	turn     = 10
	interval = 50 * time.Millisecond
)

// measure samples a process, with monitors in every other turn.
func measure(pid, rounds int) (with, without costs, err error) {
	p, err := sampler.Find(pid)
	if err != nil {
		return with, without, err
	}
	b, err := snapshot.Attach(p)
	if err != nil {
		return with, without, err
	}
	defer b.Close()
	recording := sampledata.NewBuilder(b.Header())
	set, err := monitor.Open(monitor.Target{PID: pid, Binary: b.Binary()}, monitor.Builtin())
	if err != nil {
		return with, without, err
	}
	defer set.Close()
	set.Define(recording)
	monitored := false
	sink := sampledata.BeforeSample(recording, func() {
		if monitored {
			err = set.Measure(recording)
		}
	})
	at := time.Since(b.Header().Start)
	for k := -2 * turn; k < 2*turn*rounds; k++ { // the first ones learn the program, and don't count
		at += interval
		time.Sleep(time.Until(b.Header().Start.Add(at)) - b.Lead())
		to := &without
		if monitored = k/turn%2 == 0; monitored {
			to = &with
		}
		before := sampler.ProcessorTime()
		s, failed := b.Observe(context.Background(), sink, sampledata.Sample{Time: at})
		if failed = errors.Join(failed, err); failed != nil {
			return with, without, failed
		}
		if k >= 0 {
			to.cpu = append(to.cpu, sampler.ProcessorTime()-before)
			to.halts = append(to.halts, s.Halt)
		}
	}
	return with, without, nil
}
