package why

import (
	"math/rand/v2"
	"testing"

	"github.com/cpprof/cpprof/refine/hotspots"
)

// What happens seldom, at random, does not happen only at some times.
func TestChanceIsNoChange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, p := range []float64{0.1, 0.3, 0.5, 0.9} {
		const rounds = 500
		changed := 0
		for range rounds {
			all := make([]hotspots.Observation, 60)
			for i := range all {
				all[i] = hotspots.Observation{Weight: 1, Base: 1}
				if random.Float64() < p {
					all[i].Hits = 1
				}
			}
			if len(binned(all).changes()) > 0 {
				changed++
			}
		}
		if changed > rounds/20 {
			t.Errorf("of what happens with probability %v, %d of %d series change", p, changed, rounds)
		}
	}
}
