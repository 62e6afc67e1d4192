package refine

import (
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/callpath"
)

// Threshold returns the threshold for the entries that are shown.
func (s *Session) Threshold() Threshold { return s.threshold }

// SetThreshold sets the threshold. It is no step: Undo does not change it.
func (s *Session) SetThreshold(t Threshold) { s.threshold = t }

// Visible reports whether an entry reaches the threshold. The root always does.
func (s *Session) Visible(e *Entry) bool {
	if len(e.Path.Elements) == 1 {
		return true
	}
	if s.threshold.Hits != nil && new(big.Rat).Abs(e.Hits).Cmp(s.threshold.Hits) < 0 {
		return false
	}
	return s.threshold.Cost == nil ||
		s.Tree().Main().Cost(new(big.Rat).Abs(e.Weight)).Cmp(s.threshold.Cost) >= 0
}

// Hidden returns the number of entries below e that do not reach
// the threshold, without those below its visible children.
func (s *Session) Hidden(e *Entry) int {
	var n int
	for _, c := range e.Children {
		if !s.Visible(c) {
			n += c.Len()
		}
	}
	return n
}

// Collapse hides or shows the entries below the entry of a path.
// It is no step: Undo does not change it.
func (s *Session) Collapse(p callpath.Path, collapsed bool) {
	key := s.rooted(p).String()
	if collapsed {
		s.collapsed[key] = true
	} else {
		delete(s.collapsed, key)
	}
}

// Collapsed reports whether Collapse hides the entries below an entry.
func (s *Session) Collapsed(e *Entry) bool { return len(s.collapsed) > 0 && s.collapsed[e.Key()] }

// Walk calls each for every entry that is shown, from the top
// down, the root at depth 0: entries that reach the threshold,
// are not below a collapsed one, and pass the filter.
func (s *Session) Walk(each func(e *Entry, depth int)) { s.walk(s.Root(), 0, s.Shown, each) }

// WalkBy is Walk with the entries below one in another order.
func (s *Session) WalkBy(order func(a, b *Entry) int, each func(e *Entry, depth int)) {
	s.walk(s.Root(), 0, func(e *Entry) []*Entry {
		return slices.SortedStableFunc(slices.Values(s.Shown(e)), order)
	}, each)
}

func (s *Session) walk(e *Entry, depth int, below func(*Entry) []*Entry, each func(*Entry, int)) {
	each(e, depth)
	for _, c := range below(e) {
		s.walk(c, depth+1, below, each)
	}
}

// DefaultAutoSteps is enough for a first overview of a few screens.
const DefaultAutoSteps = 32

// Auto refines the heaviest entry that is shown and not yet
// refined, at or below the entry of a path, down to its first
// branch (KindFollow). It repeats this until no entry above the
// threshold is left, or for maxSteps steps. It returns the
// number of steps. Each step can be undone.
func (s *Session) Auto(at callpath.Path, maxSteps int) int {
	var tried []callpath.Path
	var steps int
	for steps < maxSteps {
		e := s.heaviestLeaf(at, tried)
		if e == nil {
			break
		}
		tried = append(tried, e.Path)
		if s.Apply(Step{KindFollow, e.Key()}) == nil {
			steps++
		}
	}
	return steps
}

// Open refines the root by its calls in place. Then it refines
// each entry in the same way, down to a number of levels.
func (s *Session) Open(levels int) {
	for range levels {
		var leaves []callpath.Path
		s.Walk(func(e *Entry, depth int) {
			last, _ := e.Path.Last()
			if depth < levels && len(e.Children) == 0 && !last.Aspect() {
				leaves = append(leaves, e.Path)
			}
		})
		for _, p := range leaves {
			_ = s.Apply(Step{KindCalls, p.String()}) // nothing may be below
		}
	}
}

// heaviestLeaf returns the heaviest entry at or below a path
// that is shown, has no children, and was not tried. Of equal
// entries, it returns the first.
func (s *Session) heaviestLeaf(at callpath.Path, tried []callpath.Path) *Entry {
	above := s.Find(at)
	if above == nil {
		return nil
	}
	var best *Entry
	s.walk(above, 0, s.Shown, func(e *Entry, _ int) {
		last, _ := e.Path.Last()
		if len(e.Children) == 0 && !last.Aspect() &&
			(best == nil || e.Weight.Cmp(best.Weight) > 0) &&
			!slices.ContainsFunc(tried, e.Path.Equal) {
			best = e
		}
	})
	return best
}
