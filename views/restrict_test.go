package views

import (
	"math/big"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"pgregory.net/rapid"
)

// What is inside of stretches and what is outside are together
// the whole: the sums of classes, and each call path.
func TestRestrictedViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecording(t)
		samples := int32(r.Samples.Len())
		if samples == 0 {
			return
		}
		cut := rapid.Int32Range(0, samples).Draw(t, "cut")
		var inside, outside []sampledata.Stretch
		for g := range sampledata.GoroutineID(r.Goroutines.Len()) {
			first, second := &inside, &outside
			if rapid.Bool().Draw(t, "inside first") {
				first, second = second, first
			}
			if cut > 0 {
				*first = append(*first, sampledata.Stretch{Goroutine: g, Last: cut - 1})
			}
			if cut < samples {
				*second = append(*second, sampledata.Stretch{Goroutine: g, First: cut, Last: samples - 1})
			}
		}
		o := Options{Accounting: Accounting(rapid.IntRange(0, 2).Draw(t, "accounting"))}
		whole := costs(t, r, o)
		for path, weight := range costs(t, r.Restrict("inside", inside), o) {
			subtract(whole, path, weight)
		}
		for path, weight := range costs(t, r.Restrict("outside", outside), o) {
			subtract(whole, path, weight)
		}
		for path, left := range whole {
			if left.Sign() != 0 {
				t.Errorf("%s: %v of the whole is in neither part", path, left)
			}
		}
	})
}

func subtract(whole map[string]*big.Rat, path string, weight *big.Rat) {
	if whole[path] == nil {
		whole[path] = new(big.Rat)
	}
	whole[path] = new(big.Rat).Sub(whole[path], weight)
}

// costs returns the weight of each call path in the views of all
// classes, and the typed time of each class.
func costs(t *rapid.T, r *sampledata.Recording, o Options) map[string]*big.Rat {
	all := map[string]*big.Rat{}
	classes := fixture.Must(Classes(r, o))(t)
	for _, c := range classes {
		for typed := range NumTypedTimes {
			all[c.Class+" "+typed.String()] = c.Parts[typed]
		}
		all[c.Class] = c.Time
	}
	v := fixture.Must(Threads(r, o))(t)
	m := v.Tree.Main()
	for n := range int32(v.Tree.Len()) {
		all[strings.Join(v.Tree.Frames(n), " ")] = m.Cum(n)
	}
	return all
}
