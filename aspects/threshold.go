package aspects

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// A Threshold is the least that a result must come to in order to be shown: a number of hits, or a cost. The
// zero Threshold shows everything.
type Threshold struct {
	Hits int64           // where ByCost is false; at least 0
	Cost decimal.Decimal // where ByCost is true: a fraction of the view's denominator, 0 to 1
	// ByCost tells which of the two counts.
	ByCost bool
}

// DefaultThreshold is where every view starts: costs of fewer hits are not to be trusted (design "Ten-samples
// heuristic"; CPPROFJ, section 5).
var DefaultThreshold = Threshold{Hits: 10}

// ParseThreshold reads a threshold: a whole number is hits ("10", "10 hits"), one with a point or a percent
// sign is a cost ("0.05", "5%").
func ParseThreshold(s string) (Threshold, error) {
	fail := func(why string) (Threshold, error) {
		return Threshold{}, fmt.Errorf("threshold %.40q: %s", s, why)
	}
	text := strings.TrimSpace(s)
	whole, ok := strings.CutSuffix(text, "hits")
	if !ok {
		whole, ok = strings.CutSuffix(text, "hit")
	}
	if ok {
		text = strings.TrimSpace(whole)
		if !digits(text) {
			return fail(`want a whole number before "hits"`)
		}
	}
	if digits(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fail("more hits than can be counted")
		}
		return Threshold{Hits: n}, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	before, after, _ := strings.Cut(number, ".")
	// What decimal would take besides, exponents above all, has no place here.
	if len(number) > 40 || !digits(before+after) {
		return fail("want hits (10) or a cost (0.05, 5%)")
	}
	cost, err := decimal.NewFromString(number)
	if err != nil {
		return fail(err.Error())
	}
	if percent {
		cost = cost.Shift(-2)
	}
	if cost.GreaterThan(decimal.New(1, 0)) {
		return fail("a cost is a fraction of the whole, at most 1 or 100%")
	}
	return Threshold{Cost: cost, ByCost: true}, nil
}

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// String gives what ParseThreshold reads.
func (t Threshold) String() string {
	switch {
	case !t.ByCost && t.Hits == 1:
		return "1 hit"
	case !t.ByCost:
		return fmt.Sprintf("%d hits", t.Hits)
	}
	if t.Cost.IsInteger() {
		return t.Cost.StringFixed(1)
	}
	return t.Cost.String()
}

// MinHits gives the hits that a result needs in a view of the given denominator, exactly.
func (t Threshold) MinHits(denominator *big.Rat) *big.Rat {
	if !t.ByCost {
		return new(big.Rat).SetInt64(t.Hits)
	}
	return new(big.Rat).Mul(t.Cost.Rat(), denominator)
}
