package views

import "github.com/cpprof/cpprof/sampledata"

// CPUs has, for each sample, what the processors and the CPUs of
// the machine did.
type CPUs struct {
	Used    []int32 // goroutines on a CPU: what :RUN counts
	NoCPU   []int32 // goroutines on a processor whose thread waits for a CPU: ready without one
	Runtime []int32 // processors on which the runtime works for itself; it may sleep there
	// what a share of the processors is of: see capacityOf; or,
	// if more goroutines use CPUs, these
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
		for _, g := range held {
			if g == sampledata.SystemProcessor {
				c.Runtime[i]++
			}
		}
		c.Processors[i] = max(int32(capacityOf(processorsIn(r, len(held)), allowed)), c.Used[i])
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

// capacityOf returns what a share of the processors is of:
// GOMAXPROCS or, if fewer, the CPUs that the program may run on.
// A server that sets GOMAXPROCS to 128 can't use more.
func capacityOf(processors, allowed int64) int64 {
	if 0 < allowed && allowed < processors {
		return allowed
	}
	return processors
}

// allowedCPUs returns how many CPUs the program might run on
// when that was last read; 0 if it was not measured.
func allowedCPUs(r *sampledata.Recording) (cpus int64) {
	for i := range r.Series {
		if r.Series[i].Name != "process.cpus" {
			continue
		}
		for _, v := range r.Series[i].All() {
			if x, ok := v.Float(); ok {
				cpus = int64(x)
			}
		}
	}
	return cpus
}
