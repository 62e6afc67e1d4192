package refine

import (
	"fmt"
	"math/big"

	"github.com/cpprof/cpprof/internal/share"
)

// A Threshold says which entries are shown: those with at least
// this number of hits, and at least this cost, a share of the
// view's denominator. Nil is no limit.
type Threshold struct {
	Hits *big.Rat `json:"min_hits,omitempty"`
	Cost *big.Rat `json:"min_cost,omitempty"`
}

// ParseThreshold reads a threshold as users type it: hits ("10",
// "10 hits"), or a cost ("0.05", "5%").
func ParseThreshold(s string) (Threshold, error) {
	hits, cost, err := share.ParseThreshold(s)
	if err != nil {
		return Threshold{}, fmt.Errorf("threshold %.40q: %w", s, err)
	}
	return Threshold{Hits: hits, Cost: cost}, nil
}
