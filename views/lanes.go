package views

import (
	"math"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Lane is a series over the buckets of a timeline: the value of a level, the rate of a counter, or the words of a
// nominal monitor.
type Lane struct {
	*sampledata.Series
	Cells []LaneCell // by bucket
}

// A LaneCell summarizes a series in one bucket. If Time is 0, there is no measurement.
type LaneCell struct {
	Time time.Duration // part of the bucket with measurements
	Sum  float64       // of a level, its value times seconds; of a counter, its growth
	Word int           // of a nominal monitor: the word that lasted longest without a break, an index into Series.Words
}

// Add returns the cell for two buckets together.
func (c LaneCell) Add(d LaneCell) LaneCell {
	if d.Time > c.Time {
		c.Word = d.Word
	}
	c.Time += d.Time
	c.Sum += d.Sum
	return c
}

// Value returns the mean of a level, or the growth of a counter per second; false if there is no measurement, or if it
// is infinite.
func (c LaneCell) Value() (x float64, ok bool) {
	if c.Time == 0 {
		return 0, false
	}
	x = c.Sum / c.Time.Seconds()
	return x, !math.IsInf(x, 0) && !math.IsNaN(x)
}

// Lanes returns a lane for each series with measurements, over the buckets of a timeline. A level's value in a sample
// lasts until the next sample; a counter grows evenly between two samples.
func Lanes(r *sampledata.Recording, buckets []Bucket) []Lane {
	var lanes []Lane
	for i := range r.Series {
		s := &r.Series[i]
		if s.Changes() == 0 || len(buckets) == 0 {
			continue
		}
		l := laneMaker{r: r, buckets: buckets, lane: Lane{s, make([]LaneCell, len(buckets))}}
		if s.Kind == sampledata.Counter {
			l.counter()
		} else {
			l.level()
		}
		lanes = append(lanes, l.lane)
	}
	return lanes
}

// A laneMaker fills the cells of one lane, from the first to the last.
type laneMaker struct {
	r       *sampledata.Recording
	buckets []Bucket
	lane    Lane
	next    int           // the first bucket that can still get values
	longest time.Duration // longest time of a word without a break in that bucket
}

// level fills the cells of a level or of a nominal monitor.
func (l *laneMaker) level() {
	codes := make(map[string]int)
	for i, w := range l.lane.Words {
		codes[w] = i
	}
	var from time.Duration
	var last sampledata.Value
	hold := func(to time.Duration) {
		if !last.Measured() {
			return
		}
		x, _ := last.Float()
		word := codes[last.String()]
		l.spread(from, to, func(c *LaneCell, part time.Duration) {
			c.Sum += x * part.Seconds()
			if part > l.longest {
				c.Word, l.longest = word, part
			}
		})
	}
	for sample, v := range l.lane.All() {
		at := l.r.Samples.Time(sample)
		hold(at)
		from, last = at, v
	}
	hold(l.buckets[len(l.buckets)-1].To)
}

// counter fills the cells of a counter. If the counter was reset, its growth is not known.
func (l *laneMaker) counter() {
	var from time.Duration
	var last sampledata.Value
	grow := func(to time.Duration, by float64) {
		rate := by / (to - from).Seconds()
		l.spread(from, to, func(c *LaneCell, part time.Duration) { c.Sum += rate * part.Seconds() })
		from = to
	}
	for sample, v := range l.lane.All() {
		at := l.r.Samples.Time(sample)
		if last.Measured() {
			grow(l.r.Samples.Time(sample-1), 0)
			if v.Measured() && v.Compare(last) > 0 {
				grow(at, v.Minus(last))
			}
		}
		from, last = at, v
	}
	if last.Measured() {
		grow(l.r.Samples.Time(l.r.Samples.Len()-1), 0)
	}
}

// spread calls add for each bucket that overlaps a time, with the length of the overlap.
func (l *laneMaker) spread(from, to time.Duration, add func(c *LaneCell, part time.Duration)) {
	for ; l.next < len(l.buckets) && l.buckets[l.next].To <= from; l.next++ {
		l.longest = 0
	}
	for from < to && l.next < len(l.buckets) {
		b := &l.buckets[l.next]
		part := min(to, b.To) - max(from, b.From)
		if part > 0 {
			c := &l.lane.Cells[l.next]
			c.Time += part
			add(c, part)
		}
		if b.To > to {
			return
		}
		l.next, l.longest = l.next+1, 0
	}
}
