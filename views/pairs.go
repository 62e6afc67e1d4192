package views

import (
	"math/big"
	"slices"
)

// A ClassPair is a thread class in two recordings. New or Old is
// nil if that recording has no goroutine of the class. If
// nothing is compared, only New is there.
type ClassPair struct {
	Class    string
	New, Old *ClassSummary
}

// PairClasses matches the thread classes of two recordings by
// name. The classes of a come first, in their order, and then
// those that only b has.
func PairClasses(a, b []ClassSummary) []ClassPair {
	var pairs []ClassPair
	inB := make(map[string]*ClassSummary, len(b))
	for i := range b {
		inB[b[i].Class] = &b[i]
	}
	for i := range a {
		pairs = append(pairs, ClassPair{a[i].Class, &a[i], inB[a[i].Class]})
		delete(inB, a[i].Class)
	}
	for i := range b {
		if inB[b[i].Class] != nil {
			pairs = append(pairs, ClassPair{b[i].Class, nil, &b[i]})
		}
	}
	return pairs
}

// ComparedClasses sums up the classes of two recordings, with the same
// options; see Compare.
func ComparedClasses(a, b Named, o Options) ([]ClassPair, error) {
	ofA, ofB, err := OfBoth(a, b, o, Classes)
	if err != nil {
		return nil, err
	}
	return PairClasses(ofA, ofB), nil
}

// NewSide returns the class in the new recording.
func (p *ClassPair) NewSide() *ClassSummary { return p.New }

// OldSide returns the class in the old recording.
func (p *ClassPair) OldSide() *ClassSummary { return p.Old }

// Common reports whether both recordings have the class.
func (p *ClassPair) Common() bool { return p.New != nil && p.Old != nil }

// OnlyIdle reports whether the class did hardly anything in either recording,
// as ClassSummary.OnlyIdle does.
func (p *ClassPair) OnlyIdle() bool {
	return !slices.ContainsFunc([]*ClassSummary{p.New, p.Old},
		func(c *ClassSummary) bool { return c != nil && !c.OnlyIdle() })
}

// Moved returns the share of its time that the class spends
// otherwise than before. It is nil if the class is in only one
// recording. For example, a class that went from 0.9 RUN and 0.1
// WAIT to 0.6 RUN and 0.4 WAIT moved 0.3.
func (p *ClassPair) Moved() *big.Rat {
	if !p.Common() {
		return nil
	}
	sum, before := new(big.Rat), p.Old.Shares()
	for t, share := range p.New.Shares() {
		d := share.Sub(share, before[t])
		sum.Add(sum, d.Abs(d))
	}
	return sum.Mul(sum, big.NewRat(1, 2)) // what one kind of time gained, another one lost
}

// MostChanged returns the class whose typed time differs most
// between two recordings, the first of equals in a's order; ok
// reports whether a class is in both.
func MostChanged(pairs []ClassPair) (class string, ok bool) {
	most := new(big.Rat)
	for _, p := range pairs {
		if moved := p.Moved(); moved != nil && (!ok || moved.Cmp(most) > 0) {
			class, most, ok = p.Class, moved, true
		}
	}
	return class, ok
}
