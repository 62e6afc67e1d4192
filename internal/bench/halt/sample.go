//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/snapshot"
)

// interval is that of 100 Hz.
const interval = 10 * time.Millisecond

// sample takes samples of a process and prints what they cost.
func sample(pid, samples int) error {
	p, err := sampler.Find(pid)
	if err != nil {
		return err
	}
	b, err := snapshot.Attach(p)
	if err != nil {
		return err
	}
	defer b.Close()
	sink := sampledata.NewBuilder(b.Header())
	var halts []int
	reused, stacks := 0, 0
	var m measures
	// The first sample unwinds everything, and is not counted.
	for range 20 {
		if _, err = b.Observe(context.Background(), sink, sampledata.Sample{}); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	begin, cpu := time.Now(), processorTime()
	for k := range samples {
		time.Sleep(time.Until(begin.Add(time.Duration(k) * interval)))
		s, err := b.Observe(context.Background(), sink, sampledata.Sample{Time: time.Since(begin)})
		if err != nil {
			var ended *sampler.EndedError
			if errors.As(err, &ended) {
				return err
			}
			continue
		}
		halts = append(halts, int(s.Halt.Microseconds()))
		reused += int(s.Reused)
		stacks += int(s.Reused) + len(s.Processors)
		m.Rechecked += int(s.Rechecked)
		m.Wrong += int(s.Wrong)
	}
	if len(halts) == 0 {
		return errors.New("no sample succeeded")
	}
	m.CPU = (processorTime() - cpu).Seconds() / time.Since(begin).Seconds()
	slices.Sort(halts)
	n := len(halts)
	m.Median, m.P90, m.P99, m.Longest = halts[n/2], halts[n*9/10], halts[n*99/100], halts[n-1]
	m.Reused = float64(reused) / float64(stacks)
	m.MB = memory()
	return json.NewEncoder(os.Stdout).Encode(m)
}

func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is the most that this process held at once, in MB.
func memory() int {
	text, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(text, []byte("VmHWM:"))
	kb := 0
	fmt.Sscan(string(after), &kb)
	return kb >> 10
}
