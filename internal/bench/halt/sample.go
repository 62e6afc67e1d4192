//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// interval is the time between samples: 100 samples a second.
const interval = 10 * time.Millisecond

func untilInputEnds() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return ctx
}

// record records a process into files until the input ends, and
// prints the rate and the processor time.
func record(pid int, maxCPU float64) error {
	o := sampler.Options{
		Rate: 100, Jitter: sampler.DefaultJitter, MaxOverhead: sampler.DefaultMaxOverhead, MaxCPU: maxCPU,
	}
	if maxCPU == 0 {
		o.MaxCPU, o.Yield = sampler.DefaultMaxCPU, true
	}
	p, b, err := tool.Attach(pid)
	if err != nil {
		return err
	}
	defer b.Close()
	dir, err := os.MkdirTemp("", "cpprof-halt-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sink, err := sampledata.Create(filepath.Join(dir, "recording"), b.Header())
	if err != nil {
		return err
	}
	begin, cpu := time.Now(), sampler.ProcessorTime()
	r, err := sampler.Record(untilInputEnds(), p, b, sink, o)
	if err != nil {
		return err
	}
	took := time.Since(begin).Seconds()
	return json.NewEncoder(os.Stdout).Encode(measures{
		Rate: float64(r.Samples) / took, CPU: (sampler.ProcessorTime() - cpu).Seconds() / took, Halted: r.HaltedShare(),
	})
}

// sample takes samples of a process, 100 a second, until there
// are enough or the input ends, and prints what they cost.
func sample(pid, samples int) error {
	_, b, err := tool.Attach(pid)
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
	ctx := untilInputEnds()
	begin, cpu := time.Now(), sampler.ProcessorTime()
	for k := 0; k < samples && ctx.Err() == nil; k++ {
		at := begin.Add(time.Duration(k) * interval)
		time.Sleep(time.Until(at) - b.Lead())
		s, err := b.Observe(context.Background(), sink, sampledata.Sample{Time: at.Sub(b.Header().Start)})
		if err != nil {
			if _, ok := errors.AsType[*sampler.EndedError](err); ok {
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
	took := time.Since(begin).Seconds()
	m.CPU, m.Rate = (sampler.ProcessorTime()-cpu).Seconds()/took, float64(len(halts))/took
	for _, h := range halts {
		m.Halted += float64(h) / 1e6 / took
	}
	slices.Sort(halts)
	n := len(halts)
	m.Median, m.P90, m.P99, m.Longest = halts[n/2], halts[n*9/10], halts[n*99/100], halts[n-1]
	m.Reused = float64(reused) / float64(stacks)
	m.MB = memory()
	return json.NewEncoder(os.Stdout).Encode(m)
}

// memory returns the largest memory use of this process so far, in MB.
func memory() int {
	text, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(text, []byte("VmHWM:"))
	kb := 0
	fmt.Sscan(string(after), &kb)
	return kb >> 10
}
