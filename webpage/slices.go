package webpage

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// mostMoments is how many spells and sums a page holds at most, which is about 9 MB.
const mostMoments = 2_500_000

// A clock says what the slices of a page are: each is a number of samples that follow one another.
type clock struct {
	samples []sampleSlice
	each    int32 // samples of a slice; the last one may have fewer
	weights sampledata.Weights
}

// A sampleSlice is where a slice begins, how many samples it has, and what they weigh.
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
		c.samples = append(c.samples, sampleSlice{int64(r.Samples.Time(int(s))), number, c.weights.Of(int(s), int(s+number))})
	}
	return c
}

// fitting returns the clock with which trees have at most so many spells and sums, and makes their spells and sums those of its
// slices.
func fitting(r *sampledata.Recording, trees []*tree, most int) *clock {
	sides := make([]side, len(trees))
	for each := int32(1); ; each *= 2 {
		c, total := newClock(r, each), 0
		for i, t := range trees {
			sides[i] = c.sliced(t.side)
			total += len(sides[i].spells) + len(sides[i].sums)
		}
		if total <= most || len(c.samples) <= 1 {
			for i, t := range trees {
				t.side = sides[i]
			}
			return c
		}
	}
}

// sliced returns a side whose spells count slices. A spell that doesn't begin and end with a slice has sums for the parts
// that it has of these.
func (c *clock) sliced(s side) side {
	if c.each == 1 || len(s.spells) == 0 {
		return s
	}
	out := side{portions: s.portions}
	add := func(sp views.Spell, slice, first, end int32) {
		var w wide
		w.add(sp.Num, c.weights.Of(int(first), int(end)))
		out.sums = append(out.sums, sum{sp.Portion, slice, sp.Num * int64(end-first), w})
	}
	for _, sp := range s.spells {
		end := sp.Last + 1
		first, last := (sp.First+c.each-1)/c.each, end/c.each // the whole slices are [first, last)
		if int(last) == len(c.samples)-1 && end == last*c.each+c.samples[last].number {
			last++
		}
		if first >= last {
			for at := sp.First; at < end; {
				next := min(end, (at/c.each+1)*c.each)
				add(sp, at/c.each, at, next)
				at = next
			}
			continue
		}
		if sp.First < first*c.each {
			add(sp, first-1, sp.First, first*c.each)
		}
		out.spells = append(out.spells, views.Spell{Portion: sp.Portion, First: first, Last: last - 1, Num: sp.Num})
		if last*c.each < end {
			add(sp, last, last*c.each, end)
		}
	}
	out.sums = merged(out.sums)
	return out
}

// merged adds up the sums of the same portion in the same slice.
func merged(sums []sum) []sum {
	slices.SortFunc(sums, func(a, b sum) int { return cmp.Or(cmp.Compare(a.portion, b.portion), cmp.Compare(a.slice, b.slice)) })
	var out []sum
	for _, s := range sums {
		if n := len(out); n > 0 && out[n-1].portion == s.portion && out[n-1].slice == s.slice {
			to := &out[n-1]
			to.hits += s.hits
			to.weight.hi += s.weight.hi
			to.weight.add(1, s.weight.lo)
			continue
		}
		out = append(out, s)
	}
	return out
}
