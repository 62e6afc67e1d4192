package hotspots

import (
	"fmt"
	"slices"
)

// A Verdict says whether a hypothesis holds on the evidence so
// far (JBolt, section 3). It can be revoked: the same test on
// more evidence may have another result.
type Verdict uint8

const (
	Maybe Verdict = iota // the threshold is within the interval: more evidence is needed
	// the share is above the threshold, and so is the lower end
	// of its interval
	Yes
	// the share is below the threshold, and so is the upper end
	// of its interval
	No
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

// Against returns the verdict on the hypothesis that the share
// is above a threshold.
func (e Estimate) Against(threshold float64) Verdict {
	switch {
	case e.Low > threshold:
		return Yes
	case e.High < threshold:
		return No
	}
	return Maybe
}
