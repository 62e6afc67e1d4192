package hotspots

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/cpprof/cpprof/views/calltree"
)

// A hit is one of a profile: it weighs so much, and is or isn't of the path "* f".
type hit struct {
	weight int64
	in     bool
}

// profileOf makes a call tree of hits, as views do.
func profileOf(t *testing.T, hits []hit) *calltree.Tree {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "nanoseconds")
	whole, squares := int64(0), 0.0
	for _, h := range hits {
		name := "other"
		if h.in {
			name = "f"
		}
		b.AddHits(0, b.Stack(name), h.weight, 1, 1)
		whole += h.weight
		squares += float64(h.weight) * float64(h.weight)
	}
	b.SetDenominator(0, big.NewRat(whole, 1))
	b.CountHits(0, big.NewRat(int64(len(hits)), 1), squares)
	tree, err := b.Tree()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// effective returns the effective number of hits of the path, and its share.
func effective(t *testing.T, hits []hit) (n, share float64) {
	tree := profileOf(t, hits)
	profile := NewSingle(tree)
	in := profile.Summary("f")
	m := tree.Main()
	share, _ = m.Cost(in.Cum()).Float64()
	w := wilson{}
	for node, f := range tree.Funcs() {
		if tree.Symbols().Name(f) == "f" {
			total := m.Through(int32(node))
			n, w = effectiveHits(m, share, total.Hits), newWilson(m, total)
		}
	}
	if i := profile.interval(in); i.Low != w.low || i.High != w.high {
		t.Errorf("the profile has the interval %v, the metric %v", *i, w)
	}
	return n, share
}

// If the weights in the path are equal, and those outside of it, the variance is that of a ratio of sums, exactly.
func TestEffectiveHits(t *testing.T) {
	for _, c := range []struct{ in, out int64 }{{1, 1}, {7, 7}, {40, 10}, {10, 40}, {1000, 1}} {
		var hits []hit
		for i := range 120 {
			h := hit{weight: c.out, in: i%4 == 0}
			if h.in {
				h.weight = c.in
			}
			hits = append(hits, h)
		}
		n, p := effective(t, hits)
		variance, whole := 0.0, 0.0
		for _, h := range hits {
			y := 0.0
			if h.in {
				y = 1
			}
			variance += math.Pow(float64(h.weight)*(y-p), 2)
			whole += float64(h.weight)
		}
		if want := p * (1 - p) * whole * whole / variance; math.Abs(n-want) > 1e-6*want {
			t.Errorf("weights %d and %d: %v effective hits, want %v", c.in, c.out, n, want)
		}
		if c.in == c.out && math.Abs(n-120) > 1e-9 {
			t.Errorf("with equal weights, 120 hits are %v", n)
		}
	}
}

// The interval has the true share in about 95 of 100 profiles, also if the weights differ, and depend on what is seen.
func TestIntervalsOfWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, c := range map[string]struct{ in, out, spread float64 }{
		"equal":                {10, 10, 0},
		"random":               {10, 10, 1},
		"longer in the path":   {40, 10, 0},
		"longer, and random":   {40, 10, 1},
		"shorter, and random":  {10, 40, 1},
		"longer, a little odd": {20, 10, 0.5},
	} {
		const profiles, hits, chance = 300, 200, 0.3
		truth := chance * c.in / (chance*c.in + (1-chance)*c.out)
		covered := 0
		for range profiles {
			var all []hit
			for range hits {
				h := hit{in: r.Float64() < chance}
				mean := c.out
				if h.in {
					mean = c.in
				}
				h.weight = int64(1000 * mean * (1 + c.spread*(2*r.Float64()-1)))
				all = append(all, h)
			}
			p := NewSingle(profileOf(t, all))
			if i := p.interval(p.Summary("f")); i.Low <= truth && truth <= i.High {
				covered++
			}
		}
		if share := float64(covered) / profiles; share < 0.92 || share > 0.98 {
			t.Errorf("%s: the intervals of %.3f of the profiles have the true share, want 0.95", name, share)
		}
	}
}
