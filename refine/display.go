package refine

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Display says how entries are shown. It is no step: Undo does
// not change it.
type Display struct {
	Own      bool `json:"own,omitempty"`       // with their own time
	ByOwn    bool `json:"by_own,omitempty"`    // the one with most own time first
	OfParent bool `json:"of_parent,omitempty"` // with costs as shares of the entry above
	// only those whose label has this text, in any case, and
	// those above them
	Filter string `json:"filter,omitempty"`
}

// owns are the own times of entries of one tree, by key.
type owns struct {
	of    *calltree.Tree
	byKey map[string]*big.Rat
}

// Display returns how entries are shown.
func (s *Session) Display() Display { return s.display }

// SetDisplay sets how entries are shown. If they are shown by
// their own times, call Arrange.
func (s *Session) SetDisplay(d Display) { s.display = d }

// Arrange computes the own times that the display needs. It can
// take long; Own and Walk do without what is missing.
func (s *Session) Arrange() {
	missing := s.missing()
	if len(missing) == 0 {
		return
	}
	byKey := make(map[string]*big.Rat)
	if s.owns.of == s.Tree() {
		maps.Copy(byKey, s.owns.byKey)
	}
	for i, own := range callpath.Owns(s.Tree(), s.members, missing) {
		byKey[missing[i].String()] = own
	}
	s.owns = owns{s.Tree(), byKey}
}

// Arranged reports whether the own times that the display needs are known.
func (s *Session) Arranged() bool { return len(s.missing()) == 0 }

// missing returns the paths of visible entries for which the
// display needs own times.
func (s *Session) missing() (paths []callpath.Path) {
	if !s.display.Own && !s.display.ByOwn {
		return nil
	}
	s.Walk(func(e *Entry, _ int) {
		if _, there := s.Own(e); !there {
			paths = append(paths, e.Path)
		}
	})
	return paths
}

// Own returns the own time of an entry (see callpath.Own): the
// weight of the stacks that end in its last element. It also
// reports whether the weight is known.
func (s *Session) Own(e *Entry) (own *big.Rat, known bool) {
	if s.owns.of != s.Tree() {
		return nil, false
	}
	own, known = s.owns.byKey[e.Key()]
	return own, known
}

// Share returns an entry's cost as it is shown: as a fraction of
// the view, or of the entry above.
func (s *Session) Share(e *Entry) *big.Rat {
	n := len(e.Path.Elements)
	if !s.display.OfParent || n < 2 {
		return s.Cost(e)
	}
	above := s.Root().find(e.Path.Prefix(n - 1))
	if above == nil || above.Weight.Sign() == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(e.Weight, above.Weight)
}

// Shown returns the entries right below one that are shown, in
// the order in which they are shown.
func (s *Session) Shown(e *Entry) []*Entry {
	if s.Collapsed(e) {
		return nil
	}
	shown := slices.DeleteFunc(slices.Clone(e.Children),
		func(c *Entry) bool { return !s.Visible(c) || !s.filtered(c) })
	if s.display.ByOwn {
		own := func(e *Entry) *big.Rat {
			if own, known := s.Own(e); known {
				return own
			}
			return new(big.Rat)
		}
		slices.SortStableFunc(shown, func(a, b *Entry) int { return own(b).Cmp(own(a)) })
	}
	return shown
}

// filtered reports whether the filter lets an entry through, or
// one below it.
func (s *Session) filtered(e *Entry) bool {
	if s.display.Filter == "" ||
		strings.Contains(strings.ToLower(e.Label()), strings.ToLower(s.display.Filter)) {
		return true
	}
	return slices.ContainsFunc(e.Children,
		func(c *Entry) bool { return s.Visible(c) && s.filtered(c) })
}
