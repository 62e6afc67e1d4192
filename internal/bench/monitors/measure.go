//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/monitor"
)

// turn is the number of samples of a turn. It lasts as long as
// the time between two reads of the sources that are read least.
const turn = 40

// measure samples a process, with monitors in every other turn.
func measure(dir string, pid, rounds int) (with, without costs, err error) {
	p, b, err := tool.Attach(pid)
	if err != nil {
		return with, without, err
	}
	defer p.Release()
	defer b.Close()
	recording, err := sampledata.Replace(filepath.Join(dir, "bench.cpprof"), b.Header())
	if err != nil {
		return with, without, err
	}
	defer recording.Close()
	set, err := monitor.Open(monitor.Target{PID: pid, Binary: b.Binary(), Seen: b.Seen, ReadAlso: b.ReadAlso}, monitor.Builtin())
	if err != nil {
		return with, without, err
	}
	defer set.Close()
	set.Define(recording)
	monitored := false
	sink := &timedSink{Sink: recording}
	b.AfterHalt(func() {
		before, to := sampler.ProcessorTime(), &without
		if monitored {
			err, to = set.Measure(recording), &with
		}
		to.reading = append(to.reading, sampler.ProcessorTime()-before)
	})
	at := time.Since(b.Header().Start)
	for k := -turn; k < 2*turn*rounds; k++ { // the first ones learn the program, and don't count
		at += interval
		time.Sleep(time.Until(b.Header().Start.Add(at)) - b.Lead())
		to := &without
		if monitored = k >= 0 && k/turn%2 == 0; monitored {
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
			to.storing = append(to.storing, sink.took)
		}
	}
	return with, without, nil
}

// A timedSink measures the processor time that another sink
// takes to store a sample.
type timedSink struct {
	sampledata.Sink
	took time.Duration
}

func (t *timedSink) Sample(s sampledata.Sample, changes []sampledata.Change) error {
	before := sampler.ProcessorTime()
	err := t.Sink.Sample(s, changes)
	t.took = sampler.ProcessorTime() - before
	return err
}

// A sourceCost is what reading one source takes.
type sourceCost struct {
	name  string
	every time.Duration // how often it is read
	took  []time.Duration
}

// measureSources reads each source after each of some samples, as a
// recording does if it is due.
func measureSources(pid, samples int) ([]sourceCost, error) {
	p, b, err := tool.Attach(pid)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	defer b.Close()
	var readers []monitor.Reader
	var all []sourceCost
	for _, s := range monitor.Builtin() {
		r, err := s.Open(monitor.Target{PID: pid, Binary: b.Binary(), Seen: b.Seen, ReadAlso: b.ReadAlso})
		if err != nil {
			continue
		}
		defer r.Close()
		readers, all = append(readers, r), append(all, sourceCost{name: s.Monitors[0].Name, every: max(s.Every, interval)})
	}
	var values []sampledata.Value
	b.AfterHalt(func() {
		for i, r := range readers {
			from := time.Now()
			values, err = r.Read(values[:0])
			all[i].took = append(all[i].took, time.Since(from))
		}
	})
	recording := sampledata.NewBuilder(b.Header())
	at := time.Since(b.Header().Start)
	for range samples {
		at += interval
		time.Sleep(time.Until(b.Header().Start.Add(at)) - b.Lead())
		_, failed := b.Observe(context.Background(), recording, sampledata.Sample{Time: at})
		if failed = errors.Join(failed, err); failed != nil {
			return nil, failed
		}
	}
	return all, nil
}
