package sampledata

import "time"

// maxWeight limits the weights of all samples together to 146
// years. Sums then fit, whatever a file says.
const maxWeight = time.Duration(1) << 62

// Weights say how much time each sample of a recording stands
// for, in nanoseconds.
//
// Samples are not equally far apart. Their distance depends on
// what the target does: on a busy machine there are fewer
// samples. A sample stands for the time around it: from halfway
// to the sample before, to halfway to the one after. The first
// sample stands for as much time before it as after it. The last
// one stands for as much time after it as before. Time outside
// of the recording does not count. Time in which the sampler was
// suspended (Sample.Suspended) belongs to no sample. For
// example, a recording of 60 ms has samples at 10, 20 and 40 ms:
//
//	sample        0         1         2
//	at           10        20        40
//	stands for   5 to 15   15 to 30  30 to 50
//	weight       10        15        20        milliseconds
//
// If its source knows a sample's weight, the sample has that one
// instead (Sample.Weight). Every weight is at least 1: every
// sample counts, also in a recording without times.
type Weights struct {
	before chunked[time.Duration] // by sample: the weights of all samples before it
	total  time.Duration
}

// Of returns the sum of the weights of the samples from one
// number up to, but not including, another.
func (w Weights) Of(from, to int) int64 { return int64(w.upTo(to) - w.upTo(from)) }

func (w Weights) upTo(i int) time.Duration {
	if i < w.before.len() {
		return *w.before.at(i)
	}
	return w.total
}

// Weights returns the weights of the samples.
func (r *Recording) Weights() Weights {
	s := &r.Samples
	n := s.Len()
	if n == 0 {
		return Weights{}
	}
	last := s.At(n - 1)
	back, after := s.back(&last), watched(last.Time, r.duration(), 0)
	if n > 1 {
		after = min(after, back)
	}
	return Weights{s.before, s.upTo(&last, back+after)}
}

// Begins returns the moment at which the time of a sample
// begins, which is where the time of the one before ends. If the
// number is the number of samples, it is the end of the last
// one.
func (r *Recording) Begins(sample int) time.Duration {
	s := &r.Samples
	switch {
	case s.Len() == 0:
		return 0
	case sample >= s.Len():
		last := s.Len() - 1
		return max(r.Begins(last)+time.Duration(r.Weights().Of(last, last+1)), s.Time(last))
	case sample == 0 || r.Header.Sampler.Backend == FromTrace:
		return s.Time(sample)
	}
	before := s.Time(sample - 1)
	return before + (s.Time(sample)-before)/2
}

// beforeNext returns the weights of all samples together, if
// next is the sample after them.
func (s *Samples) beforeNext(last, next *Sample) time.Duration {
	n := s.Len()
	if n == 0 {
		return 0
	}
	back, after := s.back(last), watched(last.Time, next.Time, next.Suspended)/2
	if n == 1 {
		back = min(back, after)
	}
	return s.upTo(last, back+after)
}

// back returns the time that the last sample may stand for
// before its own time: since the start if it is the only one.
func (s *Samples) back(last *Sample) time.Duration {
	if n := s.Len(); n > 1 {
		gap := watched(s.Time(n-2), last.Time, last.Suspended)
		return gap - gap/2
	}
	return watched(0, last.Time, last.Suspended)
}

// upTo returns the weights of all samples together; around is
// the time around the last one.
func (s *Samples) upTo(last *Sample, around time.Duration) time.Duration {
	if last.Weight != 0 {
		around = last.Weight
	}
	before := *s.before.last()
	return before + max(1, min(around, maxWeight-before))
}

// watched returns the time from one moment to a later one,
// without the time in which the sampler was suspended.
func watched(from, to, suspended time.Duration) time.Duration { return max(0, to-from-suspended) }
