package page

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// maxMoments is how many moments of histories a page holds at most, which is
// about 4 MB.
const maxMoments = 1_000_000

// A clock says what the slices of a page are: each is a number of samples that
// follow one another.
type clock struct {
	samples []sampleSlice
	each    int32 // samples of a slice; the last one may have fewer
	weights sampledata.Weights
}

// A sampleSlice is where a slice begins, how many samples it has, and what they
// weigh.
type sampleSlice struct {
	at     int64 // nanoseconds since the start of the recording
	number int32
	weight int64
}

// newClock makes a clock for slices of some samples.
func newClock(r *sampledata.Recording, each int32) *clock {
	c := &clock{each: each, weights: r.Weights()}
	n := int32(r.Samples.Len())
	for s := int32(0); s < n; s += each {
		number := min(each, n-s)
		c.samples = append(c.samples,
			sampleSlice{int64(r.Samples.Time(int(s))), number, c.weights.Of(int(s), int(s+number))})
	}
	return c
}

// fit makes the slices of histories equally long, and long enough to limit
// their moments. It returns their clock.
func fit(r *sampledata.Recording, all []*views.History, most int) *clock {
	each := int32(1)
	for _, h := range all {
		each = max(each, h.Each)
	}
	for ; ; each *= 2 {
		total := 0
		for _, h := range all {
			for h.Each < each {
				h.Coarsen()
			}
			total += h.Len()
		}
		if total <= most || int(each) >= r.Samples.Len() {
			return newClock(r, each)
		}
	}
}
