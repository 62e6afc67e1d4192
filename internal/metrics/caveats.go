package metrics

import (
	"fmt"
	"math"

	"github.com/cpprof/cpprof/internal/words"
)

const (
	// worthMentioning is the smallest correlation for which caveats matter.
	worthMentioning = 0.3

	// shownPoints is the greatest number of leverage points that a caveat
	// names.
	shownPoints = 5

	// A quotient of small numbers is worth a caveat if it has
	// them in smallShare of the samples. A number is small up to
	// small.
	smallShare, small = 0.1, 2
)

// Caveats says what to think of before the correlation is
// trusted: few events, leverage points, trends, ratios of tiny
// numbers, and what a correlation can't say (sections 5.4.1 to
// 5.4.5 of the paper). Points names the things that the numbers
// in Leverage count, such as "sample".
func (c *Correlation) Caveats(x, y *Metric, points string) []string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	for _, m := range []*Metric{x, y} {
		if m.Restarts > 0 {
			say("%s: a counter began anew %d times: these differences are left out",
				m.Expr, m.Restarts)
		}
		if share := m.tiny(); share > smallShare {
			say("magnitude: %s is a ratio whose divisor is at most %d in %.0f %% of the samples: there, one event more or less changes it much",
				m.Expr, small, 100*share)
		}
	}
	if !Defined(c.Pearson) {
		return append(said, "there is no correlation: one of the two has one value only, or there are too few samples")
	}
	if c.NearlyConstant {
		say("few events: one of the two differs from its usual value in fewer than %d samples",
			fewEvents)
	}
	if len(c.Leverage) > 0 && math.Abs(c.Pearson) >= worthMentioning || Defined(c.Without) &&
		math.Abs(c.Without-c.Pearson) > betterLag {
		say("leverage: r is %s without %s", number2(c.Without), c.leverageText(points))
	}
	if Defined(c.Differences) && math.Abs(c.Pearson) >= worthMentioning &&
		math.Abs(c.Differences) < math.Abs(c.Pearson)/2 {
		say("trend: r of the differences from sample to sample is only %.3f: both may just follow time", c.Differences)
	}
	switch {
	case c.Lag > 0:
		say("direction: r is %.3f if the second is read %d samples later: it seems to follow",
			c.LagPearson, c.Lag)
	case c.Lag < 0:
		say("direction: r is %.3f if the first is read %d samples later: it seems to follow",
			c.LagPearson, -c.Lag)
	case math.Abs(c.Pearson) >= worthMentioning:
		say("direction: a correlation doesn't say which of the two is the cause, or whether a third thing is")
	}
	return said
}

func number2(x float64) string {
	if !Defined(x) {
		return "undefined"
	}
	return fmt.Sprintf("%.3f", x)
}

// leverageText names the leverage points.
func (c *Correlation) leverageText(points string) string {
	if len(c.Leverage) == 1 {
		return fmt.Sprintf("%s %d", points, c.Leverage[0])
	}
	return fmt.Sprintf("the %ss %s", points, words.List(c.Leverage, shownPoints))
}

// tiny returns the share of the samples in which the divisor of
// a quotient of differences is small. It is 0 for other metrics,
// and for divisors that count no things.
func (m *Metric) tiny() float64 {
	if m.Under == nil {
		return 0
	}
	n, few := 0, 0
	for _, x := range m.Under {
		switch {
		case !Defined(x) || x == 0:
			continue
		case x != math.Trunc(x):
			return 0
		case math.Abs(x) <= small:
			few++
		}
		n++
	}
	if n == 0 {
		return 0
	}
	return float64(few) / float64(n)
}
