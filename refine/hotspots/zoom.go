package hotspots

import (
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
)

// DefaultCutoff returns the paper's ratio for zooming, 0.95.
func DefaultCutoff() *big.Rat { return big.NewRat(95, 100) }

// Zoom returns the nearby extensions of s by the paper's
// routine Zoom (section 2.3). It finds the fewest extensions,
// those with the highest cum first, whose total cum is at least
// cutoff times the cum of s. If there is only one, it goes on
// with the extensions of that one, and so on. If no extensions
// are enough, the result is the summary that zooming reached, or
// empty if it is still s. extensions is Summary.Tops or
// Summary.Bottoms.
func Zoom(s *Summary, cutoff *big.Rat, extensions func(*Summary) []*Summary) []*Summary {
	reached, near := zoomTo(s, cutoff, extensions)
	if len(near) == 0 && reached != s {
		return []*Summary{reached}
	}
	return near
}

// zoomTo returns the summary that zooming reached. It also
// returns the extensions that together reach the cutoff, if any.
func zoomTo(s *Summary, cutoff *big.Rat,
	extensions func(*Summary) []*Summary) (reached *Summary, near []*Summary) {
	goal := new(big.Rat).Abs(s.Cum())
	goal.Mul(goal, cutoff)
	for {
		near = concentrated(s.of, extensions(s), goal)
		if len(near) != 1 {
			return s, near
		}
		s = near[0]
	}
}

// concentrated returns the fewest of the summaries, highest cum first, that
// together reach the goal.
func concentrated(p *Trees, list []*Summary, goal *big.Rat) []*Summary {
	// as at each step up a long chain of calls: its cum is
	// known, the total would be computed anew
	if len(list) == 1 {
		if cum := list[0].Cum(); cum.Abs(cum).Cmp(goal) >= 0 {
			return list
		}
		return nil
	}
	SortByCum(list)
	for i, total := range p.TotalCums(list...) {
		if total.Abs(total).Cmp(goal) >= 0 {
			return list[:i+1]
		}
	}
	return nil
}

// ZoomTrim trims s as long as the cum stays the same, within the
// ratio cutoff up or down, and one step more: the result is the
// first trimming whose cum differs. trim is Summary.TrimTop or
// Summary.TrimBottom. It returns false for a sequence of one.
// (The paper only says that trimmings are zoomed like
// extensions.)
func ZoomTrim(s *Summary, cutoff *big.Rat, trim func(*Summary) (*Summary, bool)) (*Summary, bool) {
	own := new(big.Rat).Abs(s.Cum())
	least := new(big.Rat).Mul(own, cutoff)
	reached, ok := trim(s)
	if !ok {
		return nil, false
	}
	for {
		cum := new(big.Rat).Abs(reached.Cum())
		next, more := trim(reached)
		if !more || cum.Cmp(least) < 0 || cum.Mul(cum, cutoff).Cmp(own) > 0 {
			return reached, true
		}
		reached = next
	}
}

// SortByCum sorts by the absolute value of the cum, highest
// first, then by path.
func SortByCum(list []*Summary) {
	sortBy(list, func(s *Summary) *big.Rat { c := s.Cum(); return c.Abs(c) })
}

func sortBy(list []*Summary, cost func(*Summary) *big.Rat) {
	type ranked struct {
		s    *Summary
		cost *big.Rat
	}
	by := lists.Each(list, func(s *Summary) ranked { return ranked{s, cost(s)} })
	slices.SortStableFunc(by, func(a, b ranked) int {
		if c := b.cost.Cmp(a.cost); c != 0 {
			return c
		}
		return slices.CompareFunc(a.s.Path(), b.s.Path(), strings.Compare)
	})
	for i, r := range by {
		list[i] = r.s
	}
}
