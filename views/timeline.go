package views

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Bucket is the typed time in a part of a recording, which
// includes From, but not To.
type Bucket struct {
	From, To time.Duration
	Samples  int
	Length   int64    // nanoseconds that the samples stand for
	Time     *big.Rat // lifetime of all goroutines in nanoseconds
	Parts             // nanoseconds; they sum to Time
}

// Timeline divides a span into buckets of equal time, and
// returns the typed time in each. A span without an end ends
// with the last sample.
func Timeline(r *sampledata.Recording, o Options, buckets int) ([]Bucket, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("timeline: %w", err)
	}
	if buckets < 1 {
		return nil, fmt.Errorf("timeline: %d buckets: want 1 or more", buckets)
	}
	if r.Profile != nil {
		return nil, errors.New("timeline: a profile has no times")
	}
	l := &timeLedger{scene: newScene(r, o), from: from}
	l.makeBuckets(r, o.Span, to, buckets)
	for i := range l.steps {
		l.steps[i] = make([]int64, to-from+1)
	}
	if err := Walk(r, from, to, &tally{scene: l.scene, ledger: l}); err != nil {
		return nil, fmt.Errorf("timeline: %w", err)
	}
	l.cumulate()
	for i := range l.buckets {
		b := &l.buckets[i]
		b.Parts, _ = l.typed[i].parts()
		b.Time = new(big.Rat)
		for _, part := range b.Parts {
			b.Time.Add(b.Time, part)
		}
	}
	return l.buckets, nil
}

// Bounds returns where the buckets of Timeline begin, and where
// the last one ends.
func Bounds(r *sampledata.Recording, o Options, buckets int) ([]time.Duration, error) {
	_, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("timeline: %w", err)
	}
	bounds, _ := bucketBounds(r, o.Span, to, buckets)
	return bounds, nil
}

// A timeLedger sums by bucket.
type timeLedger struct {
	scene   *scene
	from    int32
	buckets []Bucket
	typed   []sums           // by bucket
	bucket  []int32          // by sample from the first of the span
	steps   [numSums][]int64 // by sample: the difference of constant hits from the sample before
}

// makeBuckets makes the buckets and assigns each sample to one of them.
func (l *timeLedger) makeBuckets(r *sampledata.Recording, span Span, to int32, n int) {
	bounds, width := bucketBounds(r, span, to, n)
	l.buckets = make([]Bucket, n)
	l.typed = make([]sums, n)
	for i := range l.buckets {
		l.buckets[i].From, l.buckets[i].To = bounds[i], bounds[i+1]
	}
	for s := l.from; s < to; s++ {
		i := min((r.Samples.Time(int(s))-span.From)/width, time.Duration(n-1))
		l.bucket = append(l.bucket, int32(i))
		l.buckets[i].Samples++
		l.buckets[i].Length += l.scene.weights.Of(int(s), int(s+1))
	}
}

// bucketBounds returns where the buckets of a span begin, where
// the last one ends, and the width of all but the last ones.
func bucketBounds(r *sampledata.Recording, span Span, to int32, n int) (bounds []time.Duration,
	width time.Duration) {
	end := span.To
	if end == 0 && to > 0 {
		end = min(r.Samples.Time(int(to-1)), math.MaxInt64-1) + 1
	}
	length := max(0, end-span.From)
	width = length / time.Duration(n)
	if width*time.Duration(n) < length || width == 0 {
		width++
	}
	for i := range n {
		bounds = append(bounds, span.From+min(width*time.Duration(i), length))
	}
	return append(bounds, span.From+length), width
}

func (l *timeLedger) enter(sampledata.Run, actor, span) {}

func (l *timeLedger) constant(_ actor, t TypedTime, seen span) {
	l.steps[t][seen.first-l.from]++
	l.steps[t][seen.first-l.from+seen.samples]--
}

func (l *timeLedger) add(_ actor, seen span, t TypedTime, num, den int64) {
	for s := seen.first; s < seen.first+seen.samples; s++ {
		one := l.scene.observed(s, 1)
		l.typed[l.bucket[s-l.from]][t].Add(one.hits, one.time, num, den)
	}
}

// cumulate computes the constant hits of each sample from the
// steps, which are the differences from one sample to the next.
// So a run costs two additions, however long it is. For example,
// two goroutines wait, one in the samples 0 to 2, the other in 1
// to 4:
//
//	sample           0   1   2   3   4   5
//	steps[Wait]     +1  +1   0  -1   0  -1
//	hits of :WAIT    1   2   2   1   1   0
func (l *timeLedger) cumulate() {
	var now [numSums]int64
	for s, i := range l.bucket {
		seen := l.scene.observed(l.from+int32(s), 1)
		for typed := range l.steps {
			now[typed] += l.steps[typed][s]
			l.typed[i][typed].Add(seen.hits, seen.time, now[typed], 1)
		}
	}
}
