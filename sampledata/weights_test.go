package sampledata

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// samplesAt makes a recording without goroutines.
func samplesAt(t fixture.Test, end *End, samples ...Sample) *Recording {
	b := NewBuilder(Header{Start: time.Unix(0, 0)})
	for _, s := range samples {
		fixture.Check(t, b.Sample(s, nil))
	}
	if end != nil {
		fixture.Check(t, b.Finish(*end))
	}
	return b.Recording()
}

func at(times ...time.Duration) []Sample {
	samples := make([]Sample, len(times))
	for i, t := range times {
		samples[i].Time = t
	}
	return samples
}

func weightsOf(r *Recording) []int64 {
	w := r.Weights()
	all := make([]int64, r.Samples.Len())
	for i := range all {
		all[i] = w.Of(i, i+1)
	}
	return all
}

func TestWeights(t *testing.T) {
	for name, c := range map[string]struct {
		samples []Sample
		end     *End
		want    []int64
	}{
		"none":                 {nil, nil, []int64{}},
		"the documentation":    {at(10, 20, 40), &End{Time: 60}, []int64{10, 15, 20}},
		"midpoints round down": {at(10, 21, 30), &End{Time: 60}, []int64{10, 10, 10}},
		"the ends cut":         {at(2, 20, 40), &End{Time: 43}, []int64{11, 19, 13}},
		"still growing":        {at(10, 20, 40), nil, []int64{10, 15, 10}},
		"the last halt":        {[]Sample{{Time: 10}, {Time: 20, Halt: 3}}, nil, []int64{10, 8}},
		"one":                  {at(10), &End{Time: 60}, []int64{60}},
		"one, at the start":    {at(0), nil, []int64{1}},
		"equal times":          {at(10, 10, 10, 20), &End{Time: 60}, []int64{1, 1, 5, 10}},
		"no times":             {at(0, 0, 0), nil, []int64{1, 1, 1}},
		"explicit":             {[]Sample{{Time: 10, Weight: 7}, {Time: 20}, {Time: 30, Weight: 1000}}, &End{Time: 60}, []int64{7, 10, 1000}},
		"suspended":            {[]Sample{{Time: 10}, {Time: 1020, Suspended: 996}, {Time: 1030}}, &End{Time: 1060}, []int64{14, 12, 10}},
		"suspended for longer": {[]Sample{{Time: 10}, {Time: 20, Suspended: 5000}, {Time: 30}}, nil, []int64{1, 5, 5}},
		"huge": {[]Sample{{Time: 1, Weight: math.MaxInt64}, {Time: math.MaxInt64}, {Time: math.MaxInt64, Weight: math.MaxInt64}},
			&End{Time: math.MaxInt64}, []int64{1 << 62, 1, 1}},
	} {
		if got := weightsOf(samplesAt(t, c.end, c.samples...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The weights of samples sum to the time that they cover
// together, without the time in which the sampler was suspended.
func TestWeightsSumToCoveredTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.Int64Range(2, 1000)
		var samples []Sample
		var now, suspended int64
		for i := range rapid.IntRange(2, 10).Draw(t, "samples") {
			s := Sample{}
			watched := gap.Draw(t, "watched")
			if i > 0 && rapid.Bool().Draw(t, "suspends") {
				s.Suspended = time.Duration(rapid.Int64Range(1, 1e6).Draw(t, "suspended"))
			}
			now += watched + int64(s.Suspended)
			suspended += int64(s.Suspended)
			s.Time = time.Duration(now)
			samples = append(samples, s)
		}
		end := now + gap.Draw(t, "rest")
		r := samplesAt(t, &End{Time: time.Duration(end)}, samples...)
		n := len(samples)
		first, last := int64(samples[0].Time), int64(samples[n-1].Time)
		forward := (int64(samples[1].Time-samples[1].Suspended) - first) / 2
		gapBefore := last - int64(samples[n-1].Suspended) - int64(samples[n-2].Time)
		want := min(first, forward) + (last - first - suspended) + min(end-last, gapBefore-gapBefore/2)
		if got := r.Weights().Of(0, n); got != want {
			t.Errorf("they sum to %d, want %d", got, want)
		}
	})
}

// Every weight is at least 1, and sums don't overflow, whatever
// a recording says. Later samples change only the weight of the
// one that was the last.
func TestWeightsOfAnyRecording(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBuilder(t)
		r := b.Recording()
		before := weightsOf(r)
		sum := int64(0)
		for i, w := range before {
			if sum += w; w < 1 || sum < 0 {
				t.Fatalf("sample %d: weight %d, sum %d", i, w, sum)
			}
		}
		if got := r.Weights().Of(0, len(before)); got != sum {
			t.Errorf("all together: %d, want %d", got, sum)
		}
		if r.End != nil || len(before) == 0 {
			return
		}
		last := r.Samples.At(len(before) - 1)
		fixture.Check(t, b.Sample(Sample{Time: last.Time + duration(t), Suspended: duration(t)}, nil))
		after := weightsOf(b.Recording())
		if k := len(before) - 1; !slices.Equal(before[:k], after[:k]) || !slices.Equal(before, weightsOf(r)) {
			t.Errorf("%v becomes %v, and the earlier recording %v", before, after, weightsOf(r))
		}
	})
}
