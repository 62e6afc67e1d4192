package sampledata

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A Distribution counts whole numbers, such as the nanoseconds
// that calls took, in buckets. The width of a bucket is at most
// 1/32 of its numbers. Numbers from -32 to 31 have a bucket
// each. The zero Distribution is empty.
type Distribution struct {
	Sum      int64 // of all numbers; it stays at the limits of an int64
	Min, Max int64 // 0 if it is empty
	Buckets  []Bucket
}

// A Bucket is a part of a distribution.
type Bucket struct {
	Index int32  // see BucketOf; ascending
	Count uint64 // not 0
}

// bucketBits is the number of bits of a number, after the first
// one, that say which bucket it is in.
const bucketBits = 5

// MaxBucket is the largest index of a bucket; the smallest one
// is -1 - MaxBucket.
const MaxBucket = (64-bucketBits)<<bucketBits - 1

// BucketOf returns the index of the bucket of a number. For
// example, it is 5 for 5, and 32 for 32 and 33; numbers below 0
// mirror those from 0 up: it is -1 for -1, and -6 for -6.
func BucketOf(v int64) int32 {
	if v < 0 {
		return ^BucketOf(^v)
	}
	const first = 1 << bucketBits
	if v < first {
		return int32(v)
	}
	shift := bits.Len64(uint64(v)) - bucketBits - 1
	return int32(shift<<bucketBits) + int32(v>>shift)
}

// BucketRange returns the smallest and the largest number of a bucket.
func BucketRange(index int32) (low, high int64) {
	if index < 0 {
		low, high = BucketRange(^index)
		return ^high, ^low
	}
	const first = 1 << bucketBits
	if index < 2*first {
		return int64(index), int64(index)
	}
	shift := index>>bucketBits - 1
	low = int64(index&(first-1)|first) << shift
	return low, low + (1<<shift - 1)
}

// Add adds a number.
func (d *Distribution) Add(v int64) {
	if len(d.Buckets) == 0 {
		d.Min, d.Max = v, v
	}
	d.Min, d.Max = min(d.Min, v), max(d.Max, v)
	d.Sum = saturated(d.Sum, v)
	index := BucketOf(v)
	i, found := slices.BinarySearchFunc(d.Buckets, index,
		func(b Bucket, index int32) int { return int(b.Index) - int(index) })
	if !found {
		d.Buckets = slices.Insert(d.Buckets, i, Bucket{Index: index})
	}
	d.Buckets[i].Count++
}

// saturated returns a + b, or the limit of an int64 that the sum
// is beyond.
func saturated(a, b int64) int64 {
	switch s := a + b; {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	default:
		return s
	}
}

// Count returns how many numbers there are.
func (d *Distribution) Count() (n uint64) {
	for _, b := range d.Buckets {
		n += b.Count
	}
	return n
}

// Mean returns the mean of the numbers; 0 if there are none.
func (d *Distribution) Mean() float64 {
	if n := d.Count(); n > 0 {
		return float64(d.Sum) / float64(n)
	}
	return 0
}

// Quantile returns the number below which a share q of all
// numbers are, from 0 to 1; 0 if there are none. It is off by at
// most half the width of a bucket, 1/64 of the number.
func (d *Distribution) Quantile(q float64) int64 {
	n := d.Count()
	if n == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(n)))
	for _, b := range d.Buckets {
		if b.Count >= rank {
			low, high := BucketRange(b.Index)
			return min(max(low+(high-low)/2, d.Min), d.Max)
		}
		rank -= b.Count
	}
	return d.Max
}

// MarshalJSON writes what sums the numbers up.
func (d Distribution) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Count uint64  `json:"count"`
		Mean  float64 `json:"mean"`
		Min   int64   `json:"min"`
		P50   int64   `json:"p50"`
		P90   int64   `json:"p90"`
		P99   int64   `json:"p99"`
		Max   int64   `json:"max"`
	}{d.Count(), d.Mean(), d.Min, d.Quantile(0.5), d.Quantile(0.9), d.Quantile(0.99), d.Max})
}

// Clone returns a copy that shares no memory.
func (d *Distribution) Clone() Distribution {
	c := *d
	c.Buckets = slices.Clone(d.Buckets)
	return c
}

func (d *Distribution) check() error {
	if len(d.Buckets) == 0 {
		if d.Sum != 0 || d.Min != 0 || d.Max != 0 {
			return fmt.Errorf("a distribution without numbers that has a sum or limits")
		}
		return nil
	}
	count := uint64(0)
	for i, b := range d.Buckets {
		switch {
		case b.Index > MaxBucket || b.Index < ^MaxBucket:
			return fmt.Errorf("bucket %d is none of a distribution", b.Index)
		case i > 0 && d.Buckets[i-1].Index >= b.Index:
			return fmt.Errorf("buckets %d and %d are not in ascending order",
				d.Buckets[i-1].Index, b.Index)
		case b.Count == 0 || count+b.Count < count:
			return fmt.Errorf("bucket %d has none or too many numbers", b.Index)
		}
		count += b.Count
	}
	first, last := d.Buckets[0].Index, d.Buckets[len(d.Buckets)-1].Index
	if BucketOf(d.Min) != first || BucketOf(d.Max) != last || d.Min > d.Max {
		return fmt.Errorf("limits %d and %d of a distribution are not in its first and last bucket",
			d.Min, d.Max)
	}
	return nil
}
