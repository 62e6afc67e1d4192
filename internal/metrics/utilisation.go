package metrics

import (
	"math"

	"github.com/cpprof/cpprof/sampledata"
)

// A Utilisation is how many CPUs a program used on average: by the samples, which is the root of the Server View, and by the
// kernel's clock of the program's CPU time, which misses nothing.
type Utilisation struct {
	Goroutines float64 `json:"goroutines"`       // goroutines that execute on a CPU
	Runtime    float64 `json:"runtime"`          // processors on which the runtime works for itself; it may sleep there
	Margin     float64 `json:"margin,omitempty"` // of Goroutines: half the width of the interval of 95 %; 0 if there are too few samples
	Clock      float64 `json:"clock"`            // CPUs, by the kernel
}

// Utilisation returns how many CPUs the program used, and false if the recording does not have the kernel's clock.
func (t *Table) Utilisation() (u Utilisation, known bool) {
	if u.Clock, known = t.meanCPUs(); !known {
		return u, false
	}
	running := t.columnOf(t.byName["goroutines.running"])
	weights := t.r.Weights()
	using, of := make([]float64, t.samples), make([]float64, t.samples)
	var weight, used, own float64
	for i := range t.samples {
		of[i] = float64(weights.Of(i, i+1))
		using[i] = of[i] * running[i]
		weight += of[i]
		used += using[i]
		for _, p := range t.r.Samples.At(i).Processors {
			if p == sampledata.SystemProcessor {
				own += of[i]
			}
		}
	}
	if weight == 0 {
		return u, false
	}
	u.Goroutines, u.Runtime = used/weight, own/weight
	if e, enough := RatioError(using, of); enough {
		const z = 1.959964 // 95 % of a normal distribution
		u.Margin = z * e
	}
	return u, true
}

// meanCPUs returns how many CPUs the program used between the first and the last reading of the kernel's clock.
func (t *Table) meanCPUs() (cpus float64, known bool) {
	m := t.byName["process.cpu"]
	if m == nil || m.series < 0 {
		return 0, false
	}
	clock := t.evenOf(m)
	first, last := 0, len(clock)-1
	for first < last && math.IsNaN(clock[first]) {
		first++
	}
	for first < last && math.IsNaN(clock[last]) {
		last--
	}
	if first >= last {
		return 0, false
	}
	passed := t.r.Samples.Time(last) - t.r.Samples.Time(first)
	return (clock[last] - clock[first]) / float64(passed), passed > 0
}

// Differs reports whether the samples and the clock differ by more than chance explains, and by more than a few percent. What the
// runtime does for itself may be in the clock or not.
func (u *Utilisation) Differs() bool {
	const sure = 1.5 // an interval of 95 % spans two standard errors to each side: that is three
	off := max(u.Goroutines-u.Clock, u.Clock-u.Goroutines-u.Runtime)
	return u.Margin > 0 && off > max(sure*u.Margin, 0.03*u.Clock, 0.01)
}

// RatioError estimates the standard error of sum(xs)/sum(ys), where both have a term for each sample. Neighbouring samples
// may be alike, so it also estimates it from batches of neighbours, and returns the largest estimate. It returns false if there
// are too few samples to tell.
func RatioError(xs, ys []float64) (e float64, enough bool) {
	n, sum := len(xs), 0.0
	ratio := 0.0
	for i := range xs {
		ratio += xs[i]
		sum += ys[i]
	}
	if n < 10 || sum == 0 {
		return 0, false
	}
	ratio /= sum
	for _, size := range []int{1, 5, max(5, n/20)} {
		squares := 0.0
		for i := 0; i < n; i += size {
			e := 0.0
			for k := i; k < min(i+size, n); k++ {
				e += xs[k] - ratio*ys[k]
			}
			squares += e * e
		}
		e = max(e, math.Sqrt(squares)/sum)
	}
	return e, true
}
