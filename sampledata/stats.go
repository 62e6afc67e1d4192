package sampledata

import (
	"math"
	"slices"
	"time"
)

// Stats sum up what was recorded and what it cost the target.
// Shares are from 0 to 1; they are 0 if there is nothing to
// divide by. Durations are in nanoseconds in JSON.
type Stats struct {
	Samples int `json:"samples"`
	// from the start to the end, or to the last sample if there is no end
	Duration        time.Duration  `json:"duration_ns"`
	RateHz          float64        `json:"rate_hz"` // achieved: samples by duration
	Goroutines      GoroutineStats `json:"goroutines"`
	ThreadsMax      int32          `json:"threads_max"`
	Halt            HaltStats      `json:"halt_ns"`
	HaltedShare     float64        `json:"halted_share"`      // of the duration
	SamplerCPUShare float64        `json:"sampler_cpu_share"` // of one core, over the duration
	// of all stacks, those copied from an earlier sample
	ReusedShare float64 `json:"reused_share"`
	// of the copied ones that were read again as a check, those
	// that had changed
	ReusedWrongShare float64 `json:"reused_wrong_share"`
	// of all stacks, those that don't reach their outermost frame
	TornShare   float64 `json:"torn_share"`
	MissedTicks int64   `json:"missed_ticks"`
}

// GoroutineStats are about the number of goroutines in a sample.
type GoroutineStats struct {
	Mean float64 `json:"mean"`
	Max  int64   `json:"max"`
}

// HaltStats say how long the target was halted, over the samples
// that halted it; samples of an idle target need no halt. A
// quantile is the smallest halt that at least that share of all
// halts does not exceed.
type HaltStats struct {
	Median time.Duration `json:"median"`
	P90    time.Duration `json:"p90"`
	P99    time.Duration `json:"p99"`
	Max    time.Duration `json:"max"`
	Total  time.Duration `json:"total"` // includes the halts for samples that failed
}

// Stats sums a recording up.
func (r *Recording) Stats() Stats {
	s := Stats{Samples: r.Samples.Len(), Duration: r.duration()}
	s.RateHz = share(float64(s.Samples), s.Duration.Seconds())
	s.Halt = r.haltStats()
	s.HaltedShare = share(float64(s.Halt.Total), float64(s.Duration))

	var cpu, reused, rechecked, wrong float64
	for _, p := range r.Samples.All() {
		s.ThreadsMax = max(s.ThreadsMax, p.Threads)
		s.MissedTicks += int64(p.Missed)
		cpu += float64(p.SamplerCPU)
		reused += float64(p.Reused)
		rechecked += float64(p.Rechecked)
		wrong += float64(p.Wrong)
	}
	if r.End != nil {
		s.MissedTicks += int64(r.End.Missed)
		cpu += float64(r.End.SamplerCPU)
	}
	total, torn, largest := r.countGoroutines()
	s.Goroutines = GoroutineStats{Mean: share(total, float64(s.Samples)), Max: largest}
	s.SamplerCPUShare = share(cpu, float64(s.Duration))
	s.ReusedShare = share(reused, total)
	s.ReusedWrongShare = share(wrong, rechecked)
	s.TornShare = share(torn, total)
	return s
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// duration returns the time from the start to the end. If the
// last halt ended later, or if there is no end, it returns the
// time to the end of the last halt.
func (r *Recording) duration() time.Duration {
	d := time.Duration(0)
	if r.End != nil {
		d = r.End.Time
	}
	if n := r.Samples.Len(); n > 0 {
		last := r.Samples.At(n - 1)
		d = max(d, plus(last.Time, last.Halt))
	}
	return d
}

// plus returns a+b, or the largest duration if the sum overflows.
func plus(a, b time.Duration) time.Duration {
	return a + min(b, math.MaxInt64-a)
}

func (r *Recording) haltStats() HaltStats {
	var h HaltStats
	var halts []time.Duration
	for _, p := range r.Samples.All() {
		h.Total = plus(h.Total, p.LostHalt)
		if halt := p.Halt; halt > 0 {
			halts = append(halts, halt)
			h.Total = plus(h.Total, halt)
		}
	}
	if r.End != nil {
		h.Total = plus(h.Total, r.End.LostHalt)
	}
	n := len(halts)
	if n == 0 {
		return h
	}
	slices.Sort(halts)
	quantile := func(percent int) time.Duration { return halts[(n*percent+99)/100-1] }
	h.Median, h.P90, h.P99, h.Max = quantile(50), quantile(90), quantile(99), halts[n-1]
	return h
}

// countGoroutines returns three numbers: the goroutines in all
// samples together, the goroutines with a torn stack among
// these, and the goroutines in the fullest sample.
func (r *Recording) countGoroutines() (total, torn float64, largest int64) {
	// by sample: how many more there are than in the one before
	steps := make([]int64, r.Samples.Len()+1)
	for _, run := range r.Runs.All() {
		n := float64(run.Last - run.First + 1)
		total += n
		if run.Torn {
			torn += n
		}
		steps[run.First]++
		steps[run.Last+1]--
	}
	now := int64(0)
	for _, step := range steps {
		now += step
		largest = max(largest, now)
	}
	return total, torn, largest
}
