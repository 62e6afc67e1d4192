package metrics

import (
	"math"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
)

// A Utilisation is how many CPUs a program used on average,
// measured twice. The first is by the samples, which is the root
// of the Server View. The second is by the kernel's clock of the
// program's CPU time, which misses nothing.
type Utilisation struct {
	Goroutines float64 `json:"goroutines"` // goroutines that execute on a CPU
	// processors on which the runtime works for itself; it may sleep there
	Runtime float64 `json:"runtime"`
	// goroutines on a processor whose threads wait for a CPU of
	// the machine
	NoCPU float64 `json:"no_cpu"`
	// of the processors that Goroutines used, as in the Server View
	Share      float64 `json:"share"`
	NoCPUShare float64 `json:"no_cpu_share"` // of the processors that NoCPU has
	// of Goroutines: half the width of the interval of 95 %
	Margin float64 `json:"margin"`
	Clock  float64 `json:"clock"` // CPUs, by the kernel
	// threads that wait for a CPU of the machine, by the kernel;
	// 0 if it does not say
	Delayed float64 `json:"delayed"`
}

// Utilisation returns how many CPUs the program used, and false
// if the recording does not have the kernel's clock.
func (t *Table) Utilisation() (u Utilisation, known bool) {
	if u.Clock, known = t.MeanRate("process.cpu", 0, t.samples); !known {
		return u, false
	}
	u.Delayed, _ = t.MeanRate("threads.run_delay", 0, t.samples)
	cpus := views.NewCPUs(t.r)
	weights := t.r.Weights()
	using := make([]hotspots.Observation, t.samples)
	var weight, own, noCPU, processors float64
	for i := range t.samples {
		of := float64(weights.Of(i, i+1))
		using[i] = hotspots.Observation{Weight: of, Hits: float64(cpus.Used[i]),
			Base: float64(cpus.Processors[i])}
		weight += of
		own += of * float64(cpus.Runtime[i])
		noCPU += of * float64(cpus.NoCPU[i])
		processors += of * float64(cpus.Processors[i])
	}
	if weight == 0 {
		return u, false
	}
	used, all := hotspots.Estimated(using, 1), processors/weight
	u.Goroutines, u.Runtime, u.NoCPU = used.Share*all, own/weight, noCPU/weight
	u.Share, u.NoCPUShare = used.Share, u.NoCPU/all
	u.Margin = used.Margin() * all
	return u, true
}

// MeanRate returns by how much a counter grew a nanosecond, from
// its first to its last reading in a range of samples. A clock
// of CPU time grows by the CPUs that are used.
func (t *Table) MeanRate(name string, from, to int) (rate float64, known bool) {
	m := t.byName[name]
	if m == nil || m.growth == nil {
		return 0, false
	}
	counter := m.even()
	first, last := from, to-1
	for first < last && math.IsNaN(counter[first]) {
		first++
	}
	for first < last && math.IsNaN(counter[last]) {
		last--
	}
	if first >= last {
		return 0, false
	}
	passed := t.r.Samples.Time(last) - t.r.Samples.Time(first)
	return (counter[last] - counter[first]) / float64(passed), passed > 0
}

// Differs reports whether the samples and the clock differ by
// more than chance explains, and by more than a few percent. The
// clock may include the runtime's own work or not.
func (u *Utilisation) Differs() bool {
	const sure = 1.5 // an interval of 95 % spans two standard errors to each side: that is three
	off := max(u.Goroutines-u.Clock, u.Clock-u.Goroutines-u.Runtime)
	return off > max(sure*u.Margin, 0.03*u.Clock, 0.01)
}
