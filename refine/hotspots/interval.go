package hotspots

import (
	"math"

	"github.com/cpprof/cpprof/internal/student"
)

// An Estimate is a share, with an interval that contains the
// true share with a probability of 95 %.
type Estimate struct {
	Share   float64 `json:"share"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Samples int     `json:"samples"` // that it is based on
}

// Margin returns half the width of the interval.
func (e Estimate) Margin() float64 { return (e.High - e.Low) / 2 }

// An Observation is one sample, or a slice of neighbouring
// samples: the mean number of goroutines that do something
// (Hits), and of those that could (Base).
type Observation struct {
	Weight     float64 // time that the samples stand for
	Hits, Base float64
}

// A Ratio is a ratio of two sums over samples, with its error.
//
// Goroutines of one sample are not independent, nor are samples
// that follow one another. So the unit of the error is a block
// of neighbouring samples.
type Ratio struct {
	Value   float64
	Error   float64 // the standard error
	Samples int     // with a base

	freedom float64 // degrees of freedom of the error

	units float64 // samples of equal weight that would say as much
	count float64 // goroutines counted in the bases
}

const (
	// minBlock is the number of samples that a block has at least.
	minBlock = 4

	// minBlocks is the number of blocks that are left at least
	// when blocks grow.
	minBlocks = 16

	// minFreedom is for shares that one or two blocks have all
	// of: Wilson's form itself allows for such.
	minFreedom = 5

	// minMeasured is the number of samples below which an error
	// is not known.
	minMeasured = 10
)

// RatioOf returns the ratio of the hits to the bases, by weight.
// Each observation is of a number of samples.
//
// With p for the ratio, the hits of a block differ from what its
// base suggests by E = sum(w*(hits - p*base)). The variance of p
// is about the sum of E^2 over all blocks, divided by the square
// of the sum of w*base. That holds if blocks are independent:
// they grow until the E of neighbours do not correlate.
func RatioOf(all []Observation, each int) Ratio {
	var r Ratio
	var hits, base, squares float64
	n := 0
	for _, o := range all {
		if w := o.Weight * o.Base; w > 0 {
			hits += o.Weight * o.Hits
			base += w
			squares += w * w
			r.count += o.Base * float64(each)
			n++
		}
	}
	if n == 0 {
		return r
	}
	r.Value, r.Samples = hits/base, n*each
	seen := make([]float64, 0, n)
	for _, o := range all {
		if o.Weight*o.Base > 0 {
			seen = append(seen, o.Weight*(o.Hits-r.Value*o.Base))
		}
	}
	size := min((minBlock+each-1)/each, max(1, n/4)) // in observations
	r.units = base * base / squares * float64(each)
	if n < minMeasured { // too few to tell how much they differ
		r.units, r.count = min(r.units, float64(n)), min(r.count, float64(n))
	}
	r.setError(seen, independent(joined(seen, size)), base)
	return r
}

// setError sets the error by the E of observations, and of
// blocks of them that are independent. The E of blocks are small
// if neighbours take turns: the error is never smaller than if
// observations were independent.
func (r *Ratio) setError(seen, blocks []float64, base float64) {
	variance, freedom := varianceOf(blocks)
	if v, f := varianceOf(seen); v > variance {
		variance, freedom = v, f
	}
	r.Error, r.freedom = math.Sqrt(variance)/base, freedom
}

// varianceOf returns the variance of a sum of independent
// values, and its degrees of freedom.
//
// The variance has an error, too. By the fourth powers it is as
// uncertain as with some number of degrees of freedom: with one
// less than there are values if they are much alike, and with
// few if few values have all of the sum.
func varianceOf(values []float64) (variance, freedom float64) {
	n, squares, fourths := float64(len(values)), 0.0, 0.0
	for _, e := range values {
		squares += e * e
		fourths += e * e * e * e
	}
	freedom = max(1, n-1)
	if spread := fourths - squares*squares/n; spread > 0 {
		freedom = min(freedom, max(minFreedom, 2*squares*squares/spread))
	}
	return squares * n / max(1, n-1), freedom
}

// independent doubles the size of blocks until neighbours do not correlate.
func independent(blocks []float64) []float64 {
	for len(blocks) >= 2*minBlocks {
		along := 0.0
		for i, e := range blocks[1:] {
			along += e * blocks[i]
		}
		if along <= 0 {
			break
		}
		blocks = joined(blocks, 2)
	}
	return blocks
}

// joined adds up neighbours, size of them at a time. The last
// block may have more.
func joined(values []float64, size int) []float64 {
	blocks := make([]float64, max(1, len(values)/size))
	for i, v := range values {
		blocks[min(i/size, len(blocks)-1)] += v
	}
	return blocks
}

// Margin returns half the width of the interval that contains
// the true ratio with a probability of 95 %. It returns false if
// there are too few samples to tell.
func (r Ratio) Margin() (margin float64, known bool) {
	if r.Samples < minMeasured {
		return 0, false
	}
	return r.quantile() * r.Error, true
}

// normal is the 97.5 % quantile of a normal distribution. It is
// the number of standard errors on each side of a 95 % interval.
const normal = 1.959964

// quantile returns the same of Student's distribution: the error itself is
// estimated.
func (r Ratio) quantile() float64 {
	return student.Quantile(0.975, r.freedom)
}

// Estimated returns the share of the hits in the bases by
// weight. Each observation is of a number of samples.
//
// The interval is Wilson's for as many independent observations
// as would have the error of the ratio. There are at most as
// many as goroutines were counted. A share of 0 or 1 has no
// error, but is not certain: its unit is the sample. More
// threads can be a hit than there are processors: then the share
// is more than 1, with the interval of the ratio.
func Estimated(all []Observation, each int) Estimate {
	r := RatioOf(all, each)
	if r.Samples == 0 {
		return Estimate{High: 1}
	}
	p := max(r.Value, 0)
	e := Estimate{Share: p, Samples: r.Samples}
	if p > 1 {
		margin := r.quantile() * r.Error
		e.Low, e.High = max(p-margin, 0), p+margin
		return e
	}
	if p == 0 || p == 1 {
		e.Low, e.High = wilson(p, r.units, normal)
		return e
	}
	n := r.count
	if v := r.Error * r.Error; v > 0 {
		n = min(n, p*(1-p)/v)
	}
	e.Low, e.High = wilson(p, n, r.quantile())
	return e
}

// Assumed returns the interval of a share if only the number of
// samples is known. It assumes that samples are independent, and
// that all goroutines of a sample do the same.
func Assumed(share float64, samples int) Estimate {
	e := Estimate{Share: share, Samples: samples, High: 1}
	if samples > 0 {
		e.Low, e.High = wilson(share, float64(samples), normal)
	}
	return e
}

// wilson returns Wilson's interval for a share of n observations.
func wilson(p, n, z float64) (low, high float64) {
	center := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(min(center-half, p), 0), min(max(center+half, p), 1)
}

// Minus returns Newcombe's interval (method 10) for the difference of two
// shares that are independent.
func (e Estimate) Minus(f Estimate) Estimate {
	d := e.Share - f.Share
	return Estimate{
		Share: d, Low: d - math.Hypot(e.Share-e.Low, f.High-f.Share),
		High:    d + math.Hypot(e.High-e.Share, f.Share-f.Low),
		Samples: min(e.Samples, f.Samples),
	}
}
