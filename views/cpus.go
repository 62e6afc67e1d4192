package views

import (
	"math"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// CPUs has, for each sample, what the processors and the CPUs of
// the machine did.
type CPUs struct {
	Used    []int32 // goroutines on a CPU: what :RUN counts
	NoCPU   []int32 // goroutines on a processor whose thread waits for a CPU: ready without one
	Runtime []int32 // processors on which the runtime works for itself; it may sleep there
	// what a share of the processors is of: see usable; or, if
	// more goroutines use CPUs, these
	Processors []int32
}

// NewCPUs counts who used the CPUs in the samples of a
// recording. A share of the processors is the weight of Used
// divided by the weight of Processors, as in the Server View.
func NewCPUs(r *sampledata.Recording) *CPUs {
	n, allowed := r.Samples.Len(), allowedCPUs(r)
	c := &CPUs{make([]int32, n+1), make([]int32, n+1), make([]int32, n), make([]int32, n)}
	for _, run := range r.Runs.All() {
		counts := c.Used
		switch DoingOf(run) {
		case WithoutCPU:
			counts = c.NoCPU
		case Executing:
		default:
			continue
		}
		counts[run.First]++
		counts[run.Last+1]--
	}
	for i := range n {
		if i > 0 {
			c.Used[i] += c.Used[i-1]
			c.NoCPU[i] += c.NoCPU[i-1]
		}
		held := r.Samples.At(i).Processors
		c.Runtime[i] += int32(lists.Count(held,
			func(g sampledata.GoroutineID) bool { return g == sampledata.SystemProcessor }))
		c.Processors[i] = max(int32(allowed.of(i, processorsIn(r, len(held)))), c.Used[i])
	}
	c.Used, c.NoCPU = c.Used[:n], c.NoCPU[:n]
	return c
}

// processorsIn returns the number of processors in a sample that
// lists some. If it lists none, it is the number in the header.
func processorsIn(r *sampledata.Recording, listed int) int64 {
	if listed > 0 {
		return int64(listed)
	}
	return int64(max(1, r.Header.GOMAXPROCS))
}

// A usable says how many processors a program can use at once:
// GOMAXPROCS or, if fewer, the CPUs that it may run on. A server
// that sets GOMAXPROCS to 128 can't use more. It has the CPUs in
// each sample; nil if they were not measured.
type usable []int32

// of returns the number, given all processors in a sample.
func (u usable) of(sample int, processors int64) int64 {
	if u != nil && 0 < u[sample] {
		return min(processors, int64(u[sample]))
	}
	return processors
}

// same reports whether the CPUs are the same in two samples.
func (u usable) same(a, b int32) bool { return u == nil || u[a] == u[b] }

// allowedCPUs returns how many CPUs a program might run on.
func allowedCPUs(r *sampledata.Recording) usable {
	for i := range r.Series {
		if r.Series[i].Name != "process.cpus" {
			continue
		}
		u := make(usable, r.Samples.Len())
		last := 0
		for sample, v := range r.Series[i].All() {
			if x, ok := v.Float(); ok && sample < len(u) {
				for ; last < sample; last++ {
					u[last] = u[max(last-1, 0)]
				}
				u[sample] = int32(min(max(x, 0), math.MaxInt32))
				last = sample + 1
			}
		}
		for ; 0 < last && last < len(u); last++ {
			u[last] = u[last-1]
		}
		return u
	}
	return nil
}
