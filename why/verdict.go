package why

import (
	"fmt"
	"math"
	"slices"
)

// A Verdict says whether a hypothesis holds on the evidence so far (JBolt, section 3). It can be revoked: the same test on
// more evidence may have another result.
type Verdict uint8

const (
	Maybe Verdict = iota // the threshold is within the interval: more evidence is needed
	Yes                  // the share is above the threshold, and so is the lower end of its interval
	No                   // the share is below the threshold, and so is the upper end of its interval
)

var verdicts = []string{"MAYBE", "YES", "NO"}

func (v Verdict) String() string { return verdicts[v] }

// MarshalText writes the verdict as String does.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdicts, string(text))
	if i < 0 {
		return fmt.Errorf("verdict %.20q: want one of %v", text, verdicts)
	}
	*v = Verdict(i)
	return nil
}

// An Estimate is a share, with an interval that contains the true one with a probability of 95 %. Samples are its unit: the
// goroutines in one sample are not independent of one another.
type Estimate struct {
	Share   float64 `json:"share"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Samples int     `json:"samples"` // that it is based on
}

// Margin returns half the width of the interval.
func (e Estimate) Margin() float64 { return (e.High - e.Low) / 2 }

// Against returns the verdict on the hypothesis that the share is above a threshold.
func (e Estimate) Against(threshold float64) Verdict {
	switch {
	case e.Low > threshold:
		return Yes
	case e.High < threshold:
		return No
	}
	return Maybe
}

// An Observation is one sample: what was observed of a hypothesis, and the whole that this is a share of, such as the
// goroutines of a class that wait for a lock, and all goroutines of the class.
type Observation struct {
	Weight     float64 // time that the sample stands for
	Hits, Base float64
}

// Estimated returns the share of the hits in their bases by weight, with an interval.
//
// The share p is a ratio of two sums over the samples. Its variance is about the sum of (w*(hits-p*base))^2 over the square of
// the sum of w*base. The interval is Wilson's for as many samples of equal weight as have this variance, but not for more than
// there are: a share of 1 in every sample has no variance, but is not certain.
func Estimated(all []Observation) Estimate {
	var hits, base, squares float64
	samples := 0
	for _, o := range all {
		if o.Base <= 0 {
			continue
		}
		samples++
		hits += o.Weight * o.Hits
		base += o.Weight * o.Base
		squares += o.Weight * o.Base * o.Weight * o.Base
	}
	if samples == 0 {
		return Estimate{High: 1}
	}
	p := min(max(hits/base, 0), 1)
	variance := 0.0
	for _, o := range all {
		d := o.Weight * (o.Hits - p*o.Base)
		variance += d * d
	}
	variance /= base * base
	n := min(base*base/squares, float64(samples))
	if variance > 0 && p*(1-p)/variance < n {
		n = max(1, p*(1-p)/variance)
	}
	low, high := wilson(p, n)
	return Estimate{Share: p, Low: low, High: high, Samples: samples}
}

// wilson returns Wilson's interval for a share that was observed in n samples.
func wilson(p, n float64) (low, high float64) {
	const z = 1.959964 // 95 % of a normal distribution
	center := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(center-half, 0), min(center+half, 1)
}
